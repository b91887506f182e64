// SPDX-License-Identifier: Apache-2.0
#include "compatpack/formats/tar_writer.hpp"

#include <string>

#include <doctest/doctest.h>

using namespace compatpack;
using namespace compatpack::formats;

namespace {

RelPath path(std::string_view text) { return *RelPath::parse(text); }

/// A writer into memory.
struct Tar {
  std::string bytes;
  TarWriter writer;

  explicit Tar(std::uint64_t time_s = 0)
      : writer(
            [this](std::span<const std::byte> more) -> Result<Done> {
              bytes += as_text(more);
              return Done{};
            },
            time_s) {}
};

/// A header as POSIX has it, byte by byte.
std::string header(const std::string& name, const char* mode, const char* size, const char* time,
                   char type, const std::string& target = "", const std::string& prefix = "") {
  std::string out(512, '\0');
  const auto put = [&out](std::size_t at, std::string_view text) {
    out.replace(at, text.size(), text);
  };
  put(0, name);
  put(100, std::string(mode) + " ");
  put(108, "000000 ");  // user
  put(116, "000000 ");  // group
  put(124, std::string(size) + " ");
  put(136, std::string(time) + " ");
  put(148, "        ");
  out[156] = type;
  put(157, target);
  put(257, std::string_view("ustar\00000", 8));
  put(329, "000000 ");  // device numbers
  put(337, "000000 ");
  put(345, prefix);
  unsigned sum = 0;
  for (const char c : out) {
    sum += static_cast<unsigned char>(c);
  }
  std::string digits;
  for (int shift = 15; shift >= 0; shift -= 3) {
    digits += static_cast<char>('0' + ((sum >> static_cast<unsigned>(shift)) & 7U));
  }
  put(148, digits + std::string("\0 ", 2));
  return out;
}

std::string padded(std::string text) {
  text.resize((text.size() + 511) / 512 * 512, '\0');
  return text;
}

}  // namespace

TEST_CASE("tar_writer: every byte is what POSIX says, and nothing of this machine") {
  Tar tar(1'700'000'000);
  REQUIRE(tar.writer.add_folder(path("usr/local")));
  REQUIRE(tar.writer.begin_file(path("usr/local/b"), {5}, 0755));
  REQUIRE(tar.writer.write(as_bytes("he")));
  REQUIRE(tar.writer.write(as_bytes("llo")));
  REQUIRE(tar.writer.begin_file(path("usr/local/empty"), {0}, 0644));
  REQUIRE(tar.writer.add_link(path("usr/local/l"), "b"));
  REQUIRE(tar.writer.finish());

  const char* const time = "14524770400";
  CHECK(tar.bytes == header("usr/local/", "000755", "00000000000", time, '5') +
                         header("usr/local/b", "000755", "00000000005", time, '0') +
                         padded("hello") +
                         header("usr/local/empty", "000644", "00000000000", time, '0') +
                         header("usr/local/l", "000777", "00000000000", time, '2', "b") +
                         std::string(1024, '\0'));
}

TEST_CASE("tar_writer: names are bytes, whatever the locale, and long ones are split at a slash") {
  Tar tar;
  const std::string folder(150, 'd');
  const std::string file(100, 'f');
  REQUIRE(tar.writer.begin_file(path(folder + "/" + file), {0}, 0644));
  REQUIRE(tar.writer.begin_file(path("\xff\xc3\xa9"), {0}, 0644));
  REQUIRE(tar.writer.finish());

  CHECK(tar.bytes == header(file, "000644", "00000000000", "00000000000", '0', "", folder) +
                         header("\xff\xc3\xa9", "000644", "00000000000", "00000000000", '0') +
                         std::string(1024, '\0'));
}

TEST_CASE("tar_writer: the last second of its time field fits") {
  Tar tar(kTarTimeMax);
  REQUIRE(tar.writer.add_folder(path("a")));

  CHECK(tar.bytes == header("a/", "000755", "00000000000", "77777777777", '5'));
}

TEST_CASE("tar_writer: what ustar cannot hold is refused by name") {
  const std::string long_name(101, 'n');
  {
    Tar tar;
    const auto added = tar.writer.begin_file(path(long_name), {0}, 0644);
    REQUIRE_FALSE(added);
    CHECK(added.error().code == Errc::unsupported);
    CHECK(added.error().subject == long_name);
    CHECK_FALSE(added.error().found.empty());
  }
  Tar tar;
  const auto added = tar.writer.add_link(path("link"), long_name);
  REQUIRE_FALSE(added);
  CHECK(added.error().code == Errc::unsupported);
}

TEST_CASE("tar_writer: a file has the size that was said, neither more nor less") {
  Tar more;
  REQUIRE(more.writer.begin_file(path("a"), {2}, 0644));
  const auto written = more.writer.write(as_bytes("abc"));
  REQUIRE_FALSE(written);
  CHECK(written.error().code == Errc::corrupt);
  CHECK(written.error().subject == "a");

  Tar less;
  REQUIRE(less.writer.begin_file(path("a"), {2}, 0644));
  REQUIRE(less.writer.write(as_bytes("a")));
  const auto next = less.writer.add_folder(path("b"));
  REQUIRE_FALSE(next);
  CHECK(next.error().subject == "a");
  CHECK_FALSE(less.writer.finish());
}

TEST_CASE("tar_writer: the sink's error is the writer's") {
  int calls = 0;
  TarWriter writer(
      [&calls](std::span<const std::byte>) -> Result<Done> {
        if (++calls < 2) {
          return Done{};
        }
        return io_error("cannot write", "x.tar", ENOSPC);
      },
      0);
  REQUIRE(writer.begin_file(path("a"), {2}, 0644));

  const auto written = writer.write(as_bytes("ab"));

  REQUIRE_FALSE(written);
  CHECK(written.error().subject == "x.tar");
  CHECK(written.error().found == "No space left on device");
}

TEST_CASE("tar_writer: what was not finished has no end, so that it does not look whole") {
  std::string bytes;
  {
    TarWriter writer(
        [&bytes](std::span<const std::byte> more) -> Result<Done> {
          bytes += as_text(more);
          return Done{};
        },
        0);
    REQUIRE(writer.add_folder(path("a")));
  }
  CHECK(bytes.size() == 512);
}
