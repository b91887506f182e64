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

}  // namespace compatpack::io
