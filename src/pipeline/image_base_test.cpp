// SPDX-License-Identifier: Apache-2.0
#include "compatpack/pipeline/image_base.hpp"

#include <filesystem>
#include <fstream>

#include <doctest/doctest.h>

#include "support/compress.hpp"
#include "support/run_file.hpp"
#include "support/tar_file.hpp"
#include "support/temp_dir.hpp"

using namespace compatpack;
using namespace compatpack::pipeline;
using compatpack::formats::TarFolder;
using test::TarFile;
namespace fs = std::filesystem;

namespace {

/// Where a tree at usr/local/cuda/compat would lie on layers that hold `layers`, the lowest first.
Result<LayerPlace> place_on(const std::vector<std::string>& layers) {
  const test::TempDir temp;
  const auto write = [&temp](const std::string& name, const std::string& content) {
    std::ofstream(temp.path() / name, std::ios::binary) << content;
  };
  fs::create_directories(temp.path() / "blobs/sha256");
  write("oci-layout", R"({"imageLayoutVersion":"1.0.0"})");
  write("index.json", "{}");
  LayoutImage image;
  for (const std::string& layer : layers) {
    const std::string digest = test::reference_sha256(layer);
    write("blobs/sha256/" + digest, layer);
    image.manifest.layers.push_back({"", digest, {layer.size()}});
  }
  CP_TRY(const ImageLayout layout, ImageLayout::open(temp.path().string()));
  return place_on_base(layout, image, *RelPath::parse("usr/local/cuda/compat"), nullptr);
}

Result<LayerPlace> place_on(const std::vector<TarFile>& layers) {
  std::vector<std::string> all;
  for (const TarFile& layer : layers) {
    all.push_back(layer.bytes());
  }
  return place_on(all);
}

/// "link", "file": what is in the way; "old": there is a tree already; "free".
std::string outcome(const std::vector<TarFile>& layers) {
  const auto place = place_on(layers);
  if (place) {
    return place->hides_old ? "old" : "free";
  }
  REQUIRE(place.error().code == Errc::conflict);
  return place.error().found.find("a link to ") != std::string::npos ? "link" : "file";
}

TarFile tree() { return TarFile().file("usr/local/cuda/compat/libcuda.so.1.0", "old"); }
TarFile linked() { return TarFile().symlink("usr/local/cuda", "cuda-12.4"); }

}  // namespace

TEST_CASE("image_base: folders of the base stay as they are") {
  for (const auto compression :
       {formats::Compression::none, formats::Compression::gzip, formats::Compression::zstd}) {
    const auto place = place_on({test::compress(compression, TarFile()
                                                                 .folder("./")
                                                                 .folder("./usr/", 01777)
                                                                 .folder("./usr/local/", 0700)
                                                                 .with_owner_field("0000012")
                                                                 .file("./usr/local/file", "x")
                                                                 .bytes())});

    REQUIRE(place);
    REQUIRE(place->folders.size() == 4);
    CHECK(place->folders[0].path.text() == "usr");
    CHECK(place->folders[0].said == TarFolder{01777, 0, 0});
    CHECK(place->folders[1].said == TarFolder{0700, 10, 0});
    CHECK(place->folders[2].said == TarFolder{});
    CHECK(place->folders[3].path.text() == "usr/local/cuda/compat");
    CHECK_FALSE(place->hides_old);
  }
}

TEST_CASE("image_base: a link or file in the way is refused and named") {
  const auto place = place_on({linked().folder("usr/local/cuda-12.4/lib64")});

  REQUIRE_FALSE(place);
  CHECK(place.error().code == Errc::conflict);
  CHECK(place.error().found == "/usr/local/cuda, a link to cuda-12.4");
  CHECK(outcome({TarFile().file("usr", "")}) == "file");
  CHECK(outcome({TarFile().fifo("usr/local")}) == "file");
  CHECK(outcome({TarFile().file("x", "").hardlink("usr/local/cuda", "x")}) == "file");
  CHECK(outcome({TarFile().symlink("usr/local/cuda/compat", "../compat")}) == "link");
  CHECK(outcome({TarFile().symlink("/usr//./local/../local/cuda", "x")}) == "link");
  // Through the link, and beside it.
  CHECK(outcome({linked(), tree()}) == "link");
  CHECK(outcome({TarFile().symlink("usr/local/cuda-12", "x").symlink("cuda", "x")}) == "free");
}

TEST_CASE("image_base: later layers are on top of earlier ones") {
  struct Case {
    const char* name;
    std::vector<TarFile> layers;
    const char* expected;
  };
  for (const Case& c : {
           Case{"none", {}, "free"},
           Case{"a tree", {tree()}, "old"},
           Case{"an empty folder", {TarFile().folder("usr/local/cuda/compat/")}, "old"},
           Case{"a link instead of a tree", {tree(), linked()}, "link"},
           Case{"and a folder again",
                {tree(), linked(), TarFile().folder("usr/local/cuda")},
                "free"},
           Case{"a folder again", {tree(), TarFile().folder("usr/local/cuda")}, "old"},
           Case{"the tree gone", {tree(), TarFile().file("usr/local/cuda/.wh.compat", "")}, "free"},
           Case{"cuda gone", {tree(), TarFile().file("usr/local/.wh.cuda", "")}, "free"},
           Case{"a link gone", {linked(), TarFile().file("usr/local/.wh.cuda", "")}, "free"},
           Case{"all gone", {linked(), TarFile().file(".wh..wh..opq", "")}, "free"},
           Case{"all in it gone", {tree(), TarFile().file("usr/.wh..wh..opq", "")}, "free"},
           Case{"what is in the tree gone",
                {tree(), TarFile().file("usr/local/cuda/compat/.wh..wh..opq", "")},
                "old"},
           Case{"another gone", {tree(), TarFile().file("usr/local/.wh.cud", "")}, "old"},
           Case{
               "gone in the layer that has it anew, before",
               {linked(), TarFile().file("usr/local/.wh.cuda", "").folder("usr/local/cuda/compat")},
               "old"},
           Case{
               "and after",
               {linked(), TarFile().folder("usr/local/cuda/compat").file("usr/local/.wh.cuda", "")},
               "old"},
           Case{
               "gone in the layer that has the link", {linked().file("usr/.wh.local", "")}, "link"},
       }) {
    CAPTURE(c.name);
    CHECK(outcome(c.layers) == c.expected);
  }
}

TEST_CASE("image_base: a layer that is no archive is refused, and named") {
  for (const std::string& layer :
       {std::string("no archive"), TarFile().file("a", "x").with_checksum_field("1").bytes(),
        test::compress(formats::Compression::gzip, tree().bytes()).substr(0, 50)}) {
    const auto place = place_on(std::vector<std::string>{layer});

    REQUIRE_FALSE(place);
    CHECK(place.error().code == Errc::corrupt);
    CHECK(place.error().subject.ends_with(test::reference_sha256(layer)));
  }
}
