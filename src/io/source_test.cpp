// SPDX-License-Identifier: Apache-2.0
#include "compatpack/io/source.hpp"

#include <array>
#include <string>

#include <doctest/doctest.h>

using namespace compatpack;
using namespace compatpack::io;

TEST_CASE("source: a limited source stops at its size and leaves the rest to the next reader") {
  MemorySource inner(as_bytes("abcdef"));
  LimitedSource limited(inner, {4});
  std::array<std::byte, 8> into{};

  const auto count = read_full(limited, into);

  REQUIRE(count);
  CHECK(*count == 4);
  CHECK(as_text(std::span(into).first(4)) == "abcd");
  CHECK(limited.missing() == ByteCount{0});
  CHECK(*inner.read(into) == 2);
}

TEST_CASE("source: a limited source says how much was missing") {
  MemorySource inner(as_bytes("abc"));
  LimitedSource limited(inner, {10});

  const auto count = drain(limited);

  REQUIRE(count);
  CHECK(*count == ByteCount{3});
  CHECK(limited.missing() == ByteCount{7});
}

TEST_CASE("source: all of it is passed on, in order") {
  const std::string text = std::string(300'000, 'a') + std::string(300'000, 'b');
  MemorySource inner(as_bytes(text));
  std::string taken;

  const auto count = pass_on(inner, [&taken](std::span<const std::byte> bytes) -> Result<Done> {
    taken += as_text(bytes);
    return Done{};
  });

  REQUIRE(count);
  CHECK(*count == ByteCount{600'000});
  CHECK(taken == text);
}

TEST_CASE("source: nothing more is read once the sink has failed") {
  const std::string text(600'000, 'a');
  MemorySource inner(as_bytes(text));

  const auto count = pass_on(inner, [](std::span<const std::byte>) -> Result<Done> {
    return Error{.code = Errc::io, .what = "full"};
  });

  REQUIRE_FALSE(count);
  CHECK(count.error().what == "full");
  CHECK(drain(inner)->value > 0);
}

TEST_CASE("source: a text is read as far as it goes, and not where it is too large") {
  MemorySource whole(as_bytes("abcdef"));
  CHECK(*read_text(whole, {3}, {3}) == "abc");
  MemorySource shorter(as_bytes("ab"));
  CHECK(*read_text(shorter, {3}, {3}) == "ab");
  MemorySource larger(as_bytes("abcdef"));
  const auto refused = read_text(larger, {6}, {5});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == Errc::limit);
  CHECK(refused.error().expected == "at most 5 bytes");
  CHECK(refused.error().found == "6");
}
