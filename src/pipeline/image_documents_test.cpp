// SPDX-License-Identifier: Apache-2.0
#include "compatpack/pipeline/image_documents.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "support/run_file.hpp"

using namespace compatpack;
using namespace compatpack::pipeline;
using nlohmann::json;

namespace {

const std::string kNoDigest(64, '0');

formats::OciDescriptor layer() {
  return {std::string(formats::kOciLayerType), std::string(64, 'a'), {10'240}};
}

ReceiptBundle bundle(std::string name, std::string sha256) {
  ReceiptBundle made;
  made.name = std::move(name);
  made.sha256 = std::move(sha256);
  return made;
}

/// Of a package and of a library of its own; the package holds a third bundle.
Receipt tree() {
  Receipt receipt{
      .compatpack_version = "0.0.1",
      .bundles = {bundle("toolkit.run", "11"), bundle("one.deb", "22"), bundle("inner.run", "33")},
      .driver_version = "535.1",
      .cuda_version = "12.2",
      .prefix = "/made"};
  receipt.bundles.back().inside = 0;
  return receipt;
}

ImageFacts facts() {
  return {.architecture = "arm64", .prefix = "/opt/compat", .tag = "v1", .time_s = 86'399};
}

LayoutImage base() {
  return {.descriptor = {std::string(formats::kOciManifestType), std::string(64, 'b'), {500}},
          .manifest = {.config = {std::string(formats::kOciConfigType), kNoDigest, {1}},
                       .layers = {{std::string(formats::kOciLayerType), std::string(64, 'c'), {9}}},
                       .annotations = {{"org.opencontainers.image.title", "theirs"},
                                       {"compatpack.driver", "470.1"}}},
          .config = R"({"os": "linux", "architecture": "arm64",
                        "config": {"Env": ["LD_LIBRARY_PATH=/theirs"]},
                        "rootfs": {"type": "layers", "diff_ids": ["sha256:)" +
                    std::string(64, 'c') + R"("]}})"};
}

/// That a document is named by what it is.
void check_blob(const ImageDocument& document, std::string_view type) {
  CHECK(document.blob.media_type == type);
  CHECK(document.blob.size == ByteCount{document.text.size()});
  CHECK(document.blob.sha256 == test::reference_sha256(document.text));
}

}  // namespace

TEST_CASE("image_documents: each document names the one before it, and an index the last") {
  const auto made = compose_image(nullptr, layer(), tree(), facts());

  REQUIRE(made);
  check_blob(made->config, formats::kOciConfigType);
  check_blob(made->manifest, formats::kOciManifestType);
  const json config = json::parse(made->config.text);
  CHECK(config["architecture"] == "arm64");
  CHECK(config["created"] == "1970-01-01T23:59:59Z");
  CHECK(config["rootfs"]["diff_ids"] == json{"sha256:" + std::string(64, 'a')});
  CHECK(config["history"].back()["created_by"] == "compatpack image --prefix /opt/compat");
  const json manifest = json::parse(made->manifest.text);
  CHECK(manifest["config"]["digest"] == "sha256:" + made->config.blob.sha256);
  CHECK(manifest["layers"].size() == 1);
  CHECK(manifest["layers"][0]["size"] == 10'240);
  const json index = json::parse(made->index);
  REQUIRE(index["manifests"].size() == 1);
  CHECK(index["manifests"][0]["digest"] == "sha256:" + made->manifest.blob.sha256);
  CHECK(index["manifests"][0]["annotations"]["org.opencontainers.image.ref.name"] == "v1");
}

TEST_CASE("image_documents: labels and annotations say what the tree is") {
  const auto made = compose_image(nullptr, layer(), tree(), facts());

  REQUIRE(made);
  const json labels = json::parse(made->config.text)["config"]["Labels"];
  const json expected{{"compatpack.version", "0.0.1"},
                      {"compatpack.prefix", "/opt/compat"},
                      {"compatpack.bundle", "toolkit.run\none.deb"},
                      {"compatpack.bundle.sha256", "11\n22"},
                      {"compatpack.driver", "535.1"},
                      {"compatpack.cuda", "12.2"},
                      {"org.opencontainers.image.title", "CUDA forward-compatibility libraries"},
                      {"org.opencontainers.image.version", "535.1"}};
  CHECK(labels == expected);
  json annotations = json::parse(made->manifest.text)["annotations"];
  CHECK(annotations["org.opencontainers.image.created"] == "1970-01-01T23:59:59Z");
  annotations.erase("org.opencontainers.image.created");
  CHECK(annotations == expected);
}

TEST_CASE("image_documents: a tree without a driver version has no label of it") {
  Receipt receipt = tree();
  receipt.driver_version = "";
  receipt.cuda_version = "";

  const auto made = compose_image(nullptr, layer(), receipt, facts());

  REQUIRE(made);
  const json labels = json::parse(made->config.text)["config"]["Labels"];
  CHECK_FALSE(labels.contains("compatpack.driver"));
  CHECK_FALSE(labels.contains("compatpack.cuda"));
  CHECK_FALSE(labels.contains("org.opencontainers.image.version"));
}

TEST_CASE("image_documents: on a base, its layers and its own words stay") {
  const LayoutImage below = base();

  const auto made = compose_image(&below, layer(), tree(), facts());

  REQUIRE(made);
  const json manifest = json::parse(made->manifest.text);
  REQUIRE(manifest["layers"].size() == 2);
  CHECK(manifest["layers"][0]["digest"] == "sha256:" + std::string(64, 'c'));
  CHECK(manifest["layers"][1]["digest"] == "sha256:" + std::string(64, 'a'));
  CHECK(manifest["config"]["digest"] == "sha256:" + made->config.blob.sha256);
  const json annotations = manifest["annotations"];
  CHECK(annotations["org.opencontainers.image.title"] == "theirs");
  CHECK_FALSE(annotations.contains("org.opencontainers.image.version"));
  CHECK(annotations["org.opencontainers.image.base.digest"] == "sha256:" + std::string(64, 'b'));
  CHECK(annotations["compatpack.driver"] == "535.1");
  const json config = json::parse(made->config.text);
  CHECK(config["rootfs"]["diff_ids"].size() == 2);
  CHECK(config["config"]["Env"] == json{"LD_LIBRARY_PATH=/theirs"});
}

TEST_CASE("image_documents: the tree comes first in the environment where that is asked for") {
  ImageFacts asked = facts();
  asked.library_path = true;
  const LayoutImage below = base();

  const auto alone = compose_image(nullptr, layer(), tree(), asked);
  const auto on_base = compose_image(&below, layer(), tree(), asked);

  REQUIRE(alone);
  REQUIRE(on_base);
  CHECK(json::parse(alone->config.text)["config"]["Env"] == json{"LD_LIBRARY_PATH=/opt/compat"});
  CHECK(json::parse(on_base->config.text)["config"]["Env"] ==
        json{"LD_LIBRARY_PATH=/opt/compat:/theirs"});
}

TEST_CASE("image_documents: a base whose config is none is refused") {
  LayoutImage below = base();
  below.config = "[]";

  const auto made = compose_image(&below, layer(), tree(), facts());

  REQUIRE_FALSE(made);
  CHECK(made.error().code == Errc::corrupt);
}
