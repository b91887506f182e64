// SPDX-License-Identifier: Apache-2.0
#pragma once

// Bytes, forwards, in blocks. Everything between a bundle on disk and a member's content is a
// Source over another Source: counting, hashing, one range of a file, decompressing.

#include <cstddef>
#include <functional>
#include <span>
#include <string>

#include "compatpack/base/bytes.hpp"
#include "compatpack/base/result.hpp"

namespace compatpack::io {

class Source {
 public:
  Source() = default;
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
  virtual ~Source() = default;

  /// Reads into the front of `into` and returns how many bytes: at least one, or 0 at the end, also
  /// on every later call. May return fewer than asked for. Requires: `into` is not empty.
  ///
  /// After an Error the source is spent: calling again is allowed and gives an Error again.
  virtual Result<std::size_t> read(std::span<std::byte> into) = 0;
};

/// Reads until `into` is full or `source` ends; returns how many bytes were read.
Result<std::size_t> read_full(Source& source, std::span<std::byte> into);

/// All of `source`, which says that it is `size` long, in memory. Errors: limit where that is more
/// than `max`; those of `source`.
Result<std::string> read_text(Source& source, ByteCount size, ByteCount max);

/// Where blocks of bytes go.
using Sink = std::function<Result<Done>(std::span<const std::byte>)>;

/// Reads `source` to its end and gives each block to `sink`; returns how many bytes there were.
Result<ByteCount> pass_on(Source& source, const Sink& sink);

/// As pass_on(), and forgets the bytes.
Result<ByteCount> drain(Source& source);

/// A text or buffer held in memory.
class MemorySource final : public Source {
 public:
  /// `bytes` must outlive the source.
  explicit MemorySource(std::span<const std::byte> bytes) : rest_(bytes) {}
  Result<std::size_t> read(std::span<std::byte> into) override;

 private:
  std::span<const std::byte> rest_;
};

/// The next `size` bytes of another source, which must outlive this one.
///
/// Ends early, as a success, where the inner source does; `missing()` then says by how much.
class LimitedSource final : public Source {
 public:
  LimitedSource(Source& inner, ByteCount size) : inner_(inner), left_(size) {}
  Result<std::size_t> read(std::span<std::byte> into) override;

  /// How many of the bytes asked for were not read.
  [[nodiscard]] ByteCount missing() const { return left_; }

 private:
  Source& inner_;
  ByteCount left_;
};

}  // namespace compatpack::io
