// SPDX-License-Identifier: Apache-2.0
#pragma once

// Paths as users type them, made absolute: what is written down must not depend on where we stand.

#include <optional>
#include <string>

#include "compatpack/base/result.hpp"

namespace compatpack::io {

/// Where something is to be made: links and dots are resolved as far as there is something, and
/// where a link stands at `path`, the result is what it leads to: a tree is put there, and not in
/// place of the link.
///
/// Errors, with `subject`: those of split_target(); io; conflict for a link that leads nowhere.
Result<std::string> absolute_tree(const std::string& path);

/// A folder that exists, or would: links and dots are resolved in all but its last component,
/// unless that is "." or "..". Error io, with `subject`, where the folder above it does not exist.
Result<std::string> absolute_folder(const std::string& path);

/// `path` without links and dots; nullopt, with errno set, where nothing is there.
[[nodiscard]] std::optional<std::string> resolved(const std::string& path);

}  // namespace compatpack::io
