// SPDX-License-Identifier: Apache-2.0
#pragma once

// Where an image is written: a layout in a folder, or the same in one tar archive. Either appears
// whole, or not at all.
//
//   layout     oci-layout  index.json  blobs/sha256/DIGEST...
//   archive    blobs/  blobs/sha256/  blobs/sha256/DIGEST...  index.json  oci-layout
//
// A blob's name is its digest, and an archive has the name before the content: there a blob whose
// digest is not known yet is made in a file without a name first.

#include <array>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "compatpack/formats/oci.hpp"
#include "compatpack/io/output_dir.hpp"
#include "compatpack/io/source.hpp"
#include "compatpack/pipeline/image_documents.hpp"

namespace compatpack::pipeline {

enum class ImageFormat {
  layout,
  archive,
  layer,  ///< no image: the tree's layer alone, in a tar archive
};

/// As --format has them, in the order of ImageFormat.
inline constexpr std::array<std::string_view, 3> kImageFormats{"layout", "archive", "layer"};

[[nodiscard]] constexpr std::string_view name_of(ImageFormat format) {
  return kImageFormats.at(static_cast<std::size_t>(format));
}

class ImageOutput {
 public:
  /// Stages the image at `target`; `format` is layout or archive. `time_s` is that of an archive's
  /// entries. Error io.
  static Result<std::unique_ptr<ImageOutput>> stage(const std::string& target, ImageFormat format,
                                                    std::uint64_t time_s);

  ImageOutput() = default;
  ImageOutput(const ImageOutput&) = delete;
  ImageOutput& operator=(const ImageOutput&) = delete;
  virtual ~ImageOutput() = default;

  /// Adds a blob that `fill` writes to the sink that it is given, and returns its size and digest.
  /// Requires: called once at most. Errors: that of `fill`; io.
  virtual Result<formats::OciDescriptor> add_new(
      std::string_view media_type, const std::function<Result<Done>(const io::Sink&)>& fill) = 0;

  /// Adds a blob, unless one of that digest is there. Errors: mismatch, with `subject` (what
  /// `content` is), where `content` has another digest; that of `content`; io.
  Result<Done> add(const formats::OciDescriptor& blob, io::Source& content,
                   const std::string& subject);

  /// Adds a document. Error io.
  Result<Done> add_document(const ImageDocument& document);

  /// Adds index.json and oci-layout. The digest that is returned tells whether two images are the
  /// same: of a layout's index, or of the whole archive. Error io.
  virtual Result<std::string> finish(std::string_view index) = 0;

  /// Waits until all of it is on disk, which commit() else does. Error io. Requires: finish()
  /// succeeded.
  virtual Result<Done> sync() = 0;

  /// Makes the image appear. Errors: conflict where something stands at the target that `replaces`
  /// does not allow to be replaced; io. Requires: finish() succeeded.
  virtual Result<Done> commit(bool replaces) = 0;

  /// What confine() must allow, so that all of the above works. Valid as long as this.
  [[nodiscard]] virtual std::vector<io::AllowedFolder> allowed_folders() = 0;

 protected:
  /// Whether a blob of this digest is there; from now on it is.
  bool take(const std::string& sha256) { return !names_.insert(sha256).second; }

 private:
  virtual Result<Done> add_content(const formats::OciDescriptor& blob, io::Source& content) = 0;

  std::set<std::string> names_;  // of the blobs so far
};

}  // namespace compatpack::pipeline
