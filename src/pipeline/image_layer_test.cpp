// SPDX-License-Identifier: Apache-2.0
#include "compatpack/pipeline/image_layer.hpp"

#include <array>
#include <filesystem>
#include <fstream>

#include <doctest/doctest.h>

#include "compatpack/formats/archive.hpp"
#include "compatpack/pipeline/activation.hpp"
#include "compatpack/pipeline/tree.hpp"

#include "support/run_file.hpp"
#include "support/temp_dir.hpp"

using namespace compatpack;
using namespace compatpack::pipeline;
namespace fs = std::filesystem;

namespace {

/// A tree of a library, a script, a link and a file of the bundle's that has a script's name.
class SampleTree {
 public:
  SampleTree() {
    add("libcuda.so.535.1", std::string(600'000, 'x'), true, "libcuda.so.535.1");
    add("env.sh", make_env_sh({DriverVersion::parse("535.1"), "/made"}), false, "");
    add("env.csh", "of the bundle", false, "env.csh");
    receipt.links.push_back({"libcuda.so.1", "libcuda.so.535.1"});
  }

  void add(const std::string& name, const std::string& content, bool is_program,
           const std::string& from) {
    write(name, content);
    receipt.files.push_back({.path = name,
                             .size = {content.size()},
                             .sha256 = test::reference_sha256(content),
                             .is_program = is_program,
                             .from = from});
  }
  void write(const std::string& name, const std::string& content) const {
    std::ofstream(temp_.path() / name, std::ios::binary) << content;
  }

  [[nodiscard]] Result<std::string> layer(const std::string& prefix,
                                          const LayerPlace& place) const {
    CP_TRY(const auto folder, io::TreeFolder::open(temp_.path().string()));
    std::string bytes;
    CP_CHECK(write_layer(*folder, move_tree(receipt, prefix), place, 0, nullptr,
                         [&bytes](std::span<const std::byte> more) -> Result<Done> {
                           bytes += as_text(more);
                           return Done{};
                         }));
    return bytes;
  }

  Receipt receipt{.compatpack_version = "0.0.1",
                  .bundles = {{}},
                  .driver_version = "535.1",
                  .cuda_version = "12.2",
                  .prefix = "/made"};

 private:
  test::TempDir temp_;
};

struct Entry {
  std::string path;
  unsigned mode;
  std::string content;  ///< or target
};

std::vector<Entry> entries_of(const std::string& tar) {
  io::MemorySource source(as_bytes(tar));
  auto reader = formats::ArchiveReader::open(source, Limits{});
  REQUIRE(reader);
  std::vector<Entry> entries;
  for (;;) {
    auto entry = (*reader)->next();
    REQUIRE(entry);
    if (!*entry) {
      return entries;
    }
    std::string content = (*entry)->link_target;
    std::array<std::byte, 4096> block{};
    for (;;) {
      const auto count = (*reader)->read(block);
      REQUIRE(count);
      if (*count == 0) {
        break;
      }
      content += as_text(std::span(block).first(*count));
    }
    entries.push_back({(*entry)->path, (*entry)->mode_bits, std::move(content)});
  }
}

RelPath path(std::string_view text) { return *RelPath::parse(text); }

}  // namespace

TEST_CASE("image_layer: where the tree was made for the place it is as it is") {
  const SampleTree tree;

  const auto layer = tree.layer("/made", new_place(path("made")));

  REQUIRE(layer);
  const auto entries = entries_of(*layer);
  REQUIRE(entries.size() == 6);
  CHECK(entries[1].path == "made/compatpack.json");
  CHECK(entries[1].content == render_receipt(tree.receipt));
}

TEST_CASE("image_layer: elsewhere, the scripts and the receipt are those for there") {
  const SampleTree tree;

  const auto layer = tree.layer("/opt/compat", new_place(path("opt/compat")));

  REQUIRE(layer);
  const auto entries = entries_of(*layer);
  std::string shown;
  for (const Entry& entry : entries) {
    shown += entry.path + "\n";
  }
  CHECK(shown ==
        "opt/\nopt/compat/\nopt/compat/compatpack.json\nopt/compat/env.csh\nopt/compat/env.sh\n"
        "opt/compat/libcuda.so.1\nopt/compat/libcuda.so.535.1\n");
  const std::string script = make_env_sh({DriverVersion::parse("535.1"), "/opt/compat"});
  CHECK(entries[3].content == "of the bundle");
  CHECK(entries[4].content == script);
  CHECK(entries[5].content == "libcuda.so.535.1");
  CHECK(entries[6].content == std::string(600'000, 'x'));
  CHECK(entries[0].mode == 0755);
  CHECK(entries[4].mode == 0644);
  CHECK(entries[6].mode == 0755);

  const auto receipt = parse_receipt(entries[2].content);
  REQUIRE(receipt);
  CHECK(receipt->prefix == "/opt/compat");
  CHECK(receipt->compatpack_version == compatpack_version());
  CHECK(receipt->files[1].sha256 == test::reference_sha256(script));
  CHECK(receipt->files[1].size == ByteCount{script.size()});
  CHECK(receipt->files[2].sha256 == tree.receipt.files[2].sha256);
}

TEST_CASE("image_layer: at the root there are no folders") {
  const SampleTree tree;

  const auto layer = tree.layer("/opt/compat", {});

  REQUIRE(layer);
  CHECK(entries_of(*layer).front().path == "compatpack.json");
}

TEST_CASE("image_layer: folders are as said, and what was in the tree's goes") {
  const SampleTree tree;
  LayerPlace place = new_place(path("tmp/compat"));
  place.folders[0].said.mode = 01777;
  place.hides_old = true;

  const auto layer = tree.layer("/tmp/compat", place);

  REQUIRE(layer);
  const auto entries = entries_of(*layer);
  CHECK(entries[0].path == "tmp/");
  CHECK(entries[0].mode == 01777);
  CHECK(entries[1].path == "tmp/compat/");
  CHECK(entries[1].mode == 0755);
  CHECK(entries[2].path == "tmp/compat/.wh..wh..opq");
  CHECK(entries[2].content.empty());
}

TEST_CASE("image_layer: no name hides what another layer has") {
  for (const char* const name : {".wh.bin", ".wh..wh..opq", ".wh."}) {
    CAPTURE(name);
    SampleTree tree;
    tree.add(name, "text", false, name);

    const auto layer = tree.layer("/made", new_place(path("made")));

    REQUIRE_FALSE(layer);
    CHECK(layer.error().code == Errc::unsupported);
    CHECK(layer.error().found == name);
  }
  SampleTree tree;
  tree.add("a.wh.b", "text", false, "a.wh.b");
  CHECK(tree.layer("/made", new_place(path("made"))));
}

TEST_CASE("image_layer: a file that is not what the receipt says is found on the way") {
  for (const char* const name : {"libcuda.so.535.1", "env.sh", "env.csh"}) {
    CAPTURE(name);
    SampleTree tree;
    for (const ReceiptFile& file : tree.receipt.files) {
      if (file.path == name) {
        tree.write(name, std::string(file.size.value, 'y'));
      }
    }

    for (const char* const prefix : {"/made", "/elsewhere"}) {
      const auto layer = tree.layer(prefix, new_place(path("made")));
      REQUIRE_FALSE(layer);
      CHECK(layer.error().code == Errc::mismatch);
      CHECK(layer.error().subject.ends_with("/" + std::string(name)));
    }
  }
}

TEST_CASE("image_layer: a file that is shorter or longer than it was is an error") {
  for (const std::size_t size : {1U, 700'000U}) {
    CAPTURE(size);
    const SampleTree tree;
    tree.write("libcuda.so.535.1", std::string(size, 'x'));

    const auto layer = tree.layer("/made", new_place(path("made")));

    REQUIRE_FALSE(layer);
    CHECK(layer.error().code != Errc::io);
  }
}
