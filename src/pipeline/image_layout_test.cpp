// SPDX-License-Identifier: Apache-2.0
#include "compatpack/pipeline/image_layout.hpp"

#include <filesystem>
#include <fstream>
#include <functional>

#include <doctest/doctest.h>
#include <sys/stat.h>

#include "support/run_file.hpp"
#include "support/temp_dir.hpp"

using namespace compatpack;
using namespace compatpack::pipeline;
using compatpack::formats::OciDescriptor;
namespace fs = std::filesystem;

namespace {

constexpr std::string_view kIndexType = "application/vnd.oci.image.index.v1+json";

std::string json_of(const OciDescriptor& blob, const std::string& more = "") {
  return R"({"mediaType":")" + blob.media_type + R"(","digest":"sha256:)" + blob.sha256 +
         R"(","size":)" + std::to_string(blob.size.value) + more + "}";
}

std::string platform(const std::string& architecture, const std::string& os = "linux") {
  return R"(,"platform":{"architecture":")" + architecture + R"(","os":")" + os + R"("})";
}

/// A layout, put together as somebody else would.
class SampleLayout {
 public:
  SampleLayout() {
    fs::create_directories(blobs());
    write("oci-layout", R"({"imageLayoutVersion":"1.0.0"})");
  }

  [[nodiscard]] std::string path() const { return (temp_.path() / "layout").string(); }
  [[nodiscard]] fs::path at(const std::string& name) const { return fs::path(path()) / name; }
  [[nodiscard]] fs::path blobs() const { return at("blobs/sha256"); }
  [[nodiscard]] fs::path at(const OciDescriptor& blob) const { return blobs() / blob.sha256; }

  void write(const std::string& name, std::string_view content) const {
    std::ofstream(at(name), std::ios::binary) << content;
  }
  [[nodiscard]] OciDescriptor add(std::string_view type, std::string_view content) const {
    OciDescriptor blob{std::string(type), test::reference_sha256(content), {content.size()}};
    std::ofstream(at(blob), std::ios::binary) << content;
    return blob;
  }
  void index(const std::string& entries) const {
    write("index.json", R"({"manifests":[)" + entries + "]}");
  }

  /// A manifest of an image with one layer; its parts are in `config` and `layer`.
  OciDescriptor image(const std::string& architecture, const std::string& content = "layer",
                      const std::string& more = "", const std::string& made_by = "") {
    const std::string history =
        made_by.empty() ? "" : R"(,"history":[{"created_by":")" + made_by + R"("}])";
    layer = add(formats::kOciLayerType, content);
    config = add(formats::kOciConfigType, R"({"os":"linux","architecture":")" + architecture +
                                              R"(","rootfs":{"diff_ids":["sha256:)" + layer.sha256 +
                                              R"("]})" + history + "}");
    manifest = add(formats::kOciManifestType, R"({"config":)" + json_of(config) + R"(,"layers":[)" +
                                                  json_of(layer) + "]" + more + "}");
    return manifest;
  }

  [[nodiscard]] Result<LayoutImage> choose(std::string_view architecture = "amd64") const {
    CP_TRY(const ImageLayout layout, ImageLayout::open(path()));
    return choose_image(layout, architecture);
  }
  /// The error of choosing.
  [[nodiscard]] Error refusal() const {
    const auto image = choose();
    REQUIRE_FALSE(image);
    return image.error();
  }

  OciDescriptor layer;
  OciDescriptor config;
  OciDescriptor manifest;

 private:
  test::TempDir temp_;
};

/// One that compatpack would have made.
std::string own_annotation() { return R"(,"annotations":{"compatpack.version":"0.1.0"})"; }

}  // namespace

TEST_CASE("image_layout: the one image for the architecture is found by its config") {
  SampleLayout layout;
  const auto arm = layout.image("arm64", "arm");
  const auto amd = layout.image("amd64");
  layout.index(json_of(arm) + "," + json_of(amd));

  const auto image = layout.choose();

  REQUIRE(image);
  CHECK(image->descriptor == amd);
  CHECK(image->manifest.layers == std::vector<OciDescriptor>{layout.layer});
  CHECK(image->config.find("amd64") != std::string::npos);
}

