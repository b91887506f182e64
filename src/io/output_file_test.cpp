// SPDX-License-Identifier: Apache-2.0
#include "compatpack/io/output_file.hpp"

#include <utility>

#include <doctest/doctest.h>
#include <fcntl.h>

using namespace compatpack;
using namespace compatpack::io;

TEST_CASE("output_file: a file in memory holds what is written to it, and knows its size") {
  auto file = OutputFile::in_memory("libcuda.so.535");
  REQUIRE(file);

  REQUIRE(file->write(as_bytes("abc")));
  REQUIRE(file->write({}));
  REQUIRE(file->write(as_bytes("def")));

  CHECK(file->size() == ByteCount{6});
  const auto mapped = file->map();
  REQUIRE(mapped);
  CHECK(as_text(mapped->bytes()) == "abcdef");
}

TEST_CASE("output_file: an empty file maps to no bytes, and bytes can be moved") {
  auto file = OutputFile::in_memory("x");
  REQUIRE(file);
  CHECK(file->map()->bytes().empty());

  REQUIRE(file->write(as_bytes("abc")));
  auto mapped = file->map();
  REQUIRE(mapped);
  const MappedBytes moved = *std::move(mapped);
  CHECK(as_text(moved.bytes()) == "abc");
}

TEST_CASE("output_file: a write that fails names the file, the place and the system's word") {
  OutputFile full(Fd(::open("/dev/full", O_RDWR | O_CLOEXEC)), "tree/libcuda.so.535");

  const auto written = full.write(as_bytes("abc"));

  REQUIRE_FALSE(written);
  CHECK(render(written.error()) ==
        "tree/libcuda.so.535: cannot write\n"
        "  at:       byte 0\n"
        "  found:    No space left on device\n");
}
