// SPDX-License-Identifier: Apache-2.0
#include "compatpack/formats/base64.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "compatpack/formats/decoder.hpp"

#include "support/compress.hpp"

using namespace compatpack;
using namespace compatpack::formats;
using namespace std::string_literals;

namespace {

struct Decoded {
  std::string bytes;
  std::optional<Error> error;
};

Decoded decode(std::string_view text, std::size_t step, std::size_t block) {
  io::MemorySource memory(as_bytes(text));
  test::SlowSource slow(memory, step);
  Base64Source source(slow);
  Decoded decoded;
  std::vector<std::byte> buffer(block);
  for (;;) {
    const auto got = source.read(buffer);
    if (!got) {
      decoded.error = got.error();
      return decoded;
    }
    if (*got == 0) {
      return decoded;
    }
    decoded.bytes += as_text(std::span(buffer).first(*got));
  }
}

}  // namespace

TEST_CASE("base64: text gives the bytes it stands for, however it is read") {
  struct Case {
    std::string text;
    std::string bytes;
  };
  const Case cases[] = {
      {"", ""},
      {"\n", ""},
      {"Zg==", "f"},
      {"Zm8=\n", "fo"},
      {"Zm9v", "foo"},
      {"Zm9v\nYmFy\n", "foobar"},
      {"Zm9v\r\nYmFy\r\n", "foobar"},
      {"Z\nm9\nvY\nm\nE=\n", "fooba"},
      {"+/+/AP8=", "\xfb\xff\xbf\x00\xff"s},
      {"YQ==YQ==", "aa"},  // base64 -d of coreutils 9.1 goes on behind "=" too
      {"YR==", "a"},       // and does not look at the bits that are left over
  };
  for (const Case& c : cases) {
    CAPTURE(c.text);
    for (const std::size_t step : {1U, 3U, 1000U}) {
      for (const std::size_t block : {1U, 2U, 1000U}) {
        const Decoded decoded = decode(c.text, step, block);

        CHECK_FALSE(decoded.error);
        CHECK(decoded.bytes == c.bytes);
      }
    }
  }
}

TEST_CASE("base64: anything else is damage, placed in the text") {
  struct Case {
    const char* text;
    const char* before;
    std::uint64_t at;
    const char* found;
  };
  const Case cases[] = {
      {"Zm9v-", "foo", 4, "-"},       {"Zm9v YmFy", "foo", 4, " "}, {"=", "", 0, "="},
      {"Z===", "", 1, "="},           {"Zg=A", "", 3, "A"},         {"Zm9vZg==\n=", "foof", 9, "="},
      {"Zm9v\x80", "foo", 4, "\x80"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.text);
    for (const std::size_t block : {1U, 1000U}) {
      const Decoded decoded = decode(c.text, 1000, block);

      CHECK(decoded.bytes == c.before);
      REQUIRE(decoded.error);
      CHECK(decoded.error->code == Errc::corrupt);
      CHECK(decoded.error->at == ByteOffset{c.at});
      CHECK(decoded.error->found == c.found);
      CHECK_FALSE(ends_early(*decoded.error));
    }
  }
}

TEST_CASE("base64: text that ends within a group of four says that it ends early") {
  for (const char* const text : {"Z", "Zm", "Zm9", "Zg=", "Zm9vZ\n"}) {
    CAPTURE(text);
    const Decoded decoded = decode(text, 1, 100);

    REQUIRE(decoded.error);
    CHECK(ends_early(*decoded.error));
    CHECK(decoded.error->at == ByteOffset{std::string_view(text).size()});
  }
}

TEST_CASE("base64: an error comes again") {
  io::MemorySource text(as_bytes("Zm9v*"));
  Base64Source source(text);

  CHECK(io::drain(source).error().found == "*");
  CHECK(io::drain(source).error().found == "*");
}

TEST_CASE("base64: text is told from a tar and from compressed bytes") {
  CHECK(looks_like_base64(as_bytes("Zm9v\r\nYmFy\nZg==\n")));
  CHECK_FALSE(looks_like_base64(as_bytes("")));
  CHECK_FALSE(looks_like_base64(as_bytes("\n==\n")));
  CHECK_FALSE(looks_like_base64(as_bytes("Zm9v YmFy")));
  CHECK_FALSE(looks_like_base64(as_bytes("usr/lib\0\0"s)));
  for (const Compression compression : {Compression::gzip, Compression::xz, Compression::zstd,
                                        Compression::bzip2, Compression::lz4}) {
    const std::string stream = test::compress(compression, test::sample_text(5000));
    CHECK_FALSE(looks_like_base64(as_bytes(stream).first(kBase64SniffSize)));
  }
}
