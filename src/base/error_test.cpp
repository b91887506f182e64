// SPDX-License-Identifier: Apache-2.0
#include "compatpack/base/error.hpp"

#include <cerrno>

#include <doctest/doctest.h>

using namespace compatpack;

TEST_CASE("error: a whole message has its parts in one column") {
  const Error error{.code = Errc::unsafe_path,
                    .what = "member name leaves the output directory",
                    .subject = "driver.deb",
                    .at = ByteOffset{1'048'576},
                    .stream = "the extracted archive",
                    .expected = "a relative path without \"..\"",
                    .found = "../x\x1b[2J",
                    .hint = "do not use this bundle; nothing was written"};

  CHECK(render(error) ==
        "driver.deb: member name leaves the output directory\n"
        "  at:       byte 1048576 of the extracted archive\n"
        "  expected: a relative path without \"..\"\n"
        "  found:    ../x\\x1b[2J\n"
        "  hint:     do not use this bundle; nothing was written\n");
}

TEST_CASE("error: absent parts leave no line") {
  CHECK(render({.code = Errc::io, .what = "cannot open"}) == "cannot open\n");
}

TEST_CASE("error: a long quote is cut") {
  const std::string out =
      render({.code = Errc::corrupt, .what = "x", .found = std::string(5'000, 'a')});

  CHECK(out.size() < 500);
  CHECK(out.ends_with("aaa...\n"));
}

TEST_CASE("error: io_error carries the system's words") {
  CHECK(render(io_error("cannot open", "a.run", ENOENT)) ==
        "a.run: cannot open\n  found:    No such file or directory\n");
}

TEST_CASE("error: the exit status is that of the contract") {
  CHECK(exit_status(Errc::io) == 1);
  CHECK(exit_status(Errc::conflict) == 1);
  CHECK(exit_status(Errc::usage) == 2);
  CHECK(exit_status(Errc::not_recognized) == 3);
  CHECK(exit_status(Errc::corrupt) == 3);
  CHECK(exit_status(Errc::unsupported) == 3);
  CHECK(exit_status(Errc::limit) == 3);
  CHECK(exit_status(Errc::unsafe_path) == 3);
  CHECK(exit_status(Errc::mismatch) == 4);
}
