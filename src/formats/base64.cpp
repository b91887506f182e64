// SPDX-License-Identifier: Apache-2.0
#include "compatpack/formats/base64.hpp"

#include <algorithm>
#include <string>

namespace compatpack::formats {
namespace {

constexpr std::size_t kTextBlock = std::size_t{64} << 10U;

constexpr std::uint8_t kForeign = 0xff;

constexpr std::array<std::uint8_t, 256> make_sextets() {
  std::array<std::uint8_t, 256> table{};
  table.fill(kForeign);
  constexpr std::string_view kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (std::size_t i = 0; i < kAlphabet.size(); ++i) {
    table[static_cast<unsigned char>(kAlphabet[i])] = static_cast<std::uint8_t>(i);
  }
  return table;
}

/// What six bits each character stands for.
constexpr std::array<std::uint8_t, 256> kSextets = make_sextets();

std::uint8_t sextet(std::byte character) {
  return kSextets[std::to_integer<std::size_t>(character)];
}

bool is_line_end(std::byte character) {
  return character == std::byte{'\n'} || character == std::byte{'\r'};
}

}  // namespace

bool looks_like_base64(std::span<const std::byte> head) {
  bool any = false;
  for (const std::byte character : head) {
    const bool in_alphabet = sextet(character) != kForeign;
    if (!in_alphabet && !is_line_end(character) && character != std::byte{'='}) {
      return false;
    }
    any = any || in_alphabet;
  }
  return any;
}

Base64Source::Base64Source(io::Source& text) : text_(text), block_(kTextBlock) {}

Result<std::size_t> Base64Source::read(std::span<std::byte> into) {
  if (failure_) {
    return *failure_;
  }
  auto got = decode(into);
  if (!got) {
    failure_ = got.error();
  }
  return got;
}

Result<std::size_t> Base64Source::decode(std::span<std::byte> into) {
  std::size_t filled = 0;
  while (filled < into.size()) {
    if (ready_begin_ < ready_end_) {
      into[filled++] = ready_[ready_begin_++];
      continue;
    }
    if (rest_.empty()) {
      // What is there goes out first, so that a failure ahead does not swallow it.
      if (filled > 0 || ended_) {
        break;
      }
      CP_TRY(const std::size_t got, text_.read(block_));
      rest_ = std::span<const std::byte>(block_).first(got);
      if (got > 0) {
        continue;
      }
      if (characters_ != 0) {
        return Error{.code = Errc::corrupt,
                     .what = "base64 text ends early",
                     .at = at_,
                     .stream = "the base64 text",
                     .expected = "groups of four characters",
                     .found = "end of file"};
      }
      ended_ = true;
      break;
    }
    if (auto taken = take(rest_.front()); !taken) {
      if (filled == 0) {
        return std::move(taken).error();
      }
      break;  // the next call meets the same character again
    }
    rest_ = rest_.subspan(1);
    ++at_.value;
  }
  return filled;
}

/// Adds one character to the group under way, and at its end makes its bytes ready.
Result<Done> Base64Source::take(std::byte character) {
  if (is_line_end(character)) {
    return Done{};
  }
  const bool is_padding = character == std::byte{'='};
  const std::uint8_t bits = sextet(character);
  const bool in_place = is_padding ? characters_ >= 2 : bits != kForeign && padding_ == 0;
  if (!in_place) {
    return Error{.code = Errc::corrupt,
                 .what = "base64 text is damaged",
                 .at = at_,
                 .stream = "the base64 text",
                 .expected = padding_ > 0 ? "\"=\"" : "a letter, a digit, \"+\" or \"/\"",
                 .found = std::string(1, std::to_integer<char>(character))};
  }
  group_ = group_ << 6U | (is_padding ? 0U : bits);
  padding_ += is_padding ? 1 : 0;
  if (++characters_ == 4) {
    ready_ = {static_cast<std::byte>(group_ >> 16U), static_cast<std::byte>(group_ >> 8U),
              static_cast<std::byte>(group_)};
    ready_begin_ = 0;
    ready_end_ = ready_.size() - padding_;
    group_ = 0;
    characters_ = 0;
    padding_ = 0;
  }
  return Done{};
}

}  // namespace compatpack::formats
