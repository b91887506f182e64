// SPDX-License-Identifier: Apache-2.0
#include "compatpack/io/source.hpp"

#include <array>

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
