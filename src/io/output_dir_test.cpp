// SPDX-License-Identifier: Apache-2.0
#include "compatpack/io/output_dir.hpp"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/temp_dir.hpp"

using namespace compatpack;
using namespace compatpack::io;
using compatpack::test::TempDir;
namespace fs = std::filesystem;

// What cannot be tested here: file systems without RENAME_EXCHANGE, RENAME_NOREPLACE or locks.
// Their fallbacks need such a mount, which a test without root cannot make.

namespace {

FileName name(std::string_view text) { return *FileName::parse(text); }

std::string content_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write(const fs::path& path, std::string_view content) {
  std::ofstream(path, std::ios::binary) << content;
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& one : fs::directory_iterator(folder)) {
    names.push_back(one.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

unsigned mode_of(const fs::path& path) {
  struct stat facts {};
  REQUIRE(::lstat(path.c_str(), &facts) == 0);
  return facts.st_mode & 07777U;
}

std::unique_ptr<OutputDir> staged(const fs::path& target) {
  auto dir = OutputDir::stage(target.string());
  REQUIRE(dir);
  return *std::move(dir);
}

/// A staging folder at `target` with one file in it.
std::unique_ptr<OutputDir> staged_with_file(const fs::path& target, std::string_view content) {
  auto dir = staged(target);
  REQUIRE(dir->write_text(name("a"), content, FileMode::data));
  return dir;
}

/// Sets the umask of the process as long as it lives.
class Umask {
 public:
  explicit Umask(mode_t mask) : old_(::umask(mask)) {}
  Umask(const Umask&) = delete;
  Umask& operator=(const Umask&) = delete;
  ~Umask() { ::umask(old_); }

 private:
  mode_t old_;
};

}  // namespace

TEST_CASE("output_dir: nothing stands at the target before commit, and all of it after") {
  const TempDir temp;
  const fs::path target = temp.path() / "tree";

  auto dir = staged(target);
  REQUIRE(dir->write_text(name("libcuda.so.535"), "elf", FileMode::program));
  REQUIRE(dir->link(name("libcuda.so.1"), name("libcuda.so.535")));
  CHECK_FALSE(fs::exists(target));
  REQUIRE(dir->commit(Replace::nothing));

  CHECK(names_in(temp.path()) == std::vector<std::string>{"tree"});
  CHECK(names_in(target) == std::vector<std::string>{"libcuda.so.1", "libcuda.so.535"});
  CHECK(content_of(target / "libcuda.so.535") == "elf");
  CHECK(fs::read_symlink(target / "libcuda.so.1") == "libcuda.so.535");
  dir.reset();
  CHECK(fs::exists(target / "libcuda.so.1"));
}

TEST_CASE("output_dir: without a commit nothing is left") {
  const TempDir temp;

  { const auto dir = staged_with_file(temp.path() / "tree", "x"); }

  CHECK(names_in(temp.path()).empty());
}

TEST_CASE("output_dir: an empty folder at the target is replaced") {
  const TempDir temp;
  const fs::path target = temp.path() / "tree";
  fs::create_directory(target);

  REQUIRE(staged_with_file(target, "new")->commit(Replace::nothing));

  CHECK(content_of(target / "a") == "new");
}

TEST_CASE("output_dir: what stands at the target is a conflict, and stays as it is") {
  for (const std::string kind : {"folder", "file", "link", "dangling link"}) {
    CAPTURE(kind);
    const TempDir temp;
    const fs::path target = temp.path() / "tree";
    if (kind == "folder") {
      fs::create_directory(target);
      write(target / "mine", "old");
    } else if (kind == "file") {
      write(target, "old");
    } else {
      fs::create_symlink(kind == "link" ? temp.path().string() : "nowhere", target);
    }
    const auto before = fs::symlink_status(target).type();

    const auto committed = staged_with_file(target, "new")->commit(Replace::nothing);

    REQUIRE_FALSE(committed);
    CHECK(committed.error().code == Errc::conflict);
    CHECK(committed.error().subject == target.string());
    CHECK(fs::symlink_status(target).type() == before);
    CHECK(names_in(temp.path()) == std::vector<std::string>{"tree"});
  }
}

TEST_CASE("output_dir: a replaced folder is gone with all that was below it") {
  const TempDir temp;
  const fs::path target = temp.path() / "tree";
  fs::create_directories(target / "deep" / "er");
  write(target / "deep" / "er" / "file", "old");
  write(temp.path() / "outside", "kept");
  fs::create_symlink(temp.path() / "outside", target / "deep" / "link");

  REQUIRE(staged_with_file(target, "new")->commit(Replace::directory));

  CHECK(names_in(target) == std::vector<std::string>{"a"});
  CHECK(content_of(temp.path() / "outside") == "kept");
  CHECK(names_in(temp.path()) == std::vector<std::string>{"outside", "tree"});
}

TEST_CASE("output_dir: Replace::directory needs nothing to replace") {
  const TempDir temp;

  REQUIRE(staged_with_file(temp.path() / "tree", "new")->commit(Replace::directory));

  CHECK(content_of(temp.path() / "tree" / "a") == "new");
}

TEST_CASE(
    "output_dir: what a killed process left is removed by the next, and a live one's is kept") {
  const TempDir temp;
  const fs::path target = temp.path() / "tree";
  int ready[2] = {-1, -1};
  REQUIRE(::pipe(ready) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto dir = OutputDir::stage(target.string());
    const char said = dir && (*dir)->write_text(name("a"), "x", FileMode::data) ? 'y' : 'n';
    if (::write(ready[1], &said, 1) == 1) {
      ::pause();
    }
    ::_exit(1);
  }
  char said = 'n';
  REQUIRE(::read(ready[0], &said, 1) == 1);
  REQUIRE(said == 'y');
  const auto live = names_in(temp.path());
  REQUIRE(live.size() == 1);

  { const auto dir = staged(target); }
  CHECK(names_in(temp.path()) == live);

  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  ::close(ready[0]);
  ::close(ready[1]);
  CHECK(names_in(temp.path()) == live);
  { const auto dir = staged(target); }
  CHECK(names_in(temp.path()).empty());
}

TEST_CASE("output_dir: only what was staged for the same target is cleared away") {
  const TempDir temp;
  for (const char* const kept :
       {".tree.compatpack-staging-old-abcdef", ".other.compatpack-abcdef",
        ".tree.compatpack-staging-abcdefg", "tree.compatpack-staging-abcdef"}) {
    fs::create_directory(temp.path() / kept);
  }
  fs::create_directory(temp.path() / ".tree.compatpack-staging-abcdef");
  write(temp.path() / ".tree.compatpack-staging-ghijkl", "as WholeFile leaves it");
  const auto before = names_in(temp.path());

  { const auto dir = staged(temp.path() / "tree"); }

  const auto after = names_in(temp.path());
  CHECK(after.size() + 2 == before.size());
  CHECK_FALSE(fs::exists(temp.path() / ".tree.compatpack-staging-abcdef"));
  CHECK_FALSE(fs::exists(temp.path() / ".tree.compatpack-staging-ghijkl"));
}

TEST_CASE("output_dir: modes are exact whatever the umask") {
  for (const mode_t mask : {mode_t{077}, mode_t{0}}) {
    CAPTURE(mask);
    const TempDir temp;
    const Umask umask(mask);
    const fs::path target = temp.path() / "tree";

    auto dir = staged(target);
    auto file = dir->create(name("being-written"));
    REQUIRE(file);
    const fs::path staging = temp.path() / names_in(temp.path()).front();
    CHECK(mode_of(staging) == 0700);
    CHECK(mode_of(staging / "being-written") == 0600);
    REQUIRE(dir->finish(*std::move(file), name("being-written"), FileMode::data));
    REQUIRE(dir->write_text(name("program"), "x", FileMode::program));
    REQUIRE(dir->copy(name("program"), name("copy"), FileMode::data));
    REQUIRE(dir->commit(Replace::nothing));

    CHECK(mode_of(target) == 0755);
    CHECK(mode_of(target / "being-written") == 0644);
    CHECK(mode_of(target / "program") == 0755);
    CHECK(mode_of(target / "copy") == 0644);
  }
}

TEST_CASE("output_dir: two files of one name are a conflict, and the first stays") {
  const TempDir temp;
  auto dir = staged_with_file(temp.path() / "tree", "first");

  const auto second = dir->create(name("a"));
  REQUIRE_FALSE(second);
  CHECK(second.error().code == Errc::conflict);
  CHECK(second.error().subject == (temp.path() / "tree" / "a").string());
  CHECK_FALSE(dir->link(name("a"), name("b")));
  REQUIRE(dir->write_text(name("b"), "second", FileMode::data));
  CHECK_FALSE(dir->rename(name("b"), name("a")));
  REQUIRE(dir->commit(Replace::nothing));

  CHECK(content_of(temp.path() / "tree" / "a") == "first");
}

TEST_CASE("output_dir: a link planted in the staging folder is never written through") {
  const TempDir temp;
  write(temp.path() / "victim", "untouched");
  auto dir = staged(temp.path() / "tree");
  std::string staging;
  for (const std::string& one : names_in(temp.path())) {
    staging = one.starts_with(".tree") ? one : staging;
  }
  fs::create_symlink("../victim", temp.path() / staging / "planted");

  const auto made = dir->create(name("planted"));
  REQUIRE_FALSE(made);
  CHECK(made.error().code == Errc::conflict);
  CHECK_FALSE(dir->write_text(name("planted"), "evil", FileMode::data));
  CHECK_FALSE(dir->copy(name("planted"), name("copy"), FileMode::data));

  CHECK(content_of(temp.path() / "victim") == "untouched");
}

TEST_CASE("output_dir: files can be renamed, copied and removed before they are seen") {
  const TempDir temp;
  auto dir = staged_with_file(temp.path() / "tree", "content");

  REQUIRE(dir->rename(name("a"), name("b")));
  REQUIRE(dir->copy(name("b"), name("c"), FileMode::program));
  REQUIRE(dir->remove(name("b")));
  CHECK_FALSE(dir->remove(name("b")));
  REQUIRE(dir->commit(Replace::nothing));

  CHECK(names_in(temp.path() / "tree") == std::vector<std::string>{"c"});
  CHECK(content_of(temp.path() / "tree" / "c") == "content");
}

TEST_CASE("output_dir: more files than a process may have open can be written") {
  const TempDir temp;
  struct rlimit old {};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &old) == 0);
  struct rlimit few = old;
  few.rlim_cur = 200;
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &few) == 0);

  auto dir = staged(temp.path() / "tree");
  bool written = true;
  for (int i = 0; i < 300 && written; ++i) {
    const FileName file = name("file-" + std::to_string(i));
    written = static_cast<bool>(dir->write_text(file, "x", FileMode::data));
  }
  const bool committed = written && dir->commit(Replace::nothing);
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &old) == 0);

  CHECK(written);
  CHECK(committed);
  CHECK(names_in(temp.path() / "tree").size() == 300);
}

