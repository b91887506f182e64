// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the CUDA driver API answers when it does not work, and what to do then.

#include <string_view>

namespace compatpack::knowledge {

struct CudaErrorRow {
  int code;
  std::string_view name;     ///< "CUDA_ERROR_NO_DEVICE"
  std::string_view meaning;  ///< one clause
  std::string_view next;     ///< what the user can do; may be ""
};

/// The row of a code; of one that is not known a row that says so, with that code.
[[nodiscard]] CudaErrorRow cuda_error(int code);

}  // namespace compatpack::knowledge
