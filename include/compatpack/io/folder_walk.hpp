// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "compatpack/base/limits.hpp"
#include "compatpack/base/result.hpp"
#include "compatpack/io/source.hpp"

namespace compatpack::io {

/// Something found below a folder.
struct FoundEntry {
  enum class Kind { file, folder, link, special };
  std::string path;  ///< relative to the folder, without "./"
  Kind kind;
  ByteCount size = {};           ///< of a file
  std::uint32_t mode_bits = 0;   ///< permission bits
  std::string link_target = {};  ///< of a link
};

/// Shows everything below the folder at `path` to `visit`, sorted by path component within each
/// folder, a folder before what it holds. `content` is that of a file, empty for others, and valid
/// during the call. Links are shown and never followed, but for one at the end of `path` itself.
///
/// Errors, with `subject` set: io; limit for more entries than `limits.members`, or deeper nesting
/// than any driver has. An Error of `visit` ends the walk.
Result<Done> walk_folder(const std::string& path, const Limits& limits,
                         const std::function<Result<Done>(const FoundEntry&, Source&)>& visit);

}  // namespace compatpack::io
