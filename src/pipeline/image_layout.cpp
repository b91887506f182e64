// SPDX-License-Identifier: Apache-2.0
#include "compatpack/pipeline/image_layout.hpp"

#include <algorithm>
#include <cerrno>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "compatpack/io/digesting_source.hpp"

namespace compatpack::pipeline {
namespace {

using formats::OciDescriptor;
using formats::OciIndexEntry;
using io::TreeFolder;

// An index of one image a platform is one deep; skopeo and buildah write no second.
constexpr int kIndexDepthMax = 4;

// Manifests and configs of all images of a layout. An image of 127 layers has 100 KB of them.
constexpr ByteCount kDocumentsMax{64U << 20U};

Error with_subject(Error error, std::string subject) {
  if (error.subject.empty()) {
    error.subject = std::move(subject);
  }
  return error;
}

Error not_a_layout(const std::string& path, std::string found) {
  return Error{.code = Errc::not_recognized,
               .what = "not an OCI image layout",
               .subject = path,
               .expected = "a folder with oci-layout, index.json and blobs/sha256",
               .found = std::move(found),
               .hint = "skopeo copy FROM oci:LAYOUT makes one"};
}

/// All of a file that is a document.
Result<std::string> read_document(io::FileSource& file, const std::string& subject) {
  auto text = io::read_text(file, file.size(), formats::kOciDocumentMax);
  return text ? std::move(text) : with_subject(std::move(text).error(), subject);
}

/// The text of a file in the layout that is no blob.
Result<std::string> read_text(const TreeFolder& folder, const std::string& name) {
  CP_TRY(const auto file, folder.open_file(name, nullptr));
  return read_document(*file, folder.path() + "/" + name);
}

/// The images of a layout that may be for one architecture.
class Chooser {
 public:
  Chooser(const ImageLayout& layout, std::string_view architecture)
      : layout_(layout), wanted_{"linux", std::string(architecture)} {}

  Result<LayoutImage> choose() {
    CP_TRY(const auto entries, layout_.index());
    CP_CHECK(look(entries, 0));
    if (image_ && second_.empty()) {
      return *std::move(image_);
    }
    std::string found =
        image_ ? "sha256:" + image_->descriptor.sha256 + ", sha256:" + second_ : "none";
    if (!image_) {
      for (const std::string& other : others_) {
        found += " " + other;
      }
    }
    return Error{.code = Errc::unsupported,
                 .what = image_ ? "base holds several images for the tree's architecture"
                                : "base holds no image for the tree's architecture",
                 .subject = layout_.folder().path(),
                 .expected = "one image for " + name_of(wanted_),
                 .found = std::move(found),
                 .hint = "copy the one that is meant: skopeo copy FROM oci:LAYOUT"};
  }

 private:
  static std::string name_of(const formats::OciPlatform& platform) {
    return platform.os + "/" + platform.architecture;
  }

  Result<Done> look(const std::vector<OciIndexEntry>& entries, int depth) {
    for (const OciIndexEntry& entry : entries) {
      // The same image under two names is one.
      if (!seen_.insert(entry.blob.sha256).second) {
        continue;
      }
      if (entry.platform && *entry.platform != wanted_) {
        others_.insert(name_of(*entry.platform));
        continue;
      }
      CP_CHECK(entry.is_index ? look_into(entry.blob, depth + 1) : look_at(entry.blob));
      if (!second_.empty()) {
        break;
      }
    }
    return Done{};
  }

  Result<Done> look_into(const OciDescriptor& blob, int depth) {
    if (depth > kIndexDepthMax) {
      return Error{.code = Errc::limit,
                   .what = "indexes in indexes without end",
                   .subject = layout_.folder().path()};
    }
    CP_TRY(const std::string text, read(blob));
    auto entries = formats::parse_oci_index(text);
    if (!entries) {
      return with_subject(std::move(entries).error(), shown(blob));
    }
    return look(*entries, depth);
  }