TEST_CASE("image_layout: an index in the index is looked into, and platforms are believed") {
  SampleLayout layout;
  const auto arm = layout.image("arm64", "arm");
  const auto amd = layout.image("amd64");
  // What is not for this platform need not be there at all.
  const OciDescriptor absent{std::string(formats::kOciManifestType), std::string(64, '0'), {9}};
  const auto inner =
      layout.add(kIndexType, R"({"manifests":[)" + json_of(amd, platform("amd64")) + "," +
                                 json_of(arm, platform("arm64")) + "," +
                                 json_of(absent, platform("unknown", "unknown")) + "]}");
  layout.index(json_of(inner));

  const auto image = layout.choose();
  REQUIRE(image);
  CHECK(image->descriptor == amd);
  const auto other = layout.choose("arm64");
  REQUIRE(other);
  CHECK(other->descriptor == arm);
}

TEST_CASE("image_layout: none or several is refused, and the same one twice is one") {
  SampleLayout layout;
  const auto one = layout.image("amd64");
  layout.index(json_of(one) + "," + json_of(one));
  CHECK(layout.choose());

  const auto none = layout.choose("ppc64le");
  REQUIRE_FALSE(none);
  CHECK(none.error().code == Errc::unsupported);
  CHECK(none.error().expected == "one image for linux/ppc64le");
  CHECK(none.error().found == "none linux/amd64");

  const auto other = layout.image("amd64", "other");
  layout.index(json_of(one) + "," + json_of(other));
  CHECK(layout.refusal().code == Errc::unsupported);
  CHECK(layout.refusal().found == "sha256:" + one.sha256 + ", sha256:" + other.sha256);

  layout.index("");
  CHECK(layout.refusal().found == "none");
}

TEST_CASE("image_layout: what is listed and no image is passed over") {
  SampleLayout layout;
  const auto image = layout.image("amd64");
  const auto signature =
      layout.add(formats::kOciManifestType,
                 R"({"config":)" + json_of(layout.add("application/x-signature", "{}")) + "}");
  layout.index(json_of(signature) + "," + json_of(image));
  CHECK(layout.choose());

  layout.index(json_of(signature));
  CHECK(layout.refusal().found == "none application/x-signature");
}

TEST_CASE("image_layout: at the second image that fits, no more are read") {
  SampleLayout layout;
  const auto one = layout.image("amd64");
  const auto two = layout.image("amd64", "two");
  const OciDescriptor absent{std::string(formats::kOciManifestType), std::string(64, '0'), {9}};
  layout.index(json_of(one) + "," + json_of(two) + "," + json_of(absent));

  CHECK(layout.refusal().found == "sha256:" + one.sha256 + ", sha256:" + two.sha256);
}

TEST_CASE("image_layout: documents without end are a limit") {
  SampleLayout layout;
  layout.image("arm64");
  std::string text = R"({"os":"linux","architecture":"arm64","rootfs":{"diff_ids":[]}})";
  text.resize(formats::kOciDocumentMax.value, ' ');
  const auto config = layout.add(formats::kOciConfigType, text);
  std::string entries;
  for (int i = 0; i < 17; ++i) {
    const auto manifest =
        layout.add(formats::kOciManifestType,
                   R"({"config":)" + json_of(config) + R"(,"n":)" + std::to_string(i) + "}");
    entries += (i == 0 ? "" : ",") + json_of(manifest);
    layout.index(entries);
    if (i == 13) {
      CHECK(layout.refusal().code == Errc::unsupported);
    }
  }
  CHECK(layout.refusal().code == Errc::limit);
}

TEST_CASE("image_layout: of a damaged layout of ours is said what is damaged") {
  SampleLayout layout;
  layout.index(json_of(layout.image("amd64", "layer", own_annotation())));
  std::ofstream(layout.at(layout.manifest), std::ios::in | std::ios::binary) << "x";

  const auto place = look_at_layout(layout.path());
  REQUIRE(place);
  CHECK(place->why == layout.at(layout.manifest).string() + ": blob does not match its digest");

  fs::remove(layout.at(layout.manifest));
  const auto missing = look_at_layout(layout.path());
  REQUIRE_FALSE(missing);
  CHECK(missing.error().code == Errc::io);
}

