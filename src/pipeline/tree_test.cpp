// SPDX-License-Identifier: Apache-2.0
#include "compatpack/pipeline/tree.hpp"

#include <chrono>
#include <filesystem>
#include <fstream>

#include <doctest/doctest.h>
#include <unistd.h>

#include "support/run_file.hpp"
#include "support/temp_dir.hpp"

using namespace compatpack;
using namespace compatpack::pipeline;
using compatpack::test::TempDir;
namespace fs = std::filesystem;
using Kind = TreeFault::Kind;

namespace {

void write(const fs::path& path, std::string_view content) {
  std::ofstream(path, std::ios::binary) << content;
}

/// A tree of one library, one text and two links, with its receipt.
class SampleTree {
 public:
  SampleTree() {
    fs::create_directory(path_);
    add_file("LICENSE", "licence\n", false);
    add_file("libcuda.so.535", "a library", true);
    add_link("libcuda.so", "libcuda.so.1");
    add_link("libcuda.so.1", "libcuda.so.535");
    write(path_ / kReceiptName, render_receipt(receipt));
  }

  [[nodiscard]] fs::path at(const char* name) const { return path_ / name; }
  [[nodiscard]] std::string path() const { return path_.string(); }

  [[nodiscard]] std::vector<TreeFault> faults(TreeCheck how = TreeCheck::digests) const {
    auto found = check_tree(path(), receipt, how);
    REQUIRE(found);
    return *std::move(found);
  }
  /// The one fault that there is.
  [[nodiscard]] TreeFault fault(TreeCheck how = TreeCheck::digests) const {
    auto found = faults(how);
    REQUIRE(found.size() == 1);
    return found.front();
  }
  void add(const char* name, std::string_view content) { add_file(name, content, true); }
  void repair() const { REQUIRE(repair_tree(path(), receipt, faults())); }

  Receipt receipt{.compatpack_version = "0.1.0",
                  .bundles = {{}},
                  .driver_version = "535.54.03",
                  .cuda_version = "12.2",
                  .prefix = "/opt/compat"};

 private:
  void add_file(const char* name, std::string_view content, bool is_program) {
    write(path_ / name, content);
    fs::permissions(path_ / name, fs::perms{is_program ? 0755U : 0644U});
    receipt.files.push_back({.path = name,
                             .size = {content.size()},
                             .sha256 = test::reference_sha256(content),
                             .is_program = is_program});
  }
  void add_link(const char* name, const char* target) {
    fs::create_symlink(target, path_ / name);
    receipt.links.push_back({name, target});
  }

  TempDir temp_;
  fs::path path_ = temp_.path() / "tree";
};

}  // namespace

TEST_CASE("tree: a tree that is as it was made has no faults") {
  const SampleTree tree;

  CHECK(tree.faults().empty());
  CHECK(tree.faults(TreeCheck::sizes).empty());
}