TEST_CASE("output_dir: folders above the target are made, and go again where there is no commit") {
  const TempDir temp;
  const auto target = temp.path() / "a" / "b" / "tree";
  {
    auto dir = OutputDir::stage(target.string());
    REQUIRE(dir);
    CHECK(fs::is_directory(temp.path() / "a" / "b"));
  }
  CHECK(fs::is_empty(temp.path()));

  auto dir = OutputDir::stage(target.string());
  REQUIRE(dir);
  REQUIRE((*dir)->commit(Replace::nothing));
  dir->reset();
  CHECK(fs::is_directory(target));

  // What is in use by then stays.
  auto again = OutputDir::stage((temp.path() / "c" / "tree").string());
  REQUIRE(again);
  std::ofstream(temp.path() / "c" / "mine") << "x";
  again->reset();
  CHECK(fs::exists(temp.path() / "c" / "mine"));
}

TEST_CASE("output_dir: a parent that is a file, or may not be written to, is an I/O error") {
  const TempDir temp;
  std::ofstream(temp.path() / "file") << "x";

  const auto missing = OutputDir::stage((temp.path() / "file" / "a" / "tree").string());
  REQUIRE_FALSE(missing);
  CHECK(missing.error().code == Errc::io);

  if (::geteuid() != 0) {
    fs::create_directory(temp.path() / "sealed");
    fs::permissions(temp.path() / "sealed", fs::perms::owner_read | fs::perms::owner_exec);
    const auto sealed = OutputDir::stage((temp.path() / "sealed" / "tree").string());
    REQUIRE_FALSE(sealed);
    CHECK(sealed.error().code == Errc::io);
    CHECK(sealed.error().found == "Permission denied");
    fs::permissions(temp.path() / "sealed", fs::perms::owner_all);
  }
}

