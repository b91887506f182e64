// SPDX-License-Identifier: Apache-2.0
#include "compatpack/io/file_source.hpp"

#include <array>
#include <filesystem>
#include <fstream>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "support/temp_dir.hpp"

using namespace compatpack;
using namespace compatpack::io;
using compatpack::test::TempDir;
namespace fs = std::filesystem;

namespace {

void write(const fs::path& path, std::string_view content) {
  std::ofstream(path, std::ios::binary) << content;
}

std::unique_ptr<FileSource> opened(const fs::path& path, ReadObserver* observer = nullptr) {
  auto file = FileSource::open(path.string(), observer);
  REQUIRE(file);
  return *std::move(file);
}

/// Writes down what it hears, and ends the reading behind `stop_at` bytes.
class Listener final : public ReadObserver {
 public:
  explicit Listener(std::uint64_t stop_at) : stop_at_(stop_at) {}
  Result<Done> on_read(ByteCount so_far, ByteCount of) override {
    heard.push_back(so_far.value);
    total = of;
    if (so_far.value >= stop_at_) {
      return Error{.code = Errc::interrupted, .what = "enough"};
    }
    return Done{};
  }
  std::vector<std::uint64_t> heard = {};
  ByteCount total = {};

 private:
  std::uint64_t stop_at_;
};

}  // namespace

TEST_CASE("file_source: gives the file's bytes, then the end, again and again") {
  const TempDir temp;
  write(temp.path() / "file", "abcdef");
  const auto file = opened(temp.path() / "file");
  std::array<std::byte, 4> into{};

  CHECK(file->size() == ByteCount{6});
  CHECK(*file->read(into) == 4);
  CHECK(as_text(into) == "abcd");
  CHECK(*file->read(into) == 2);
  CHECK(*file->read(into) == 0);
  CHECK(*file->read(into) == 0);
  CHECK(file->check_unchanged());
}

TEST_CASE("file_source: folders, FIFOs, devices and sockets are refused without waiting") {
  const TempDir temp;
  REQUIRE(::mkfifo((temp.path() / "fifo").c_str(), 0600) == 0);
  fs::create_directory(temp.path() / "folder");
  struct Case {
    std::string path;
    const char* found;
  };
  for (const Case& c :
       {Case{(temp.path() / "fifo").string(), "a FIFO"},
        Case{(temp.path() / "folder").string(), "a folder"}, Case{"/dev/zero", "a device"}}) {
    CAPTURE(c.path);
    const auto file = FileSource::open(c.path, nullptr);
    REQUIRE_FALSE(file);
    CHECK(file.error().code == Errc::not_recognized);
    CHECK(file.error().subject == c.path);
    CHECK(file.error().found == c.found);
  }

  const std::string path = (temp.path() / "socket").string();
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  REQUIRE(path.size() < sizeof address.sun_path);
  path.copy(address.sun_path, path.size());
  const Fd socket(::socket(AF_UNIX, SOCK_STREAM, 0));
  REQUIRE(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  const auto file = FileSource::open(path, nullptr);
  REQUIRE_FALSE(file);
  CHECK(file.error().subject == path);
}

TEST_CASE("file_source: a file that is missing or may not be read is an I/O error") {
  const TempDir temp;

  const auto missing = FileSource::open((temp.path() / "no").string(), nullptr);
  REQUIRE_FALSE(missing);
  CHECK(missing.error().code == Errc::io);
  CHECK(missing.error().found == "No such file or directory");

  if (::geteuid() != 0) {
    write(temp.path() / "sealed", "x");
    fs::permissions(temp.path() / "sealed", fs::perms::none);
    const auto sealed = FileSource::open((temp.path() / "sealed").string(), nullptr);
    REQUIRE_FALSE(sealed);
    CHECK(sealed.error().found == "Permission denied");
  }
}

TEST_CASE("file_source: a file that grows is read to its first size, and found out") {
  const TempDir temp;
  write(temp.path() / "file", "abc");
  const auto file = opened(temp.path() / "file");

  std::ofstream(temp.path() / "file", std::ios::app) << "def";

  CHECK(*drain(*file) == ByteCount{3});
  const auto unchanged = file->check_unchanged();
  REQUIRE_FALSE(unchanged);
  CHECK(unchanged.error().code == Errc::io);
  CHECK(unchanged.error().what == "bundle changed while it was read");
}

TEST_CASE("file_source: a file that is cut ends early, and is found out") {
  const TempDir temp;
  write(temp.path() / "file", "abcdef");
  const auto file = opened(temp.path() / "file");

  fs::resize_file(temp.path() / "file", 2);

  CHECK(*drain(*file) == ByteCount{2});
  CHECK_FALSE(file->check_unchanged());
}

TEST_CASE("file_source: the same bytes written anew are found out") {
  const TempDir temp;
  write(temp.path() / "file", "abc");
  const auto file = opened(temp.path() / "file");
  const auto before = fs::last_write_time(temp.path() / "file");

  fs::last_write_time(temp.path() / "file", before + std::chrono::seconds(1));

  CHECK_FALSE(file->check_unchanged());
}

TEST_CASE("file_source: an observer hears how far it is, and can end it") {
  const TempDir temp;
  write(temp.path() / "file", "abcdef");
  Listener listener(5);
  const auto file = opened(temp.path() / "file", &listener);
  std::array<std::byte, 3> into{};

  CHECK(*file->read(into) == 3);
  const auto second = file->read(into);

  REQUIRE_FALSE(second);
  CHECK(second.error().code == Errc::interrupted);
  CHECK(listener.heard == std::vector<std::uint64_t>{3, 6});
  CHECK(listener.total == ByteCount{6});
}