TEST_CASE("tree: in several threads the same is found as in one") {
  SampleTree tree;
  for (unsigned i = 0; i < 20; ++i) {
    tree.add(("libx.so." + std::to_string(i)).c_str(), std::string(1'000U * (20U - i), 'x'));
  }
  write(tree.at("libx.so.3"), std::string(17'000, 'y'));
  fs::remove(tree.at("libx.so.9"));
  const auto paths = [&](unsigned jobs) {
    const auto faults = check_tree(tree.path(), tree.receipt, TreeCheck::digests, jobs);
    REQUIRE(faults);
    std::string out;
    for (const TreeFault& fault : *faults) {
      out += fault.path + " " + describe(fault) + "\n";
    }
    return out;
  };

  CHECK(paths(1) == "libx.so.3 has other content\nlibx.so.9 is missing\n");
  CHECK(paths(4) == paths(1));
  CHECK(paths(100) == paths(1));
}

TEST_CASE("tree: each way in which a tree can differ is found, and told apart") {
  struct Case {
    const char* name;
    void (*change)(const SampleTree&);
    Kind kind;
    const char* path;
    const char* description;
    bool repairable;
  };
  for (const Case& c :
       {Case{"missing", [](const SampleTree& tree) { fs::remove(tree.at("libcuda.so.535")); },
             Kind::missing, "libcuda.so.535", "is missing", false},
        Case{"size", [](const SampleTree& tree) { write(tree.at("libcuda.so.535"), "short"); },
             Kind::wrong_size, "libcuda.so.535", "has another size", false},
        Case{"content",
             [](const SampleTree& tree) { write(tree.at("libcuda.so.535"), "A library"); },
             Kind::wrong_content, "libcuda.so.535", "has other content", false},
        Case{"mode",
             [](const SampleTree& tree) {
               fs::permissions(tree.at("libcuda.so.535"), fs::perms{0644});
             },
             Kind::wrong_mode, "libcuda.so.535", "has another mode", true},
        Case{"sealed",
             [](const SampleTree& tree) { fs::permissions(tree.at("LICENSE"), fs::perms::none); },
             Kind::wrong_mode, "LICENSE", "has another mode", true},
        Case{"folder for a file",
             [](const SampleTree& tree) {
               fs::remove(tree.at("LICENSE"));
               fs::create_directory(tree.at("LICENSE"));
             },
             Kind::not_a_file, "LICENSE", "is not a file", false},
        Case{"link for a file",
             [](const SampleTree& tree) {
               fs::remove(tree.at("LICENSE"));
               fs::create_symlink("libcuda.so.535", tree.at("LICENSE"));
             },
             Kind::not_a_file, "LICENSE", "is not a file", false},
        Case{"no link", [](const SampleTree& tree) { fs::remove(tree.at("libcuda.so.1")); },
             Kind::link_missing, "libcuda.so.1", "is missing", true},
        Case{"other link",
             [](const SampleTree& tree) {
               fs::remove(tree.at("libcuda.so.1"));
               fs::create_symlink("/usr/lib/libcuda.so.1", tree.at("libcuda.so.1"));
             },
             Kind::wrong_link, "libcuda.so.1", "leads elsewhere", true},
        Case{"copy for a link",
             [](const SampleTree& tree) {
               fs::remove(tree.at("libcuda.so.1"));
               fs::copy_file(tree.at("libcuda.so.535"), tree.at("libcuda.so.1"));
             },
             Kind::link_is_a_file, "libcuda.so.1",
             "is a file where a link should be (a copy that followed links?)", true},
        Case{"folder for a link",
             [](const SampleTree& tree) {
               fs::remove(tree.at("libcuda.so.1"));
               fs::create_directory(tree.at("libcuda.so.1"));
             },
             Kind::not_a_link, "libcuda.so.1", "is not a link", false},
        Case{"extra", [](const SampleTree& tree) { write(tree.at("notes.txt"), "mine"); },
             Kind::extra, "notes.txt", "is not of this tree", false}}) {
    CAPTURE(c.name);
    const SampleTree tree;
    c.change(tree);

    const TreeFault fault = tree.fault();

    CHECK(fault.kind == c.kind);
    CHECK(fault.path == c.path);
    CHECK(describe(fault) == c.description);
    CHECK(is_repairable(fault) == c.repairable);
    tree.repair();
    CHECK(tree.faults().empty() == c.repairable);
  }
}

TEST_CASE("tree: a quick look does not read content, and a thorough one does") {
  const SampleTree tree;
  write(tree.at("libcuda.so.535"), "A library");

  CHECK(tree.faults(TreeCheck::sizes).empty());
  CHECK(tree.fault().found == test::reference_sha256("A library"));
}

TEST_CASE("tree: faults are sorted, and say what was expected and found") {
  const SampleTree tree;
  fs::remove(tree.at("libcuda.so.1"));
  fs::remove(tree.at("LICENSE"));
  write(tree.at("a"), "");

  const auto faults = tree.faults();

  REQUIRE(faults.size() == 3);
  CHECK(faults[0].path == "LICENSE");
  CHECK(faults[0].expected == "a file of 8 bytes");
  CHECK(faults[0].found == "nothing");
  CHECK(faults[1].path == "a");
  CHECK(faults[2].expected == "a link to libcuda.so.535");
}

TEST_CASE("tree: modes that a umask or a group has widened or narrowed without harm are no fault") {
  const SampleTree tree;
  fs::permissions(tree.at("libcuda.so.535"), fs::perms{0775});
  fs::permissions(tree.at("LICENSE"), fs::perms{0444});

  CHECK(tree.faults().empty());

  fs::permissions(tree.at("LICENSE"), fs::perms{0600});
  CHECK(tree.fault().expected == "mode 0644");
  CHECK(tree.fault().found == "mode 0600");
}

TEST_CASE("tree: repair leaves alone what it cannot mend, and what is not of the tree") {
  const SampleTree tree;
  write(tree.at("libcuda.so.535"), "short");
  write(tree.at("notes.txt"), "mine");
  fs::remove(tree.at("libcuda.so"));

  tree.repair();

  const auto faults = tree.faults();
  REQUIRE(faults.size() == 2);
  CHECK(faults[0].kind == Kind::wrong_size);
  CHECK(faults[1].kind == Kind::extra);
  CHECK(fs::read_symlink(tree.at("libcuda.so")) == "libcuda.so.1");
}

TEST_CASE("tree: what stands at a path is nothing, a tree, or something foreign") {
  const SampleTree tree;
  const auto place = look_at_tree(tree.path());
  REQUIRE(place);
  CHECK(place->kind == TreePlace::Kind::tree);
  CHECK(place->receipt->driver_version == "535.54.03");

  const TempDir temp;
  CHECK(look_at_tree((temp.path() / "no").string())->kind == TreePlace::Kind::nothing);
  CHECK(look_at_tree(temp.path().string())->kind == TreePlace::Kind::nothing);

  write(temp.path() / "file", "x");
  const auto folder = look_at_tree(temp.path().string());
  CHECK(folder->kind == TreePlace::Kind::foreign);
  CHECK(folder->why == "has files, and no compatpack.json");
  CHECK(look_at_tree((temp.path() / "file").string())->why == "is not a folder");
  fs::create_symlink("nowhere", temp.path() / "dangling");
  CHECK(look_at_tree((temp.path() / "dangling").string())->kind == TreePlace::Kind::foreign);
}

TEST_CASE("tree: links that lead in a circle lead to no file, and are found in no time") {
  Receipt receipt;
  const TempDir temp;
  constexpr int kLinks = 2'000;
  for (int i = 0; i < kLinks; ++i) {
    receipt.links.push_back({std::to_string(i), std::to_string((i + 1) % kLinks)});
    write(temp.path() / std::to_string(i), "");
  }
  const auto begun = std::chrono::steady_clock::now();

  const auto faults = check_tree(temp.path().string(), receipt, TreeCheck::sizes);

  REQUIRE(faults);
  CHECK(faults->size() == kLinks);
  CHECK(faults->front().kind == Kind::not_a_link);
  CHECK(std::chrono::steady_clock::now() - begun < std::chrono::seconds(5));
}

TEST_CASE("tree: hashing stops where somebody asks for it, in every thread") {
  const SampleTree tree;
  for (const unsigned jobs : {1U, 2U}) {
    const auto faults =
        check_tree(tree.path(), tree.receipt, TreeCheck::digests, jobs, [] { return true; });
    REQUIRE_FALSE(faults);
    CHECK(faults.error().code == Errc::interrupted);
  }
  CHECK(check_tree(tree.path(), tree.receipt, TreeCheck::digests, 1, [] { return false; }));
}

TEST_CASE("tree: a receipt that is none makes the folder foreign") {
  const TempDir temp;
  write(temp.path() / "compatpack.json", "{}");
  CHECK(look_at_tree(temp.path().string())->why == "compatpack.json: not a receipt of compatpack");

  fs::remove(temp.path() / "compatpack.json");
  fs::create_directory(temp.path() / "compatpack.json");
  const auto place = look_at_tree(temp.path().string());
  REQUIRE(place);
  CHECK(place->kind == TreePlace::Kind::foreign);
  CHECK(place->why == "compatpack.json: not a text file");
}

TEST_CASE("tree: reading what is no tree says what is there") {
  const TempDir temp;

  const auto nothing = read_tree((temp.path() / "no").string());
  REQUIRE_FALSE(nothing);
  CHECK(nothing.error().code == Errc::io);
  CHECK(nothing.error().found == "nothing there");

  write(temp.path() / "file", "x");
  const auto foreign = read_tree(temp.path().string());
  REQUIRE_FALSE(foreign);
  CHECK(foreign.error().code == Errc::not_recognized);
  CHECK(foreign.error().subject == temp.path().string());
  CHECK_FALSE(check_tree((temp.path() / "file").string(), {}, TreeCheck::sizes));
}
