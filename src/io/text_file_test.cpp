// SPDX-License-Identifier: Apache-2.0
#include "compatpack/io/text_file.hpp"

#include <filesystem>
#include <fstream>

#include <doctest/doctest.h>
#include <sys/stat.h>

#include "support/temp_dir.hpp"

using namespace compatpack;
using namespace compatpack::io;
using compatpack::test::TempDir;
namespace fs = std::filesystem;

TEST_CASE("text_file: a text is read whole, and one that is not there is nothing") {
  const TempDir temp;
  std::ofstream(temp.path() / "file") << "a\nb\n";
  std::ofstream(temp.path() / "empty");

  CHECK(**read_text_file((temp.path() / "file").string(), {4}) == "a\nb\n");
  CHECK(**read_text_file((temp.path() / "empty").string(), {4}) == "");
  const auto missing = read_text_file((temp.path() / "no").string(), {4});
  REQUIRE(missing);
  CHECK_FALSE(*missing);
  const auto below_file = read_text_file((temp.path() / "file" / "x").string(), {4});
  REQUIRE(below_file);
  CHECK_FALSE(*below_file);
}

TEST_CASE("text_file: a text that is too large is not read") {
  const TempDir temp;
  std::ofstream(temp.path() / "file") << "12345";

  const auto text = read_text_file((temp.path() / "file").string(), {4});

  REQUIRE_FALSE(text);
  CHECK(text.error().code == Errc::limit);
  CHECK(text.error().expected == "at most 4 bytes");
  CHECK(text.error().found == "5");
}

TEST_CASE("text_file: what is no regular file is refused without waiting, and not as a bundle") {
  const TempDir temp;
  REQUIRE(::mkfifo((temp.path() / "fifo").c_str(), 0600) == 0);

  const auto text = read_text_file((temp.path() / "fifo").string(), {4});

  REQUIRE_FALSE(text);
  CHECK(text.error().code == Errc::not_recognized);
  CHECK(text.error().what == "not a text file");
  CHECK(text.error().found == "a FIFO");
}
