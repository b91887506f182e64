// SPDX-License-Identifier: Apache-2.0
#pragma once

// Tries CUDA as a program would: loads libcuda.so.1 by that name, initialises it, and on each GPU
// allocates, copies, and runs a small kernel, whose result is checked on the CPU. Driver code may
// hang or crash, so a process of its own does this, which reports each step before and after it
// takes it to the descriptor io::kReportFd:
//
//   call cuInit            about to be called
//   code 804               what it gave
//   library /t/libcuda.so.1   a fact
//
// The parent reads as much of that as came.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace compatpack::host {

/// The bytes of the program that tries (src/host/trial): an ELF executable that needs nothing but
/// the host's glibc, of any version.
[[nodiscard]] std::string_view cuda_trial_program();

struct TrialDevice {
  std::string name = {};
  int major = 0;  ///< compute capability
  int minor = 0;
  std::uint64_t memory = 0;      ///< bytes
  std::string failed_call = {};  ///< empty if all went well
  int code = 0;                  ///< that it gave; 0 where the kernel's result was wrong
  bool kernel_ran = false;       ///< compiled, run, and its result is right
};

struct TrialReport {
  std::string load_error = {};  ///< the loader's words; empty if libcuda was loaded
  std::string library = {};     ///< the file, as the loader names it
  std::vector<std::string> libcudas =
      {};                ///< each libcuda file in memory at the end, if it came so far
  std::string jit = {};  ///< the JIT compiler in memory, likewise
  std::optional<int> driver_api = {};  ///< 12020 for 12.2
  std::optional<int> init = {};        ///< cuInit's answer
  std::vector<TrialDevice> devices = {};
  std::string missing = {};    ///< a function that the library lacks
  std::string last_call = {};  ///< begun and not come back; empty if none
  bool finished = false;
};

/// Reads a report; anything else in it is passed over.
[[nodiscard]] TrialReport parse_trial_report(std::string_view text);

}  // namespace compatpack::host
