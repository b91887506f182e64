// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "compatpack/base/bytes.hpp"
#include "compatpack/base/result.hpp"

namespace compatpack::io {

/// The content of the regular file at `path`; nullopt where nothing stands there.
///
/// Errors, with `subject` set: io; limit where it is larger than `max`; not_recognized where it is
/// not a regular file.
Result<std::optional<std::string>> read_text_file(const std::string& path, ByteCount max);

/// absolute_target(), but that the parent need not exist either, and where a link stands at `path`,
/// the place that it leads to: a tree is put there, and not in place of the link. Error conflict
/// for a link that leads nowhere.
Result<std::string> absolute_tree(const std::string& path);

/// `path` made absolute, with links and dots resolved in all but its last component, which need not
/// exist. Error io where its parent does not exist.
Result<std::string> absolute_target(const std::string& path);

/// The same for a folder that exists, which may be "." or "..".
Result<std::string> absolute_folder(const std::string& path);

}  // namespace compatpack::io
