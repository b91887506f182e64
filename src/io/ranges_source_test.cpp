// SPDX-License-Identifier: Apache-2.0
#include "compatpack/io/ranges_source.hpp"

#include <array>
#include <fstream>

#include <doctest/doctest.h>
#include <unistd.h>

#include "support/rpm_file.hpp"
#include "support/temp_dir.hpp"

namespace compatpack::io {
namespace {

struct Opened {
  explicit Opened(const std::string& content) : path(dir.path() / "file") {
    std::ofstream(path) << content;
    auto opened = FileSource::open(path, nullptr);
    REQUIRE(opened);
    file = *std::move(opened);
  }

  test::TempDir dir;
  std::filesystem::path path;
  std::unique_ptr<FileSource> file;
};

std::string sha256_of(std::string_view text) {
  return test::digest_of(DigestAlgorithm::sha256, text);
}

}  // namespace

TEST_CASE("ranges_source: ranges come one behind the other, each with its digest") {
  const Opened opened("0123456789");
  for (const std::size_t block : {1U, 3U, 100U}) {
    CAPTURE(block);
    RangesSource source(*opened.file, {{{0}, {0}}, {{6}, {10}}, {{3}, {3}}, {{1}, {4}}}, nullptr);
    std::array<std::byte, 100> buffer{};
    std::string all;

    for (std::size_t count = 1; count > 0;) {
      const auto read = source.read(std::span(buffer).first(block));
      REQUIRE(read);
      count = *read;
      all += as_text(std::span(buffer).first(count));
    }

    CHECK(all == "6789123");
    CHECK(source.is_at_end());
    CHECK(source.sha256s() == std::vector<std::string>{sha256_of(""), sha256_of("6789"),
                                                       sha256_of(""), sha256_of("123")});
  }
}

TEST_CASE("ranges_source: what is not read to its end says so") {
  const Opened opened("0123456789");
  RangesSource source(*opened.file, {{{0}, {4}}, {{4}, {6}}}, nullptr);
  std::array<std::byte, 5> buffer{};

  const auto count = source.read(buffer);

  REQUIRE(count);
  CHECK(*count == 4);
  CHECK_FALSE(source.is_at_end());
}

TEST_CASE("ranges_source: a file that has become shorter is an error") {
  const Opened opened("0123456789");
  REQUIRE(::truncate(opened.path.c_str(), 5) == 0);
  RangesSource source(*opened.file, {{{7}, {10}}}, nullptr);
  std::array<std::byte, 5> buffer{};

  const auto count = source.read(buffer);

  REQUIRE_FALSE(count);
  CHECK(count.error().code == Errc::io);
}

}  // namespace compatpack::io
