// SPDX-License-Identifier: Apache-2.0
#pragma once

// The files of a machine, below a folder that stands for its "/": "/" itself, a mounted image, or a
// picture that a test has made. Nothing outside is ever read: links are followed as if the folder
// were the root, however they are written.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compatpack/base/result.hpp"
#include "compatpack/io/fd.hpp"
#include "compatpack/io/output_file.hpp"

namespace compatpack::host {

/// A text that was looked for.
struct HostText {
  enum class State {
    absent,
    unreadable,  ///< something is there and gives no text: no permission, a masked file
    read,
  };
  State state = State::absent;
  std::string text = {};  ///< of `read`; may be empty
  std::string why = {};   ///< of `unreadable`: the system's words
};

/// What stands at a path, links followed.
struct HostEntry {
  enum class Kind { file, folder, other };
  Kind kind;
  std::uint64_t size;     ///< of a file, in bytes
  unsigned mode_bits;     ///< with setuid and setgid
  std::string real_path;  ///< below the root, without links: "/usr/lib/libcuda.so.535.54.03"
};

class HostRoot {
 public:
  /// Opens the folder at `path`. Error io.
  static Result<HostRoot> open(const std::string& path);

  /// Whether it is this machine's own root folder.
  [[nodiscard]] bool is_own() const { return path_ == "/"; }
  [[nodiscard]] const std::string& path() const { return path_; }

  /// The text at `path`, which is absolute: at most the first 64 KiB. Files of /proc and /sys,
  /// whose size says nothing, are read to their end. Devices and pipes are not read.
  [[nodiscard]] HostText read(const std::string& path) const;

  /// The same for a file that may be large: at most the first `max` bytes.
  [[nodiscard]] HostText read(const std::string& path, std::size_t max) const;

  /// The names in a folder, sorted; none where it is absent or cannot be read.
  [[nodiscard]] std::vector<std::string> list(const std::string& path) const;

  /// nullopt where nothing is, or nothing that can be looked at.
  [[nodiscard]] std::optional<HostEntry> look(const std::string& path) const;

  /// A regular file's bytes. Error io; not_recognized for what is no regular file.
  [[nodiscard]] Result<io::MappedBytes> map(const std::string& path) const;

 private:
  HostRoot(io::Fd fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}
  [[nodiscard]] io::Fd open_below(const std::string& path, int flags) const;

  io::Fd fd_;
  std::string path_;
};

}  // namespace compatpack::host
