// SPDX-License-Identifier: Apache-2.0
#include "compatpack/base/text.hpp"

#include <doctest/doctest.h>

#include "compatpack/base/bytes.hpp"

using namespace compatpack;

TEST_CASE("text: take_line gives each line once, with or without a last newline") {
  std::string_view rest = "one\n\nthree";

  CHECK(take_line(rest) == "one");
  CHECK(take_line(rest).empty());
  CHECK(take_line(rest) == "three");
  CHECK(rest.empty());
}

TEST_CASE("text: split keeps empty parts, and has none for empty text") {
  CHECK(split("a//b/", '/') == std::vector<std::string_view>{"a", "", "b", ""});
  CHECK(split("", '/').empty());
  CHECK(split_words("  a  bc ") == std::vector<std::string_view>{"a", "bc"});
}

TEST_CASE("text: text is broken at blanks, and a word that is too long is left whole") {
  CHECK(wrapped("", "one two three", 8, 2) == "one two\n  three");
  CHECK(wrapped("a  ", "one two", 7, 3) == "a  one\n   two");
  CHECK(wrapped("", "short", 80, 2) == "short");
  CHECK(wrapped("", "a /a/path/that/is/long b", 6, 1) == "a\n /a/path/that/is/long\n b");
  CHECK(wrapped("x: ", "", 80, 2) == "x: ");
}

TEST_CASE("text: parse_decimal takes digits only, up to 64 bits") {
  CHECK(parse_decimal("0") == 0U);
  CHECK(parse_decimal("007") == 7U);
  CHECK(parse_decimal("18446744073709551615") == 18446744073709551615U);
  for (const char* const bad :
       {"", " 1", "1 ", "+1", "-1", "1a", "0x1", "18446744073709551616", "99999999999999999999"}) {
    CAPTURE(bad);
    CHECK_FALSE(parse_decimal(bad));
  }
}

TEST_CASE("text: parse_hex wants exactly as many digits and gives lower case") {
  CHECK(parse_hex("00FFa9", 6) == "00ffa9");
  CHECK_FALSE(parse_hex("00FFa", 6));
  CHECK_FALSE(parse_hex("00FFa9 ", 6));
  CHECK_FALSE(parse_hex("00FFag", 6));
}

TEST_CASE("text: printable leaves readable text alone and escapes what a terminal would obey") {
  CHECK(printable("libcuda.so.1 \xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80") ==
        "libcuda.so.1 \xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
  CHECK(printable("a\x1b[31mb\n\x7f") == "a\\x1b[31mb\\x0a\\x7f");
  CHECK(printable(std::string_view("\0", 1)) == "\\x00");
  CHECK(printable("\xff\xc3") == "\\xff\\xc3");
  CHECK(printable("\xc0\xaf") == "\\xc0\\xaf");           // overlong '/'
  CHECK(printable("\xed\xa0\x80") == "\\xed\\xa0\\x80");  // surrogate
  CHECK(printable("\xc2\x9b") == "\\xc2\\x9b");           // C1: CSI
  // Right-to-left override. NOLINTNEXTLINE(misc-misleading-bidirectional): what is tested
  CHECK(printable("\xe2\x80\xae"
                  "x") == "\\xe2\\x80\\xaex");
}

TEST_CASE("text: shell_quoted is one word whatever it holds") {
  CHECK(shell_quoted("a b") == "'a b'");
  CHECK(shell_quoted("it's $HOME `x`") == "'it'\\''s $HOME `x`'");
  CHECK(shell_quoted("") == "''");
}

TEST_CASE("text: fish_quoted is one word of fish") {
  CHECK(fish_quoted("it's a \\ $x") == "'it\\'s a \\\\ $x'");
  CHECK(fish_quoted("") == "''");
}

TEST_CASE("text: words are joined") {
  CHECK(joined({}, ", ").empty());
  const std::vector<std::string> one{"a"};
  CHECK(joined(one, ", ") == "a");
  const std::vector<std::string> more{"a", "", "c"};
  CHECK(joined(more, ", ") == "a, , c");
}

TEST_CASE("text: the last component of a path") {
  CHECK(last_component("/usr/lib/libcuda.so.1") == "libcuda.so.1");
  CHECK(last_component("libcuda.so.1") == "libcuda.so.1");
  CHECK(last_component("a/").empty());
}

TEST_CASE("text: a folder holds what is below it, and not its namesakes") {
  CHECK(is_at_or_below("/usr/lib", "/usr/lib"));
  CHECK(is_at_or_below("/usr/lib/x", "/usr/lib"));
  CHECK_FALSE(is_at_or_below("/usr/lib64", "/usr/lib"));
  CHECK_FALSE(is_at_or_below("/usr", "/usr/lib"));
}

TEST_CASE("text: bytes as hexadecimal digits") {
  CHECK(to_hex(as_bytes(std::string_view("\0\x7f\xff", 3))) == "007fff");
}
