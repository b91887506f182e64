// SPDX-License-Identifier: Apache-2.0
#include "compatpack/io/absolute_path.hpp"

#include <filesystem>

#include <doctest/doctest.h>

#include "support/temp_dir.hpp"

using namespace compatpack;
using namespace compatpack::io;
using compatpack::test::TempDir;
namespace fs = std::filesystem;

namespace {

/// root/real, and root/link and root/tree that lead there.
struct Folders {
  Folders() {
    fs::create_directory(root / "real");
    fs::create_symlink("real", root / "link");
    fs::create_symlink("real", root / "tree");
    fs::create_symlink("nothing", root / "dangling");
  }
  [[nodiscard]] std::string at(const char* path) const { return (root / path).string(); }

  TempDir temp;
  fs::path root = fs::canonical(temp.path());
};

}  // namespace

TEST_CASE("absolute_path: a tree's goes through links and dots, also of what is to be made") {
  const Folders folders;

  CHECK(*absolute_tree(folders.at("link/../link/new/")) == folders.at("real/new"));
  CHECK(*absolute_tree(folders.at("link/a/../b/new")) == folders.at("real/b/new"));
  CHECK(*absolute_tree(folders.at("tree")) == folders.at("real"));
  CHECK(*absolute_tree("/tree-that-is-not-there") == "/tree-that-is-not-there");
  CHECK(*absolute_tree("tree") == (fs::current_path() / "tree").string());
  const auto dangling = absolute_tree(folders.at("dangling"));
  REQUIRE_FALSE(dangling);
  CHECK(dangling.error().code == Errc::conflict);
}

TEST_CASE("absolute_path: of a folder the last component stays as it is") {
  const Folders folders;

  CHECK(*absolute_folder(folders.at("tree")) == folders.at("tree"));
  CHECK(*absolute_folder(folders.at("link/new")) == folders.at("real/new"));
  CHECK(*absolute_folder(folders.at("link/.")) == folders.at("real"));
  CHECK(*absolute_folder(folders.at("real/..")) == folders.root.string());
  const auto missing = absolute_folder(folders.at("no/tree"));
  REQUIRE_FALSE(missing);
  CHECK(missing.error().code == Errc::io);
  CHECK(missing.error().subject == folders.at("no"));
}