TEST_CASE("image_layout: a base that lies or is damaged is refused, and says where") {
  struct Case {
    const char* name;
    std::function<void(SampleLayout&)> change;
    Errc code;
    const char* what;
  };
  const auto other = [](const fs::path& path, const std::string& content) {
    fs::remove_all(path);
    std::ofstream(path, std::ios::binary) << content;
  };
  const auto same_size = [&other](const fs::path& path) {
    other(path, std::string(fs::file_size(path), 'x'));
  };
  const auto linked = [](const fs::path& path) {
    fs::rename(path, path.string() + "-moved");
    fs::create_symlink(path.string() + "-moved", path);
  };
  for (const Case& c : {
           Case{"manifest changed", [&](SampleLayout& l) { same_size(l.at(l.manifest)); },
                Errc::mismatch, "blob does not match its digest"},
           Case{"config changed", [&](SampleLayout& l) { same_size(l.at(l.config)); },
                Errc::mismatch, "blob does not match its digest"},
           Case{"config longer", [&](SampleLayout& l) { other(l.at(l.config), "{} and more"); },
                Errc::corrupt, "blob has another size than is said of it"},
           Case{"manifest missing", [](SampleLayout& l) { fs::remove(l.at(l.manifest)); }, Errc::io,
                "cannot open"},
           Case{"config missing", [](SampleLayout& l) { fs::remove(l.at(l.config)); }, Errc::io,
                "cannot open"},
           Case{"blob is a link", [&](SampleLayout& l) { linked(l.at(l.config)); }, Errc::io,
                "cannot open"},
           Case{"blob is a folder",
                [](SampleLayout& l) {
                  fs::remove(l.at(l.config));
                  fs::create_directory(l.at(l.config));
                },
                Errc::not_recognized, "not a regular file"},
           Case{"blob is a FIFO",
                [](SampleLayout& l) {
                  fs::remove(l.at(l.config));
                  REQUIRE(::mkfifo(l.at(l.config).c_str(), 0600) == 0);
                },
                Errc::not_recognized, "not a regular file"},
           Case{"blobs is a link", [&](SampleLayout& l) { linked(l.at("blobs")); }, Errc::io,
                "cannot open the folder"},
           Case{"sha256 is a link", [&](SampleLayout& l) { linked(l.blobs()); }, Errc::io,
                "cannot open the folder"},
           Case{"index is a link", [&](SampleLayout& l) { linked(l.at("index.json")); }, Errc::io,
                "cannot open"},
           Case{"no index", [](SampleLayout& l) { fs::remove(l.at("index.json")); },
                Errc::not_recognized, "not an OCI image layout"},
           Case{"no oci-layout", [](SampleLayout& l) { fs::remove(l.at("oci-layout")); },
                Errc::not_recognized, "not an OCI image layout"},
           Case{"no folder", [](SampleLayout& l) { fs::remove_all(l.path()); }, Errc::io,
                "cannot open the folder"},
           Case{"a file", [&](SampleLayout& l) { other(l.path(), "x"); }, Errc::not_recognized,
                "not an OCI image layout"},
           Case{"index is no JSON", [&](SampleLayout& l) { other(l.at("index.json"), "<html>"); },
                Errc::corrupt, "not an image index that can be read"},
           Case{"index is huge",
                [](SampleLayout& l) { fs::resize_file(l.at("index.json"), 5U << 20U); },
                Errc::limit, "text is too large"},
           Case{"digest leads elsewhere",
                [](SampleLayout& l) {
                  l.index(R"({"mediaType":")" + l.manifest.media_type +
                          R"(","digest":"sha256:../../index.json","size":7})");
                },
                Errc::unsupported, "not an image index that can be read"},
           Case{"size lies",
                [](SampleLayout& l) {
                  l.manifest.size.value += 1;
                  l.index(json_of(l.manifest));
                },
                Errc::corrupt, "blob has another size than is said of it"},
           Case{"manifest is huge",
                [](SampleLayout& l) {
                  l.index(json_of(l.add(formats::kOciManifestType, std::string(5U << 20U, ' '))));
                },
                Errc::limit, "text is too large"},
           Case{"index of itself, as far as it goes",
                [](SampleLayout& l) {
                  std::string entries = json_of(l.manifest);
                  for (int i = 0; i < 10; ++i) {
                    entries = json_of(l.add(kIndexType, R"({"manifests":[)" + entries + "]}"));
                  }
                  l.index(entries);
                },
                Errc::limit, "indexes in indexes without end"},
           Case{"config of other layers",
                [](SampleLayout& l) {
                  const auto config =
                      l.add(formats::kOciConfigType,
                            R"({"os":"linux","architecture":"amd64","rootfs":{"diff_ids":[]}})");
                  l.index(json_of(l.add(formats::kOciManifestType,
                                        R"({"config":)" + json_of(config) + R"(,"layers":[)" +
                                            json_of(l.layer) + "]}")));
                },
                Errc::corrupt, "config is not of the manifest's layers"},
       }) {
    CAPTURE(c.name);
    SampleLayout layout;
    layout.index(json_of(layout.image("amd64")));
    REQUIRE(layout.choose());
    c.change(layout);

    const Error error = layout.refusal();

    CHECK(error.code == c.code);
    CHECK(error.what == c.what);
    CHECK(error.subject.starts_with(layout.path()));
  }
}

