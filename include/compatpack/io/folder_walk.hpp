// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compatpack/base/limits.hpp"
#include "compatpack/base/result.hpp"
#include "compatpack/io/fd.hpp"

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

/// Goes through everything below a folder, as an archive is read: one entry after the other, in the
/// order of names within each folder, a folder before what it holds. Links are shown and never
/// followed, but for one at the end of the folder's own path.
class FolderWalk {
 public:
  /// `path` is that of a folder. Error io, with `subject`.
  static Result<std::unique_ptr<FolderWalk>> open(const std::string& path, const Limits& limits);

  /// The next entry, or nullopt when all have been seen.
  ///
  /// Errors, with `subject` set: io; limit for more entries than `limits.members`, or deeper
  /// nesting than any driver has.
  Result<std::optional<FoundEntry>> next();

  /// Reads content of the file that next() gave, as Source::read() does. A file is opened by the
  /// first call, so that one that is not wanted need not be readable.
  Result<std::size_t> read(std::span<std::byte> into);

 private:
  struct Level {
    Fd folder;
    std::string path;                // below the root; "" for the root itself
    std::vector<std::string> names;  // still to come, the next one last
  };

  FolderWalk(std::string root, const Limits& limits) : root_(std::move(root)), limits_(limits) {}
  [[nodiscard]] std::string shown(const std::string& path) const;
  Result<Done> enter(Fd folder, const std::string& path);
  Result<FoundEntry> look(const std::string& name);

  std::string root_;
  Limits limits_;
  std::vector<Level> levels_;
  std::uint64_t entries_ = 0;
  std::string current_;       // name in the innermost level of the file that next() gave; else ""
  std::string current_path_;  // for messages
  Fd content_;                // once read() has opened it
};

/// Whether a folder, or a link to one, stands at `path`.
[[nodiscard]] bool is_folder(const std::string& path);

}  // namespace compatpack::io
