// SPDX-License-Identifier: Apache-2.0
#include "compatpack/io/digest.hpp"

#include <doctest/doctest.h>

#include "compatpack/io/cksum.hpp"
#include "compatpack/io/hashing_source.hpp"

using namespace compatpack;
using namespace compatpack::io;

namespace {

/// The definition, a bit at a time: what the fast one is compared with.
std::uint32_t slow_cksum(std::string_view text) {
  std::uint32_t crc = 0;
  const auto feed = [&crc](std::uint32_t byte) {
    crc ^= byte << 24U;
    for (int bit = 0; bit < 8; ++bit) {
      crc = (crc & 0x80000000U) != 0 ? (crc << 1U) ^ 0x04C11DB7U : crc << 1U;
    }
  };
  for (const char c : text) {
    feed(static_cast<unsigned char>(c));
  }
  for (std::size_t length = text.size(); length != 0; length >>= 8U) {
    feed(length & 255U);
  }
  return ~crc;
}

std::string pattern(std::size_t size) {
  std::string text(size, '\0');
  std::uint32_t state = 1;
  for (char& c : text) {
    state = state * 1664525U + 1013904223U;
    c = static_cast<char>(state >> 24U);
  }
  return text;
}

std::string digest_of(DigestAlgorithm algorithm, std::string_view text) {
  Digest digest(algorithm);
  digest.update(as_bytes(text));
  return digest.finish();
}

ByteRange range(std::uint64_t begin, std::uint64_t end) { return {{begin}, {end}}; }

}  // namespace

TEST_CASE("cksum: the values that POSIX cksum prints") {
  CHECK(digest_of(DigestAlgorithm::cksum, "") == "4294967295");
  CHECK(digest_of(DigestAlgorithm::cksum, "123456789") == "930766865");
}

TEST_CASE("cksum: the fast one equals the definition, however the bytes are cut") {
  const std::string text = pattern(70'000);
  for (const std::size_t size : {0U, 1U, 7U, 8U, 9U, 255U, 256U, 4'095U, 70'000U}) {
    const std::string_view part = std::string_view(text).substr(0, size);
    for (const std::size_t step :
         {1U, 3U, 8U, 63U, 64U, 65U, 79U, 80U, 127U, 128U, 1'000U, 70'000U}) {
      PosixCksum cksum;
      for (std::size_t at = 0; at < part.size(); at += step) {
        cksum.update(as_bytes(part.substr(at, step)));
      }
      CHECK(cksum.text() == std::to_string(slow_cksum(part)));
    }
  }
}

TEST_CASE("digest: the published values of \"abc\"") {
  CHECK(digest_of(DigestAlgorithm::md5, "abc") == "900150983cd24fb0d6963f7d28e17f72");
  CHECK(digest_of(DigestAlgorithm::sha1, "abc") == "a9993e364706816aba3e25717850c26c9cd0d89d");
  CHECK(digest_of(DigestAlgorithm::sha256, "abc") ==
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(sha256_of(as_bytes("abc")) == digest_of(DigestAlgorithm::sha256, "abc"));
  CHECK(digest_of(DigestAlgorithm::sha512, "abc").starts_with("ddaf35a193617aba"));
}

TEST_CASE("claims: a claim is checked over its own range of the file") {
  const std::string text = pattern(100'000);
  const auto claim = [&](std::uint64_t begin, std::uint64_t end) {
    return DigestClaim{
        DigestAlgorithm::md5,
        digest_of(DigestAlgorithm::md5, std::string_view(text).substr(begin, end - begin)),
        range(begin, end), "its header"};
  };
  ClaimChecker checker({claim(0, 100'000), claim(5, 99'999), claim(40'000, 40'001), claim(7, 7)});

  for (std::size_t at = 0; at < text.size(); at += 777) {
    checker.update(as_bytes(std::string_view(text).substr(at, 777)));
  }
  checker.finish();

  CHECK(checker.verdict());
  CHECK(checker.checked().size() == 4);
  CHECK(checker.whole_sha256() == digest_of(DigestAlgorithm::sha256, text));
}

TEST_CASE("claims: one that does not hold says what was expected over which bytes") {
  ClaimChecker checker({{DigestAlgorithm::cksum, "5", range(1, 3), "its header"}});
  checker.update(as_bytes("abc"));
  checker.finish();

  auto verdict = checker.verdict();

  REQUIRE_FALSE(verdict);
  verdict.error().subject = "a.run";
  CHECK(render(verdict.error()) ==
        "a.run: cksum does not match the one in its header\n"
        "  expected: 5 over bytes 1..3\n"
        "  found:    " +
            std::to_string(slow_cksum("bc")) +
            "\n"
            "  hint:     the download is damaged; fetch it again\n");
}

TEST_CASE("hashing source: gives the bytes on, and hashes those too that nobody asks for") {
  const std::string text = pattern(10'000'000);
  MemorySource inner(as_bytes(text));
  HashingSource hashing(inner, {});
  std::string first(3'000'000, '\0');

  const auto count = read_full(hashing, std::as_writable_bytes(std::span(first)));
  REQUIRE(count);
  REQUIRE(hashing.finish());

  CHECK(std::string_view(text).starts_with(first));
  CHECK(hashing.position().value == 3'000'000);
  CHECK(hashing.checker().whole_sha256() == digest_of(DigestAlgorithm::sha256, text));
}

TEST_CASE("hashing source: an error of the inner source is its own, and its end is clean") {
  class Failing final : public Source {
   public:
    Result<std::size_t> read(std::span<std::byte>) override {
      return io_error("cannot read", "a.run", 5);
    }
  };
  Failing inner;
  HashingSource hashing(inner, {});
  std::array<std::byte, 4> into{};

  CHECK_FALSE(hashing.read(into));
  CHECK_FALSE(hashing.finish());
}
