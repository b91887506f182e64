// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a newer libcuda says of itself in its ELF note .note.cuda.fwd_compatibility: the CUDA
// version that it gives, and which kernel-driver branches and device brands it accepts. JSON, seen
// from the packages of branch 575 on:
//
//   {"format": 1, "CUDA version": "12.9", "driver": [535, 550, ...], "device": [1, 2, ...]}

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "compatpack/base/version.hpp"

namespace compatpack::formats {

struct FwdCompatNote {
  std::optional<CudaVersion> cuda;                     ///< nullopt if it does not say
  std::optional<std::vector<std::uint32_t>> branches;  ///< nullopt if it does not say (Jetson Orin)
};

/// Parses the note's text; nullopt where it is not what is described above: real files have been
/// seen with JSON that is broken, and then nothing is known.
[[nodiscard]] std::optional<FwdCompatNote> parse_fwd_compat_note(std::string_view json);

}  // namespace compatpack::formats
