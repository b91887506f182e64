// SPDX-License-Identifier: Apache-2.0
#pragma once

// Small, total functions on text from files. Text is bytes: no locale, no promise of UTF-8.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace compatpack {

/// Takes the first line off `rest` and returns it without its '\n'. The last line need not have
/// one. Requires: `rest` is not empty.
std::string_view take_line(std::string_view& rest);

/// The parts of `text` between `separator`s, empty ones too; of empty text, none.
[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator);

/// The words of `text` between blanks; no empty ones.
[[nodiscard]] std::vector<std::string_view> split_words(std::string_view text);

/// `text` behind `prefix`, in lines of at most `width` columns, broken at blanks; a longer word
/// keeps a line of its own, so that a path can be copied. Lines after the first begin with `indent`
/// blanks.
[[nodiscard]] std::string wrapped(std::string prefix, std::string_view text, std::size_t width,
                                  std::size_t indent);

/// `text` without blanks, tabs and line ends at both ends.
[[nodiscard]] std::string_view trim(std::string_view text);

/// A number of decimal digits and nothing else; nullopt for anything else or over 64 bits.
[[nodiscard]] std::optional<std::uint64_t> parse_decimal(std::string_view text);

/// `text` in lower case if it is exactly `digits` hexadecimal digits.
[[nodiscard]] std::optional<std::string> parse_hex(std::string_view text, std::size_t digits);

/// `bytes` as hexadecimal digits in lower case, two a byte.
[[nodiscard]] std::string to_hex(std::span<const std::byte> bytes);

/// `words` one behind the other, with `separator` between any two.
[[nodiscard]] std::string joined(std::span<const std::string> words, std::string_view separator);

/// "libcuda.so.1" of "/usr/lib/libcuda.so.1"; all of a path without slashes.
[[nodiscard]] std::string_view last_component(std::string_view path);

/// Whether `path` is `folder` or below it, by the text alone. Requires: neither ends in a slash.
[[nodiscard]] bool is_at_or_below(std::string_view path, std::string_view folder);

/// `text` safe to print: control characters, and bytes that are not part of well-formed UTF-8, as
/// \xNN; the invisible and direction-changing characters of Unicode likewise.
[[nodiscard]] std::string printable(std::string_view text);

/// `text` as one word of POSIX shell: within single quotes, whatever it holds.
[[nodiscard]] std::string shell_quoted(std::string_view text);

/// Likewise of fish, where within single quotes only \ and ' are special.
[[nodiscard]] std::string fish_quoted(std::string_view text);

}  // namespace compatpack