TEST_CASE("image_layout: a layer is opened only with the size that was said") {
  SampleLayout layout;
  layout.index(json_of(layout.image("amd64")));
  const auto opened = ImageLayout::open(layout.path());
  REQUIRE(opened);
  CHECK(opened->open_blob(layout.layer, nullptr));

  fs::resize_file(layout.at(layout.layer), 1);

  const auto shorter = opened->open_blob(layout.layer, nullptr);
  REQUIRE_FALSE(shorter);
  CHECK(shorter.error().code == Errc::corrupt);
  CHECK(shorter.error().expected == "5 bytes");
  CHECK(shorter.error().found == "1");
}

TEST_CASE("image_layout: only a layout of ours, and of nothing else, may be replaced") {
  using Kind = LayoutPlace::Kind;
  struct Case {
    const char* name;
    std::function<void(SampleLayout&)> change;
    Kind kind;
    bool whole;
  };
  for (const Case& c : {
           Case{"ours", [](SampleLayout&) {}, Kind::layout, true},
           Case{"layer cut", [](SampleLayout& l) { fs::resize_file(l.at(l.layer), 1); },
                Kind::layout, false},
           Case{"layer missing", [](SampleLayout& l) { fs::remove(l.at(l.layer)); }, Kind::layout,
                false},
           Case{"another's", [](SampleLayout& l) { l.index(json_of(l.image("amd64"))); },
                Kind::foreign, false},
           Case{"a blob more", [](SampleLayout& l) { static_cast<void>(l.add("x", "y")); },
                Kind::foreign, false},
           Case{"a file more", [](SampleLayout& l) { l.write("notes", "mine"); }, Kind::foreign,
                false},
           Case{"another algorithm",
                [](SampleLayout& l) { fs::create_directory(l.at("blobs/sha512")); }, Kind::foreign,
                false},
           Case{"an image more",
                [](SampleLayout& l) {
                  l.index(json_of(l.manifest) + "," +
                          json_of(l.image("386", "x", own_annotation())));
                },
                Kind::foreign, false},
           Case{"a layer more",
                [](SampleLayout& l) {
                  fs::remove_all(l.blobs());
                  fs::create_directory(l.blobs());
                  l.index(
                      json_of(l.image("amd64", "layer", own_annotation(), "umoci raw add-layer")));
                },
                Kind::foreign, false},
           Case{"damaged index", [](SampleLayout& l) { l.write("index.json", "{"); }, Kind::foreign,
                false},
           Case{"gone", [](SampleLayout& l) { fs::remove_all(l.path()); }, Kind::nothing, false},
           Case{"empty",
                [](SampleLayout& l) {
                  fs::remove_all(l.path());
                  fs::create_directory(l.path());
                },
                Kind::nothing, false},
       }) {
    CAPTURE(c.name);
    SampleLayout layout;
    layout.index(
        json_of(layout.image("amd64", "layer", own_annotation(), "compatpack image --prefix /x")));
    c.change(layout);

    const auto place = look_at_layout(layout.path());

    REQUIRE(place);
    CHECK(place->kind == c.kind);
    CHECK(place->index_sha256.empty() == !c.whole);
    CHECK(place->why.empty() == (c.kind != Kind::foreign));
  }
}
