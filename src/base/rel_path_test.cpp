// SPDX-License-Identifier: Apache-2.0
#include "compatpack/base/rel_path.hpp"

#include <doctest/doctest.h>

using namespace compatpack;

TEST_CASE("rel_path: what tar writes before and after a name is taken off") {
  for (const char* const text : {"32/libcuda.so.1", "./32/libcuda.so.1", "././32/libcuda.so.1/"}) {
    CAPTURE(text);
    const auto path = RelPath::parse(text);
    REQUIRE(path);
    CHECK(path->text() == "32/libcuda.so.1");
    CHECK(path->name() == "libcuda.so.1");
    CHECK(path->folder() == "32");
  }
}

TEST_CASE("rel_path: the root entry of an archive is a dot") {
  for (const char* const text : {".", "./", "././"}) {
    const auto path = RelPath::parse(text);
    REQUIRE(path);
    CHECK(path->text() == ".");
    CHECK(path->folder().empty());
  }
}

TEST_CASE("rel_path: names that could leave the folder are refused, and quoted") {
  const std::string long_part(256, 'a');
  std::string long_whole = "a";
  while (long_whole.size() < 4'096) {
    long_whole += "/a";
  }
  for (const std::string& text :
       {std::string(), std::string("/etc/passwd"), std::string("../x"), std::string("a/../b"),
        std::string("a/.."), std::string(".."), std::string("a//b"), std::string("a/./b"),
        std::string(".//etc"), std::string("a\0b", 3), long_part, long_whole}) {
    CAPTURE(text);
    const auto path = RelPath::parse(text);
    REQUIRE_FALSE(path);
    CHECK(path.error().code == Errc::unsafe_path);
    CHECK(path.error().found == text);
  }
}

TEST_CASE("rel_path: a name of 255 bytes and odd bytes are fine") {
  CHECK(RelPath::parse(std::string(255, 'a')));
  CHECK(RelPath::parse("a\nb\x1b\xff"));
  CHECK(RelPath::parse("..."));
}

TEST_CASE("file_name: one plain component") {
  CHECK(FileName::parse("libcuda.so.1"));
  for (const char* const bad : {"", ".", "..", "a/b", "/a", "a/"}) {
    CAPTURE(bad);
    CHECK_FALSE(FileName::parse(bad));
  }
}
