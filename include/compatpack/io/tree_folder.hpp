// SPDX-License-Identifier: Apache-2.0
#pragma once

// A folder that is there already: looked at, read, and mended link by link.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compatpack/base/bytes.hpp"
#include "compatpack/base/result.hpp"
#include "compatpack/io/fd.hpp"
#include "compatpack/io/file_source.hpp"
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

  /// As it was opened, for messages.
  [[nodiscard]] const std::string& path() const { return path_; }

  /// The names in it, sorted. Error io.
  [[nodiscard]] Result<std::vector<std::string>> names() const;

  /// What stands at `name`, a plain file name; links are not followed. Error io.
  [[nodiscard]] Result<TreeEntry> look(const std::string& name) const;

  /// The folder `name`, where no link stands. Error io.
  [[nodiscard]] Result<TreeFolder> folder(const std::string& name) const;

  /// The content of the file `name`, where no link stands. `observer` as for FileSource. Errors:
  /// io; not_recognized for what is no regular file.
  [[nodiscard]] Result<std::unique_ptr<FileSource>> open_file(const std::string& name,
                                                              ReadObserver* observer) const;

  /// SHA-256 of the file `name`, in hexadecimal. `observer` and Errors as of open_file().
  [[nodiscard]] Result<std::string> sha256(const std::string& name,
                                           ReadObserver* observer = nullptr) const;

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
