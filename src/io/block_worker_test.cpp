// SPDX-License-Identifier: Apache-2.0
#include "compatpack/io/block_worker.hpp"

#include <algorithm>
#include <cerrno>
#include <string>

#include <doctest/doctest.h>

using namespace compatpack;
using namespace compatpack::io;

namespace {

Block block_of(std::string_view text) {
  BlockFiller filler;
  std::copy_n(as_bytes(text).begin(), text.size(), filler.space().begin());
  return filler.take(text.size());
}

}  // namespace

TEST_CASE("block worker: works on every block, in order, before finish() returns") {
  std::string seen;
  BlockWorker worker([&seen](std::span<const std::byte> bytes) -> Result<Done> {
    seen += as_text(bytes);
    return Done{};
  });

  std::string wanted;
  for (int i = 0; i < 1'000; ++i) {
    REQUIRE(worker.push(block_of(std::to_string(i))));
    wanted += std::to_string(i);
  }

  REQUIRE(worker.finish());
  CHECK(seen == wanted);
}

TEST_CASE("block worker: a failure ends the work, reaches a waiting push, and stays") {
  int calls = 0;
  BlockWorker worker([&calls](std::span<const std::byte>) -> Result<Done> {
    ++calls;
    return io_error("cannot write", "x", ENOSPC);
  });

  bool failed = false;
  for (int i = 0; i < 1'000 && !failed; ++i) {
    failed = !worker.push(block_of("a"));
  }

  CHECK(failed);
  const auto finished = worker.finish();
  REQUIRE_FALSE(finished);
  CHECK(finished.error().what == "cannot write");
  CHECK(calls == 1);
}

TEST_CASE("block worker: goes away in the middle without doing the rest") {
  int calls = 0;
  {
    BlockWorker worker([&calls](std::span<const std::byte>) -> Result<Done> {
      ++calls;
      return Done{};
    });
    REQUIRE(worker.push(block_of("a")));
  }
  CHECK(calls <= 1);
}
