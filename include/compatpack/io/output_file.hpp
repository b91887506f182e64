// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "compatpack/base/bytes.hpp"
#include "compatpack/base/result.hpp"
#include "compatpack/io/fd.hpp"

namespace compatpack::io {

/// A file's bytes, mapped into memory for reading. Move-only.
class MappedBytes {
 public:
  MappedBytes(const void* data, std::size_t size) : data_(data), size_(size) {}
  MappedBytes(const MappedBytes&) = delete;
  MappedBytes& operator=(const MappedBytes&) = delete;
  MappedBytes(MappedBytes&& other) noexcept;
  MappedBytes& operator=(MappedBytes&&) = delete;
  ~MappedBytes();

  /// Valid as long as this object. Requires: nobody shortens the file meanwhile.
  [[nodiscard]] std::span<const std::byte> bytes() const {
    return {static_cast<const std::byte*>(data_), size_};
  }

 private:
  const void* data_;
  std::size_t size_;
};

/// Maps the whole of the open file `fd`; `name` is for messages.
Result<MappedBytes> map_file(const Fd& fd, const std::string& name);

/// A file being written, from its start on.
class OutputFile {
 public:
  /// `fd` is open for reading and writing and empty; `name` is for messages.
  OutputFile(Fd fd, std::string name) : fd_(std::move(fd)), name_(std::move(name)) {}

  /// A file without a name, in memory: for what must be looked at but not kept.
  static Result<OutputFile> in_memory(const std::string& name);

  /// A file without a name in `folder`, gone when it is closed: for what is too large for memory.
  static Result<OutputFile> temporary(const std::string& folder, const std::string& name);

  /// Appends `bytes`. Error io: ENOSPC, EDQUOT, EIO and their like, in the system's words.
  Result<Done> write(std::span<const std::byte> bytes);

  [[nodiscard]] ByteCount size() const { return size_; }

  /// The bytes written so far.
  [[nodiscard]] Result<MappedBytes> map() const { return map_file(fd_, name_); }

  [[nodiscard]] const Fd& fd() const { return fd_; }
  Fd release() { return std::move(fd_); }

 private:
  Fd fd_;
  std::string name_;
  ByteCount size_;
};

}  // namespace compatpack::io
