// SPDX-License-Identifier: Apache-2.0
#include "compatpack/io/whole_file.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>

#include <doctest/doctest.h>
#include <sys/stat.h>

#include "support/temp_dir.hpp"

using namespace compatpack;
using namespace compatpack::io;
using compatpack::test::TempDir;
namespace fs = std::filesystem;

namespace {

std::string content_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::unique_ptr<WholeFile> staged(const fs::path& target, std::string_view content) {
  auto file = WholeFile::stage(target.string());
  REQUIRE(file);
  REQUIRE((*file)->write(as_bytes(content)));
  return *std::move(file);
}

std::size_t entries_in(const fs::path& folder) {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

}  // namespace

TEST_CASE("whole_file: it appears with commit, whole, and nothing else stays") {
  const TempDir temp;
  const fs::path target = temp.path() / "above" / "file";
  {
    auto file = staged(target, "text");
    CHECK_FALSE(fs::exists(target));

    REQUIRE(file->commit(Replace::nothing));
  }
  CHECK(content_of(target) == "text");
  CHECK(entries_in(target.parent_path()) == 1);
  struct stat facts {};
  REQUIRE(::stat(target.c_str(), &facts) == 0);
  CHECK((facts.st_mode & 07777U) == 0644);
}

TEST_CASE("whole_file: without commit nothing stays, neither file nor the folders made for it") {
  const TempDir temp;
  staged(temp.path() / "a" / "b" / "file", "text").reset();

  CHECK(entries_in(temp.path()) == 0);
}

TEST_CASE("whole_file: what stands there is replaced if that was asked for, and never otherwise") {
  const TempDir temp;
  const fs::path target = temp.path() / "file";
  std::ofstream(target) << "old";
  {
    auto file = staged(target, "new");
    const auto refused = file->commit(Replace::nothing);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == Errc::conflict);
  }
  CHECK(content_of(target) == "old");
  CHECK(entries_in(temp.path()) == 1);

  REQUIRE(staged(target, "new")->commit(Replace::file));
  CHECK(content_of(target) == "new");

  fs::create_directory(temp.path() / "folder");
  const auto folder = staged(temp.path() / "folder", "new")->commit(Replace::file);
  REQUIRE_FALSE(folder);
  CHECK(folder.error().code == Errc::conflict);
}

TEST_CASE("whole_file: what a dead process has left goes, what a living one stages stays") {
  const TempDir temp;
  const fs::path target = temp.path() / "file";
  std::ofstream(temp.path() / ".file.compatpack-staging-abcdef") << "left";
  std::ofstream(temp.path() / ".other.compatpack-staging-abcdef") << "of another";

  const auto first = staged(target, "first");
  CHECK(entries_in(temp.path()) == 2);
  const auto second = staged(target, "second");
  CHECK(entries_in(temp.path()) == 3);

  REQUIRE(first->commit(Replace::nothing));
  CHECK_FALSE(second->commit(Replace::nothing));
  CHECK(content_of(target) == "first");
}
