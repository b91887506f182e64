// SPDX-License-Identifier: Apache-2.0
#pragma once

// Will it work? Pure: what is known of a host and of a package goes in, a verdict with its reasons
// comes out. It guesses nothing: where a fact is missing, the verdict is "unknown" and says which.
//
// What decides, in this order:
//   platform        WSL2 and Jetson have other rules
//   architecture, glibc
//   versions        a package that is not newer than the kernel driver is of no use, or does harm
//                   (803)
//   the library     its own note of the host branches that it accepts, else the dated table
//   the GPUs        GeForce is refused (804); a branch may have dropped an architecture, or the
//                   kernel driver may be older than the GPU
//
// NVIDIA's policy (what it supports) is reported beside the mechanism (what the library accepts).

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compatpack/base/version.hpp"
#include "compatpack/formats/fwd_compat_note.hpp"
#include "compatpack/host/driver.hpp"
#include "compatpack/host/gpu.hpp"
#include "compatpack/host/loader.hpp"
#include "compatpack/host/platform.hpp"
#include "compatpack/knowledge/compat_table.hpp"

namespace compatpack::host {

enum class Verdict {
  expected,    ///< the library accepts the host, and its GPUs are of the class that it is for
  possible,    ///< NVIDIA does not support it, but the library may accept it
  not_needed,  ///< the host has all that the package gives
  harmful,     ///< the host is newer: the package would break CUDA
  no,
  unknown,
};

/// "expected to work", "unsupported, but the library may accept it", ... for people.
[[nodiscard]] std::string_view words_of(Verdict verdict);

/// "expected", "possible", "not needed", "harmful", "no", "unknown", for --json.
[[nodiscard]] std::string_view name_of(Verdict verdict);

/// 0 for `expected` alone; 5 where it is sure that a tree is of no use; 6 otherwise.
[[nodiscard]] int exit_status(Verdict verdict);

/// What is known of a tree, or of the one that a bundle would make.
struct Package {
  std::optional<DriverVersion> driver;  ///< of its libcuda
  std::optional<CudaVersion> cuda;
  bool has_note = false;  ///< its libcuda has a note of the hosts that it accepts
  std::optional<formats::FwdCompatNote> note = {};  ///< nullopt also where the note is damaged
  std::string arch = {};
  std::string glibc_needed = {};
  std::vector<std::string> libraries = {};  ///< stems: "libcuda"; empty if not known
};

struct HostFacts {
  KernelDriver driver = {};
  std::vector<Gpu> gpus = {};
  Platform platform = {};
  std::vector<Hazard> hazards = {};
  std::optional<std::string> visible_devices = {};  ///< CUDA_VISIBLE_DEVICES; nullopt: not set
  bool is_pci_order = false;                        ///< CUDA_DEVICE_ORDER=PCI_BUS_ID
};

struct JudgedGpu {
  Gpu gpu;
  std::string gpu_class;     ///< "data center"
  std::string architecture;  ///< "Ampere"; empty if not known
  bool is_visible;           ///< by CUDA_VISIBLE_DEVICES, as far as that can be told
  Verdict verdict;
  std::string reason;
  std::optional<int> foretold = {};  ///< the CUDA error that it is expected to lead to
};

struct Line {
  std::string label;
  std::string text;
};

struct Judgement {
  Verdict verdict = Verdict::unknown;
  std::string reason = {};           ///< one clause
  std::optional<int> foretold = {};  ///< the CUDA error that cuInit is expected to give
  std::vector<Line> lines = {};      ///< what was found, in the order in which to read it
  std::vector<JudgedGpu> gpus = {};
  std::vector<std::string> warnings = {};
  std::vector<std::string> next = {};  ///< what to do, most useful first
  /// Without a package: CUDA versions of packages newer than the host's, by what is to be expected.
  std::vector<CudaVersion> packages_accepted = {};
  std::vector<CudaVersion> packages_possible = {};
};

/// Judges `package` on `host`; null: any package. `today` is a month, "2026-09", or "".
[[nodiscard]] Judgement judge(const HostFacts& host, const Package* package,
                              const knowledge::CompatTable& table, const std::string& today);

struct PairJudgement {
  Verdict verdict;
  std::string reason;  ///< one clause
};

/// What the tables say of a package of `cuda` on hosts of `branch`, whatever their GPUs are. A
/// package of the host's own branch counts as not needed.
[[nodiscard]] PairJudgement judge_pair(const knowledge::CompatTable& table, CudaVersion cuda,
                                       std::uint32_t branch);

}  // namespace compatpack::host
