// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "compatpack/base/version.hpp"

namespace compatpack::knowledge {

/// The CUDA version whose driver API a branch's libcuda gives; nullopt for a branch that the table
/// does not have.
[[nodiscard]] std::optional<CudaVersion> cuda_of_branch(std::uint32_t branch);

}  // namespace compatpack::knowledge
