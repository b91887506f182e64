// SPDX-License-Identifier: Apache-2.0
#include "compatpack/io/folder_walk.hpp"

#include <filesystem>
#include <fstream>

#include <doctest/doctest.h>
#include <sys/stat.h>

#include "support/temp_dir.hpp"

using namespace compatpack;
using namespace compatpack::io;

namespace {

struct Seen {
  std::string lines;
  Result<Done> operator()(const FoundEntry& entry, Source& content) {
    std::string text(100, '\0');
    CP_TRY(const std::size_t count, read_full(content, std::as_writable_bytes(std::span(text))));
    constexpr const char* kKinds = "fdls";
    lines += entry.path + " " + kKinds[static_cast<int>(entry.kind)] + " " +
             std::to_string(entry.size.value) + " " + entry.link_target + text.substr(0, count) +
             "\n";
    return Done{};
  }
};

}  // namespace

TEST_CASE("folder walk: shows files, folders and links in order, and follows no link") {
  const test::TempDir dir;
  const auto root = dir.path();
  std::filesystem::create_directories(root / "b" / "c");
  std::ofstream(root / "b" / "c" / "x") << "text";
  std::ofstream(root / "a") << "1";
  std::filesystem::create_symlink("/etc", root / "z");
  ::mkfifo((root / "p").c_str(), 0600);
  Seen seen;

  REQUIRE(walk_folder(root.string(), {}, std::ref(seen)));

  CHECK(seen.lines ==
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
  Seen seen;

  const auto many = walk_folder(dir.path().string(), {.members = 2}, std::ref(seen));
  REQUIRE_FALSE(many);
  CHECK(many.error().code == Errc::limit);
  const auto none = walk_folder((dir.path() / "no").string(), {}, std::ref(seen));
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
  Seen seen;

  const auto walked = walk_folder(dir.path().string(), {}, std::ref(seen));

  REQUIRE_FALSE(walked);
  CHECK(walked.error().code == Errc::limit);
}
