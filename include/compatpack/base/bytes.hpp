// SPDX-License-Identifier: Apache-2.0
#pragma once

// Counts and places of bytes, as types of their own: a line number or a number of members cannot be
// passed for one by mistake. All are 64 bits wide on every platform.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>

namespace compatpack {

/// How many bytes.
struct ByteCount {
  std::uint64_t value = 0;
  friend auto operator<=>(const ByteCount&, const ByteCount&) = default;
};

/// Where in a file or stream, in bytes from its start.
struct ByteOffset {
  std::uint64_t value = 0;
  friend auto operator<=>(const ByteOffset&, const ByteOffset&) = default;
};

/// The bytes from `begin` up to, not including, `end`.
struct ByteRange {
  ByteOffset begin;
  ByteOffset end;  ///< not before `begin`; whoever makes a range sees to that

  [[nodiscard]] constexpr ByteCount size() const { return {end.value - begin.value}; }
  friend bool operator==(const ByteRange&, const ByteRange&) = default;
};

/// `a + b`, or nullopt where 64 bits do not hold it.
[[nodiscard]] constexpr std::optional<std::uint64_t> checked_add(std::uint64_t a, std::uint64_t b) {
  return a > std::numeric_limits<std::uint64_t>::max() - b ? std::nullopt : std::optional(a + b);
}

/// `a * b`, or nullopt where 64 bits do not hold it.
[[nodiscard]] constexpr std::optional<std::uint64_t> checked_mul(std::uint64_t a, std::uint64_t b) {
  return b != 0 && a > std::numeric_limits<std::uint64_t>::max() / b ? std::nullopt
                                                                     : std::optional(a * b);
}

/// The bytes of `span` as text. A view: `span` must outlive it.
[[nodiscard]] inline std::string_view as_text(std::span<const std::byte> span) {
  return {reinterpret_cast<const char*>(span.data()), span.size()};
}

/// The characters of `text` as bytes. A view: `text` must outlive it.
[[nodiscard]] inline std::span<const std::byte> as_bytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

}  // namespace compatpack
