// SPDX-License-Identifier: Apache-2.0
#pragma once

// A flat folder that is there already: looked at, and mended link by link.

#include <optional>
#include <string>
#include <vector>

#include "compatpack/base/bytes.hpp"
#include "compatpack/base/result.hpp"
#include "compatpack/io/fd.hpp"
#include "compatpack/io/output_dir.hpp"

namespace compatpack::io {

/// What stands at a name in a folder.
struct TreeEntry {
  enum class Kind { nothing, file, link, folder, other };
  Kind kind = Kind::nothing;
  ByteCount size = {};           ///< of a file
  unsigned mode_bits = 0;        ///< permission bits of a file
  std::string link_target = {};  ///< of a link

  /// For messages: "nothing", "a file of 12 bytes", "a link to x".
  [[nodiscard]] std::string shown() const;
};

class TreeFolder {
 public:
  /// Opens what stands at `path`, following a link at its end; nullopt where nothing does. Error
  /// io.
  static Result<std::optional<TreeFolder>> open(const std::string& path);

  /// Whether it is a folder. Requires of all functions below: it is.
  [[nodiscard]] bool is_folder() const { return is_folder_; }

  /// The names in it, sorted. Error io.
  [[nodiscard]] Result<std::vector<std::string>> names() const;

  /// What stands at `name`, a plain file name; links are not followed. Error io.
  [[nodiscard]] Result<TreeEntry> look(const std::string& name) const;

  /// SHA-256 of the file `name`, in hexadecimal. Error io.
  [[nodiscard]] Result<std::string> sha256(const std::string& name) const;

  /// Puts a link to `target` at `name` in one step, in place of a file or link that is there.
  [[nodiscard]] Result<Done> put_link(const std::string& name, const std::string& target) const;

  [[nodiscard]] Result<Done> set_mode(const std::string& name, FileMode mode) const;

 private:
  TreeFolder(Fd fd, std::string path, bool is_folder)
      : fd_(std::move(fd)), path_(std::move(path)), is_folder_(is_folder) {}
  [[nodiscard]] std::string shown(const std::string& name) const { return path_ + "/" + name; }

  Fd fd_;
  std::string path_;
  bool is_folder_;
};

}  // namespace compatpack::io