TEST_CASE("output_dir: a full disk is an error of writing that says so") {
  // The size limit of a process stands in for a full disk: both fail in the middle of a write.
  const TempDir temp;
  auto dir = staged(temp.path() / "tree");
  auto file = dir->create(name("large"));
  REQUIRE(file);
  struct rlimit old {};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &old) == 0);
  struct rlimit small = old;
  small.rlim_cur = 1'000;
  const auto before = std::signal(SIGXFSZ, SIG_IGN);
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
  const auto written = file->write(as_bytes(std::string(5'000, 'x')));
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &old) == 0);
  std::signal(SIGXFSZ, before);

  REQUIRE_FALSE(written);
  CHECK(written.error().code == Errc::io);
  CHECK(written.error().found == "File too large");
  REQUIRE(written.error().at);
  CHECK(written.error().at->value == 1'000);
  CHECK(file->size() == ByteCount{1'000});
}

TEST_CASE("output_dir: a target is a parent and a name") {
  struct Case {
    const char* target;
    const char* parent;
    const char* name;
  };
  for (const Case& c : {Case{"tree", ".", "tree"}, Case{"a/b/tree/", "a/b", "tree"},
                        Case{"/tree", "/", "tree"}, Case{"/a//tree//", "/a/", "tree"}}) {
    CAPTURE(c.target);
    const auto path = split_target(c.target);
    REQUIRE(path);
    CHECK(path->parent == c.parent);
    CHECK(path->name == c.name);
  }
  for (const char* const bad : {"", "/", "//", ".", "..", "a/..", "./", "a/./"}) {
    CAPTURE(bad);
    const auto path = split_target(bad);
    REQUIRE_FALSE(path);
    CHECK(path.error().code == Errc::usage);
    CHECK_FALSE(path.error().subject.empty());
  }
}

TEST_CASE("output_dir: without waiting for the disk the folder appears all the same, whole") {
  const TempDir temp;
  auto dir = OutputDir::stage((temp.path() / "tree").string(), Durability::none);
  REQUIRE(dir);
  REQUIRE((*dir)->write_text(*FileName::parse("a"), "text", FileMode::data));

  REQUIRE((*dir)->commit(Replace::nothing));

  CHECK(std::filesystem::file_size(temp.path() / "tree" / "a") == 4);
}

TEST_CASE("output_dir: files can be made in folders below, and these are gone with the rest") {
  const TempDir temp;
  {
    auto dir = staged(temp.path() / "tree");
    REQUIRE(dir->go_to(*RelPath::parse("a/b")));
    REQUIRE(dir->write_text(name("file"), "below", FileMode::data));
    REQUIRE(dir->rename(name("file"), name("renamed")));
  }
  CHECK(names_in(temp.path()).empty());

  auto dir = staged(temp.path() / "tree");
  REQUIRE(dir->go_to(*RelPath::parse("a/b")));
  REQUIRE(dir->write_text(name("file"), "below", FileMode::data));
  REQUIRE(dir->go_to(*RelPath::parse("a/b")));
  const auto twice = dir->write_text(name("file"), "again", FileMode::data);
  REQUIRE_FALSE(twice);
  CHECK(twice.error().subject == (temp.path() / "tree/a/b/file").string());
  REQUIRE(dir->go_to(*RelPath::parse(".")));
  REQUIRE(dir->write_text(name("file"), "above", FileMode::data));
  CHECK(content_of(fs::path(dir->staged_at()) / "a/b/file") == "below");
  REQUIRE(dir->commit(Replace::nothing));

  CHECK(names_in(temp.path() / "tree") == std::vector<std::string>{"a", "file"});
  CHECK(content_of(temp.path() / "tree/a/b/file") == "below");
  CHECK(content_of(temp.path() / "tree/file") == "above");
  CHECK(mode_of(temp.path() / "tree/a") == 0755);
  CHECK(mode_of(temp.path() / "tree/a/b") == 0755);
}
