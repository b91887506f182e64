// SPDX-License-Identifier: Apache-2.0
#include "compatpack/io/folder_walk.hpp"

#include <array>
#include <filesystem>
#include <fstream>

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/temp_dir.hpp"

using namespace compatpack;
using namespace compatpack::io;

namespace {

/// All that a walk shows, a line an entry.
Result<std::string> walked(const std::filesystem::path& root, const Limits& limits = {}) {
  CP_TRY(const auto walk, FolderWalk::open(root.string(), limits));
  std::string lines;
  for (;;) {
    CP_TRY(const auto entry, walk->next());
    if (!entry) {
      return lines;
    }
    std::string text(100, '\0');
    CP_TRY(const std::size_t count, walk->read(std::as_writable_bytes(std::span(text))));
    constexpr std::string_view kKinds = "fdls";
    lines += entry->path + " " + kKinds[static_cast<std::size_t>(entry->kind)] + " " +
             std::to_string(entry->size.value) + " " + entry->link_target + text.substr(0, count) +
             "\n";
  }
}

}  // namespace

TEST_CASE("folder walk: shows files, folders and links in order, and follows no link") {
  const test::TempDir dir;
  const auto root = dir.path();
  std::filesystem::create_directories(root / "b" / "c");
  std::ofstream(root / "b" / "c" / "x") << "text";
  std::ofstream(root / "a") << "1";
  std::filesystem::create_symlink("/etc", root / "z");
  ::mkfifo((root / "p").c_str(), 0600);

  const auto lines = walked(root);

  REQUIRE(lines);
  CHECK(*lines ==
        "a f 1 1\n"
        "b d 0 \n"
        "b/c d 0 \n"
        "b/c/x f 4 text\n"
        "p s 0 \n"
        "z l 0 /etc\n");
}

TEST_CASE("folder walk: a folder that holds too much, or is none, is an error") {
  const test::TempDir dir;
  for (const char* const name : {"a", "b", "c"}) {
    std::ofstream(dir.path() / name) << "1";
  }

  const auto many = walked(dir.path(), {.members = 2});
  REQUIRE_FALSE(many);
  CHECK(many.error().code == Errc::limit);
  const auto none = walked(dir.path() / "no");
  REQUIRE_FALSE(none);
  CHECK(none.error().code == Errc::io);
}

TEST_CASE("folder walk: nesting without end is an error") {
  const test::TempDir dir;
  std::filesystem::path deep = dir.path();
  for (int i = 0; i < 40; ++i) {
    deep /= "d";
  }
  std::filesystem::create_directories(deep);

  const auto lines = walked(dir.path());

  REQUIRE_FALSE(lines);
  CHECK(lines.error().code == Errc::limit);
}

TEST_CASE("folder walk: what is not read need not be readable") {
  const test::TempDir dir;
  std::ofstream(dir.path() / "secret") << "1";
  ::chmod((dir.path() / "secret").c_str(), 0);
  const auto walk = FolderWalk::open(dir.path().string(), {});
  REQUIRE(walk);

  const auto entry = (*walk)->next();

  REQUIRE(entry);
  REQUIRE(*entry);
  CHECK((*entry)->path == "secret");
  if (::geteuid() != 0) {
    std::array<std::byte, 8> buffer{};
    const auto count = (*walk)->read(buffer);
    REQUIRE_FALSE(count);
    CHECK(count.error().code == Errc::io);
  }
}