  Result<Done> look_at(const OciDescriptor& blob) {
    CP_TRY(const std::string text, read(blob));
    auto manifest = formats::parse_oci_manifest(text);
    if (!manifest) {
      return with_subject(std::move(manifest).error(), shown(blob));
    }
    if (!formats::is_image(*manifest)) {
      others_.insert(manifest->config.media_type);
      return Done{};
    }
    CP_TRY(std::string config, read(manifest->config));
    auto facts = formats::parse_oci_config(config);
    if (!facts) {
      return with_subject(std::move(facts).error(), shown(manifest->config));
    }
    if (facts->platform != wanted_) {
      others_.insert(name_of(facts->platform));
      return Done{};
    }
    if (facts->layers != manifest->layers.size()) {
      return Error{.code = Errc::corrupt,
                   .what = "config is not of the manifest's layers",
                   .subject = shown(manifest->config),
                   .expected = std::to_string(manifest->layers.size()) + " diff_ids",
                   .found = std::to_string(facts->layers)};
    }
    if (image_) {
      second_ = blob.sha256;
    } else {
      image_ = {blob, *std::move(manifest), std::move(config)};
    }
    return Done{};
  }

  /// As ImageLayout::read(), but for all documents together. Error limit.
  Result<std::string> read(const OciDescriptor& blob) {
    CP_TRY(std::string text, layout_.read(blob));
    documents_.value += text.size();
    if (documents_ > kDocumentsMax) {
      return Error{.code = Errc::limit,
                   .what = "too much to read to find one image",
                   .subject = layout_.folder().path(),
                   .expected = "manifests and configs of at most " +
                               std::to_string(kDocumentsMax.value) + " bytes",
                   .found = "more",
                   .hint = "copy the one that is meant: skopeo copy FROM oci:LAYOUT"};
    }
    return text;
  }

  [[nodiscard]] std::string shown(const OciDescriptor& blob) const {
    return layout_.blobs().path() + "/" + blob.sha256;
  }

