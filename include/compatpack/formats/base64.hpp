// SPDX-License-Identifier: Apache-2.0
#pragma once

// Base64 text (RFC 4648, "+" and "/") as base64(1) writes it: four characters for three bytes, "="
// in place of what is missing at the end, lines of any length.
//
// makeself --base64 stores its payload so: up to 2.6 the text of a plain tar, from 2.7 on that of a
// compressed one. Bytes of a tar or of any compressed stream cannot be mistaken for it.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "compatpack/base/bytes.hpp"
#include "compatpack/base/result.hpp"
#include "compatpack/io/source.hpp"

namespace compatpack::formats {

/// How many first bytes looks_like_base64() wants to see: a tar header, which holds NULs.
inline constexpr std::size_t kBase64SniffSize = 512;

/// Whether `head`, the first min(size, kBase64SniffSize) bytes of something, can be base64 text: it
/// has characters of the alphabet and, but for "=" and line ends, no others.
[[nodiscard]] bool looks_like_base64(std::span<const std::byte> head);

/// The bytes that a base64 text stands for.
///
/// LF and CR may stand anywhere; base64 -d takes only LF. Text may go on behind "=", as it may for
/// base64 -d: one text behind the other.
///
/// Errors of read(), with `at` in the text: corrupt for any other character, for "=" out of place,
/// and for a text that ends within a group of four (see ends_early()). Those of `text` pass
/// through.
class Base64Source final : public io::Source {
 public:
  /// `text` must outlive the source.
  explicit Base64Source(io::Source& text);

  Result<std::size_t> read(std::span<std::byte> into) override;

 private:
  Result<std::size_t> decode(std::span<std::byte> into);
  Result<Done> take(std::byte character);

  io::Source& text_;
  std::vector<std::byte> block_;
  std::span<const std::byte> rest_;  ///< of `block_`
  ByteOffset at_;                    ///< of the first byte of `rest_`
  std::uint32_t group_ = 0;          ///< bits of the group of four under way
  unsigned characters_ = 0;          ///< of that group, "=" counted
  unsigned padding_ = 0;             ///< "=" in that group
  std::array<std::byte, 3> ready_{};
  std::size_t ready_begin_ = 0;
  std::size_t ready_end_ = 0;
  bool ended_ = false;
  std::optional<Error> failure_;
};

}  // namespace compatpack::formats
