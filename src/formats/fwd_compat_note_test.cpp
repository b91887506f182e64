// SPDX-License-Identifier: Apache-2.0
#include "compatpack/formats/fwd_compat_note.hpp"

#include <doctest/doctest.h>

using namespace compatpack;
using namespace compatpack::formats;

TEST_CASE("fwd compat note: version and branches are read") {
  const auto note = parse_fwd_compat_note(
      R"({"format": 1, "CUDA version": "12.9", "driver": [535, 550], "device": [1, 2]})");

  REQUIRE(note);
  CHECK(note->cuda == CudaVersion{12, 9});
  CHECK(note->branches == std::vector<std::uint32_t>{535, 550});
}

TEST_CASE("fwd compat note: one without branches is Orin's, and says so") {
  const auto note = parse_fwd_compat_note(R"({"format": 1, "CUDA version": "13.2"})");

  REQUIRE(note);
  CHECK(note->cuda == CudaVersion{13, 2});
  CHECK_FALSE(note->branches);
}

TEST_CASE("fwd compat note: what is broken is unknown, never a crash") {
  for (const char* const bad :
       {"", "{", "[]", "null", "12", R"({"driver": 535})", R"({"driver": ["535"]})",
        R"({"driver": [-1]})", R"({"CUDA version": 12.9})", "{\"driver\": [535"}) {
    CAPTURE(bad);
    CHECK_FALSE(parse_fwd_compat_note(bad));
  }
  CHECK_FALSE(parse_fwd_compat_note(std::string(100'000, '[')));
}
