// SPDX-License-Identifier: Apache-2.0
#include "compatpack/base/text.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "compatpack/base/bytes.hpp"

namespace compatpack {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string hex_escape(std::string_view text) {
  std::string out;
  for (const std::byte& byte : as_bytes(text)) {
    out += "\\x" + to_hex({&byte, 1});
  }
  return out;
}

struct CodePoint {
  std::uint32_t value;
  std::size_t length;  // in bytes; 0: not well-formed UTF-8
};

/// The code point at the front of `text`, by the table of well-formed sequences in the Unicode
/// standard (no overlong forms, no surrogates, nothing over U+10FFFF).
CodePoint first_code_point(std::string_view text) {
  const auto at = [text](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const std::uint32_t lead = at(0);
  if (lead < 0x80) {
    return {lead, 1};
  }
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  std::uint32_t value = lead & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((at(i) & 0xC0U) != 0x80U) {
      return {0, 0};
    }
    value = value << 6U | (at(i) & 0x3FU);
  }
  constexpr std::array<std::uint32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (lead < 0xC2 || lead > 0xF4 || value < kLeast.at(length) || value > 0x10FFFF || surrogate) {
    return {0, 0};
  }
  return {value, length};
}

/// Controls, and what a terminal shows as nothing or as a change of direction.
bool is_hidden(std::uint32_t code) {
  return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0xAD || code == 0x61C ||
         (code >= 0x200B && code <= 0x200F) || (code >= 0x2028 && code <= 0x202E) ||
         (code >= 0x2060 && code <= 0x206F) || code == 0xFEFF ||
         (code >= 0xE0000 && code <= 0xE0FFF);
}

}  // namespace

std::string_view take_line(std::string_view& rest) {
  const std::size_t end = std::min(rest.find('\n'), rest.size());
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return line;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  if (text.empty()) {
    return parts;
  }
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) {
      return parts;
    }
    text.remove_prefix(end + 1);
  }
}

std::vector<std::string_view> split_words(std::string_view text) {
  std::vector<std::string_view> words = split(text, ' ');
  std::erase(words, std::string_view());
  return words;
}

std::string wrapped(std::string prefix, std::string_view text, std::size_t width,
                    std::size_t indent) {
  std::string out = std::move(prefix);
  std::size_t column = out.size();
  bool is_first = true;
  for (const std::string_view word : split(text, ' ')) {
    if (!is_first && column + 1 + word.size() > width) {
      out += '\n' + std::string(indent, ' ');
      column = indent;
    } else if (!is_first) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
    is_first = false;
  }
  return out;
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) {
    return {};
  }
  return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

std::optional<std::uint64_t> parse_decimal(std::string_view text) {
  if (text.empty()) {
    return std::nullopt;
  }
  std::uint64_t value = 0;
  for (const char c : text) {
    if (!is_digit(c)) {
      return std::nullopt;
    }
    const auto tens = checked_mul(value, 10);
    const auto sum = tens ? checked_add(*tens, static_cast<std::uint64_t>(c - '0')) : std::nullopt;
    if (!sum) {
      return std::nullopt;
    }
    value = *sum;
  }
  return value;
}

std::optional<std::string> parse_hex(std::string_view text, std::size_t digits) {
  if (text.size() != digits) {
    return std::nullopt;
  }
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'F') {
      c = static_cast<char>(c - 'A' + 'a');
    }
    if (!is_digit(c) && (c < 'a' || c > 'f')) {
      return std::nullopt;
    }
  }
  return lower;
}

std::string to_hex(std::span<const std::byte> bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  out.reserve(2 * bytes.size());
  for (const std::byte byte : bytes) {
    out += kDigits[std::to_integer<unsigned>(byte) >> 4U];
    out += kDigits[std::to_integer<unsigned>(byte) & 15U];
  }
  return out;
}

std::string joined(std::span<const std::string> words, std::string_view separator) {
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    out.append(i == 0 ? "" : separator).append(words[i]);
  }
  return out;
}

std::string_view last_component(std::string_view path) { return path.substr(path.rfind('/') + 1); }

bool is_at_or_below(std::string_view path, std::string_view folder) {
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

std::string printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const CodePoint point = first_code_point(text);
    const std::string_view bytes = text.substr(0, std::max<std::size_t>(point.length, 1));
    out += point.length == 0 || is_hidden(point.value) ? hex_escape(bytes) : std::string(bytes);
    text.remove_prefix(bytes.size());
  }
  return out;
}

std::string shell_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

std::string fish_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') {
      out += '\\';
    }
    out += c;
  }
  return out + "'";
}

}  // namespace compatpack
