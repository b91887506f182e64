// SPDX-License-Identifier: Apache-2.0
#include "compatpack/io/tree_folder.hpp"

#include <filesystem>
#include <fstream>

#include <doctest/doctest.h>
#include <sys/stat.h>

#include "support/temp_dir.hpp"

using namespace compatpack;
using namespace compatpack::io;
using compatpack::test::TempDir;
namespace fs = std::filesystem;

namespace {

void write(const fs::path& path, std::string_view content) {
  std::ofstream(path, std::ios::binary) << content;
}

TreeFolder opened(const fs::path& path) {
  auto folder = TreeFolder::open(path.string());
  REQUIRE(folder);
  REQUIRE(*folder);
  return **std::move(folder);
}

}  // namespace

TEST_CASE("tree_folder: what stands at a path is nothing, a folder, or something else") {
  const TempDir temp;
  write(temp.path() / "file", "x");
  fs::create_symlink("nowhere", temp.path() / "dangling");
  fs::create_symlink(temp.path(), temp.path() / "link");

  const auto nothing = TreeFolder::open((temp.path() / "no").string());
  REQUIRE(nothing);
  CHECK_FALSE(*nothing);
  CHECK(opened(temp.path()).is_folder());
  CHECK(opened(temp.path() / "link").is_folder());
  CHECK_FALSE(opened(temp.path() / "file").is_folder());
  CHECK_FALSE(opened(temp.path() / "dangling").is_folder());
}

TEST_CASE("tree_folder: each entry is said to be what it is, and links are not followed") {
  const TempDir temp;
  write(temp.path() / "file", "twelve bytes");
  fs::permissions(temp.path() / "file", fs::perms{0640});
  fs::create_symlink("file", temp.path() / "link");
  fs::create_directory(temp.path() / "folder");
  REQUIRE(::mkfifo((temp.path() / "fifo").c_str(), 0600) == 0);
  const TreeFolder folder = opened(temp.path());

  CHECK(*folder.names() == std::vector<std::string>{"fifo", "file", "folder", "link"});
  struct Case {
    const char* name;
    TreeEntry::Kind kind;
    const char* shown;
  };
  for (const Case& c : {Case{"no", TreeEntry::Kind::nothing, "nothing"},
                        Case{"file", TreeEntry::Kind::file, "a file of 12 bytes"},
                        Case{"link", TreeEntry::Kind::link, "a link to file"},
                        Case{"folder", TreeEntry::Kind::folder, "a folder"},
                        Case{"fifo", TreeEntry::Kind::other, "a special file"}}) {
    CAPTURE(c.name);
    const auto entry = folder.look(c.name);
    REQUIRE(entry);
    CHECK(entry->kind == c.kind);
    CHECK(entry->shown() == c.shown);
  }
  CHECK(folder.look("file")->mode_bits == 0640);
  CHECK(folder.look("file")->size == ByteCount{12});
}

TEST_CASE("tree_folder: a file's SHA-256 is that of its bytes, and a link has none") {
  const TempDir temp;
  write(temp.path() / "file", "abc");
  fs::create_symlink("file", temp.path() / "link");
  const TreeFolder folder = opened(temp.path());

  CHECK(*folder.sha256("file") ==
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK_FALSE(folder.sha256("link"));
  CHECK_FALSE(folder.sha256("no"));
}

TEST_CASE("tree_folder: a link takes the place of a file, a link or nothing, and of no folder") {
  const TempDir temp;
  write(temp.path() / "file", "x");
  fs::create_symlink("elsewhere", temp.path() / "link");
  fs::create_directory(temp.path() / "folder");
  fs::create_symlink("left by a killed run", temp.path() / ".file.compatpack-link");
  const TreeFolder folder = opened(temp.path());

  for (const char* const name : {"file", "link", "new"}) {
    CAPTURE(name);
    CHECK(folder.put_link(name, "target"));
    CHECK(fs::read_symlink(temp.path() / name) == "target");
  }
  CHECK_FALSE(folder.put_link("folder", "target"));
  CHECK(*folder.names() == std::vector<std::string>{"file", "folder", "link", "new"});
}

TEST_CASE("tree_folder: somebody's file is not removed for a link to be made") {
  const TempDir temp;
  write(temp.path() / ".file.compatpack-link", "mine");
  const TreeFolder folder = opened(temp.path());

  CHECK_FALSE(folder.put_link("file", "target"));

  CHECK(*folder.names() == std::vector<std::string>{".file.compatpack-link"});
}

TEST_CASE("tree_folder: a mode can be set on a file that nobody may read") {
  const TempDir temp;
  write(temp.path() / "file", "x");
  fs::permissions(temp.path() / "file", fs::perms::none);
  const TreeFolder folder = opened(temp.path());

  CHECK(folder.set_mode("file", FileMode::program));

  CHECK(folder.look("file")->mode_bits == 0755);
}

TEST_CASE("tree_folder: a mode is never set through a link") {
  const TempDir temp;
  write(temp.path() / "file", "x");
  fs::permissions(temp.path() / "file", fs::perms{0600});
  fs::create_symlink("file", temp.path() / "link");
  const TreeFolder folder = opened(temp.path());

  CHECK_FALSE(folder.set_mode("link", FileMode::program));

  CHECK(folder.look("file")->mode_bits == 0600);
}

TEST_CASE("tree_folder: neither a folder nor a file is reached through a link") {
  const TempDir temp;
  fs::create_directory(temp.path() / "folder");
  write(temp.path() / "folder" / "file", "text");
  fs::create_symlink("folder", temp.path() / "link");
  fs::create_symlink("file", temp.path() / "folder" / "link");
  REQUIRE(::mkfifo((temp.path() / "folder" / "fifo").c_str(), 0600) == 0);
  const TreeFolder top = opened(temp.path());

  const auto folder = top.folder("folder");
  REQUIRE(folder);
  CHECK(folder->path() == (temp.path() / "folder").string());
  const auto file = folder->open_file("file", nullptr);
  REQUIRE(file);
  CHECK((*file)->size() == ByteCount{4});

  CHECK_FALSE(top.folder("link"));
  CHECK_FALSE(top.folder("absent"));
  CHECK_FALSE(folder->folder("file"));
  const auto linked = folder->open_file("link", nullptr);
  REQUIRE_FALSE(linked);
  CHECK(linked.error().code == Errc::io);
  const auto fifo = folder->open_file("fifo", nullptr);
  REQUIRE_FALSE(fifo);
  CHECK(fifo.error().code == Errc::not_recognized);
  CHECK(fifo.error().subject == (temp.path() / "folder/fifo").string());
}