  const ImageLayout& layout_;
  formats::OciPlatform wanted_;
  std::set<std::string> seen_;    // digests
  std::set<std::string> others_;  // platforms, and media types of what is no image
  std::optional<LayoutImage> image_;
  std::string second_;   // the digest of another that fits; then no more is looked for
  ByteCount documents_;  // read so far
};

/// index_sha256 of a layout that compatpack made. Error where it is something else.
Result<std::string> own_index(const std::string& path) {
  CP_TRY(const ImageLayout layout, ImageLayout::open(path));
  CP_TRY(const auto entries, layout.index());
  if (entries.size() != 1 || entries.front().is_index) {
    return not_a_layout(path, std::to_string(entries.size()) + " images");
  }
  const OciDescriptor& descriptor = entries.front().blob;
  CP_TRY(const std::string text, layout.read(descriptor));
  auto parsed = formats::parse_oci_manifest(text);
  if (!parsed) {
    return with_subject(std::move(parsed).error(), layout.blobs().path() + "/" + descriptor.sha256);
  }
  const formats::OciManifest manifest = *std::move(parsed);
  if (!manifest.annotations.contains(std::string(kVersionLabel))) {
    return not_a_layout(path, "an image without the annotation " + std::string(kVersionLabel));
  }
  // Who puts a layer on top with other programs keeps the annotation, and has work to lose. A
  // config that cannot be read is damage, which is found below.
  if (const auto config = layout.read(manifest.config)) {
    const auto facts = formats::parse_oci_config(*config);
    if (facts && !facts->made_by.empty() && !facts->made_by.starts_with(kMadeBy)) {
      return not_a_layout(path, "an image that something was added to, by " + facts->made_by);
    }
  }
  CP_TRY(const auto names, layout.folder().names());
  CP_TRY(const TreeFolder outer, layout.folder().folder("blobs"));
  CP_TRY(const auto algorithms, outer.names());
  CP_TRY(const auto blobs, layout.blobs().names());
  std::map<std::string, ByteCount> parts{{descriptor.sha256, descriptor.size},
                                         {manifest.config.sha256, manifest.config.size}};
  for (const OciDescriptor& layer : manifest.layers) {
    parts[layer.sha256] = layer.size;
  }
  if (names != std::vector<std::string>{"blobs", "index.json", "oci-layout"} ||
      algorithms != std::vector<std::string>{"sha256"} ||
      std::any_of(blobs.begin(), blobs.end(),
                  [&parts](const std::string& name) { return !parts.contains(name); })) {
    return not_a_layout(path, "files that are not of its image");
  }
  for (const auto& part : parts) {
    CP_TRY(const io::TreeEntry entry, layout.blobs().look(part.first));
    if (entry.kind != io::TreeEntry::Kind::file || entry.size != part.second) {
      return std::string();
    }
  }
  return layout.folder().sha256("index.json");
}

}  // namespace

Result<ImageLayout> ImageLayout::open(const std::string& path) {
  CP_TRY(auto folder, TreeFolder::open(path));
  if (!folder) {
    return io_error("cannot open the folder", path, ENOENT);
  }
  if (!folder->is_folder()) {
    return not_a_layout(path, "not a folder");
  }
  for (const char* const name : {"oci-layout", "index.json", "blobs"}) {
    CP_TRY(const io::TreeEntry entry, folder->look(name));
    if (entry.kind == io::TreeEntry::Kind::nothing) {
      return not_a_layout(path, std::string("no ") + name);
    }
  }
  CP_TRY(const std::string marker, read_text(*folder, "oci-layout"));
  if (auto checked = formats::check_oci_layout(marker); !checked) {
    return with_subject(std::move(checked).error(), path + "/oci-layout");
  }
  CP_TRY(const TreeFolder outer, folder->folder("blobs"));
  CP_TRY(TreeFolder blobs, outer.folder("sha256"));
  return ImageLayout(*std::move(folder), std::move(blobs));
}

Result<std::vector<OciIndexEntry>> ImageLayout::index() const {
  CP_TRY(const std::string text, read_text(folder_, "index.json"));
  auto entries = formats::parse_oci_index(text);
  if (!entries) {
    return with_subject(std::move(entries).error(), folder_.path() + "/index.json");
  }
  return entries;
}

Result<std::unique_ptr<io::FileSource>> ImageLayout::open_blob(const OciDescriptor& blob,
                                                               io::ReadObserver* observer) const {
  CP_TRY(auto file, blobs_.open_file(blob.sha256, observer));
  if (file->size() != blob.size) {
    return Error{.code = Errc::corrupt,
                 .what = "blob has another size than is said of it",
                 .subject = blobs_.path() + "/" + blob.sha256,
                 .expected = std::to_string(blob.size.value) + " bytes",
                 .found = std::to_string(file->size().value),
                 .hint = "the copy of the image is damaged; make it again"};
  }
  return file;
}

Result<std::string> ImageLayout::read(const OciDescriptor& blob) const {
  const std::string subject = blobs_.path() + "/" + blob.sha256;
  CP_TRY(const auto file, open_blob(blob, nullptr));
  CP_TRY(std::string text, read_document(*file, subject));
  CP_CHECK(check_blob_digest(blob, io::sha256_of(as_bytes(text)), subject));
  return text;
}

Result<Done> check_blob_digest(const OciDescriptor& blob, const std::string& found,
                               const std::string& subject) {
  if (found == blob.sha256) {
    return Done{};
  }
  return Error{.code = Errc::mismatch,
               .what = "blob does not match its digest",
               .subject = subject,
               .expected = "SHA-256 " + blob.sha256,
               .found = found,
               .hint = "the copy of the image is damaged; make it again"};
}

Result<LayoutImage> choose_image(const ImageLayout& layout, std::string_view architecture) {
  return Chooser(layout, architecture).choose();
}

Result<LayoutPlace> look_at_layout(const std::string& path) {
  CP_TRY(const auto folder, TreeFolder::open(path));
  if (!folder) {
    return LayoutPlace{LayoutPlace::Kind::nothing};
  }
  if (folder->is_folder()) {
    CP_TRY(const auto names, folder->names());
    if (names.empty()) {
      return LayoutPlace{LayoutPlace::Kind::nothing};
    }
  }
  auto index = own_index(path);
  if (index) {
    return LayoutPlace{LayoutPlace::Kind::layout, *std::move(index)};
  }
  const Error& error = index.error();
  if (error.code == Errc::io) {
    return error;
  }
  const bool is_named = error.code == Errc::not_recognized && !error.found.empty();
  return LayoutPlace{LayoutPlace::Kind::foreign, "",
                     is_named ? error.found : error.subject + ": " + error.what};
}

}  // namespace compatpack::pipeline
