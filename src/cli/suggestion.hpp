// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a mistyped word was most likely meant to be.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace compatpack::cli {

/// The one of `names` that is nearest to `word`, if at most a third of its letters are other than
/// typed; two letters that changed places count as two.
std::optional<std::string> nearest_name(std::string_view word,
                                        const std::vector<std::string>& names);

}  // namespace compatpack::cli
