// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include <sys/stat.h>

#include "compatpack/io/fd.hpp"
#include "compatpack/io/source.hpp"

namespace compatpack::io {

/// Hears how far a file has been read, and may end the reading.
class ReadObserver {
 public:
  ReadObserver() = default;
  ReadObserver(const ReadObserver&) = delete;
  ReadObserver& operator=(const ReadObserver&) = delete;
  virtual ~ReadObserver() = default;

  /// Called after each block, on the thread that reads. An Error becomes the read's own.
  virtual Result<Done> on_read(ByteCount so_far, ByteCount total) = 0;
};

/// A regular file, read from its start to its end.
class FileSource final : public Source {
 public:
  /// Opens `path`. `observer`, if not null, must outlive the source.
  ///
  /// Errors, with `subject` set: io where it cannot be opened; not_recognized where it is a folder,
  /// a FIFO, a device or a socket, which are never read from.
  static Result<std::unique_ptr<FileSource>> open(const std::string& path, ReadObserver* observer);

  /// Takes an open regular file, such as one without a name, and reads it from its first byte on.
  /// `name` is for messages. Error io.
  static Result<std::unique_ptr<FileSource>> adopt(Fd fd, const std::string& name,
                                                   ReadObserver* observer);

  /// As it was when opened; a file that has become shorter ends early.
  [[nodiscard]] ByteCount size() const { return size_; }

  /// Reads up to the size that the file had when opened.
  Result<std::size_t> read(std::span<std::byte> into) override;

  /// Reads bytes at `at` into the front of `into` and returns how many: fewer only where the file
  /// ends. Does not move the place where read() goes on, and is not observed.
  [[nodiscard]] Result<std::size_t> read_at(ByteOffset at, std::span<std::byte> into) const;

  /// Error io if the file's size or modification time has changed since open().
  [[nodiscard]] Result<Done> check_unchanged() const;

 private:
  FileSource(Fd fd, std::string path, const struct stat& opened, ReadObserver* observer);

  Fd fd_;
  std::string path_;
  struct stat opened_;
  ByteCount size_;
  ByteCount read_so_far_;
  ReadObserver* observer_;
};

}  // namespace compatpack::io
