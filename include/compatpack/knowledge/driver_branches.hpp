// SPDX-License-Identifier: Apache-2.0
#pragma once

// What is known of each branch of NVIDIA's drivers, and where minor-version compatibility begins.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "compatpack/base/version.hpp"

namespace compatpack::knowledge {

enum class BranchType {
  unknown,
  long_term,    ///< Long Term Support Branch: three years
  production,   ///< Production Branch: one year
  new_feature,  ///< New Feature Branch: until the next; no target of forward compatibility by
                ///< policy
};

struct BranchRow {
  std::uint32_t branch;
  CudaVersion cuda;  ///< whose driver API its libcuda gives
  BranchType type;
  std::string_view end_of_life;  ///< "2026-06", a month; "" if there is none or none was seen
};

/// The version of a data-center or desktop driver in front of `text`, as DriverVersion::parse()
/// reads it. nullopt for what can be none: below branch 100 are versions of other things, such as
/// 4.0.0 of libnvidia-nvvm until 510, and the build numbers of Jetson's packages.
[[nodiscard]] std::optional<DriverVersion> parse_driver(std::string_view text);

/// The row of a branch; null for one that the table does not have.
[[nodiscard]] const BranchRow* find_branch(std::uint32_t branch);

/// All branches, oldest first.
[[nodiscard]] std::span<const BranchRow> branches();

/// "Long Term Support Branch"; "" for unknown.
[[nodiscard]] std::string_view name_of(BranchType type);

/// The CUDA version whose driver API a branch's libcuda gives; nullopt for a branch that the table
/// does not have.
[[nodiscard]] std::optional<CudaVersion> cuda_of_branch(std::uint32_t branch);

/// The oldest driver on which programs of any CUDA version of this major number run, without a
/// package ("minor-version compatibility"); nullopt where there is no such thing: before CUDA 11.
[[nodiscard]] std::optional<std::string_view> minor_version_floor(std::uint32_t cuda_major);

}  // namespace compatpack::knowledge
