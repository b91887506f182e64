// SPDX-License-Identifier: Apache-2.0
#include "compatpack/pipeline/image_documents.hpp"

#include <array>
#include <ctime>
#include <map>
#include <utility>
#include <vector>

#include "compatpack/base/text.hpp"
#include "compatpack/io/digest.hpp"

namespace compatpack::pipeline {
namespace {

using Labels = std::map<std::string, std::string>;

/// "1970-01-01T00:00:00Z"
std::string date_text(std::uint64_t seconds) {
  const auto time = static_cast<std::time_t>(seconds);
  std::tm parts{};
  ::gmtime_r(&time, &parts);
  std::array<char, 32> text{};
  const std::size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return {text.data(), length};
}

/// The bundles that the tree is made of, but for those inside others; a line each.
std::string bundle_lines(const Receipt& tree, std::string ReceiptBundle::*member) {
  std::vector<std::string> lines;
  for (const ReceiptBundle& bundle : tree.bundles) {
    if (!bundle.inside) {
      lines.push_back(bundle.*member);
    }
  }
  return joined(lines, "\n");
}

Labels labels_of(const Receipt& tree, const std::string& prefix, bool has_base) {
  Labels labels{{std::string(kVersionLabel), tree.compatpack_version},
                {"compatpack.prefix", prefix},
                {"compatpack.bundle", bundle_lines(tree, &ReceiptBundle::name)},
                {"compatpack.bundle.sha256", bundle_lines(tree, &ReceiptBundle::sha256)}};
  if (!tree.driver_version.empty()) {
    labels["compatpack.driver"] = tree.driver_version;
  }
  if (!tree.cuda_version.empty()) {
    labels["compatpack.cuda"] = tree.cuda_version;
  }
  if (!has_base) {
    labels["org.opencontainers.image.title"] = "CUDA forward-compatibility libraries";
    if (!tree.driver_version.empty()) {
      labels["org.opencontainers.image.version"] = tree.driver_version;
    }
  }
  return labels;
}

ImageDocument document_of(std::string_view media_type, std::string text) {
  formats::OciDescriptor blob{
      std::string(media_type), io::sha256_of(as_bytes(text)), {text.size()}};
  return {std::move(blob), std::move(text)};
}

}  // namespace

Result<ImageDocuments> compose_image(const LayoutImage* base, const formats::OciDescriptor& layer,
                                     const Receipt& tree, const ImageFacts& facts) {
  const formats::OciAddition addition{
      .architecture = facts.architecture,
      .created = date_text(facts.time_s),
      .created_by = std::string(kMadeBy) + "--prefix " + facts.prefix,
      .layer = layer,
      .labels = labels_of(tree, facts.prefix, base != nullptr),
      .library_path = facts.library_path ? facts.prefix : ""};
  CP_TRY(std::string config,
         formats::render_oci_config(base == nullptr ? "" : base->config, addition));
  ImageDocuments documents{.config = document_of(formats::kOciConfigType, std::move(config))};
  formats::OciManifest manifest = base == nullptr ? formats::OciManifest{} : base->manifest;
  manifest.config = documents.config.blob;
  manifest.layers.push_back(layer);
  for (const auto& label : addition.labels) {
    manifest.annotations[label.first] = label.second;
  }
  manifest.annotations["org.opencontainers.image.created"] = addition.created;
  if (base != nullptr) {
    manifest.annotations["org.opencontainers.image.base.digest"] =
        "sha256:" + base->descriptor.sha256;
  }
  documents.manifest =
      document_of(formats::kOciManifestType, formats::render_oci_manifest(manifest));
  documents.index =
      formats::render_oci_index(documents.manifest.blob, facts.architecture, facts.tag);
  return documents;
}

}  // namespace compatpack::pipeline
