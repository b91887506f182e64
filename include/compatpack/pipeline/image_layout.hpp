// SPDX-License-Identifier: Apache-2.0
#pragma once

// An OCI image layout on disk, as somebody else may have made it: no blob is trusted before its
// size and digest have been compared, no link in it is followed, and no name comes from it that is
// not the digits of a digest.

#include <memory>
#include <string>
#include <vector>

#include "compatpack/formats/oci.hpp"
#include "compatpack/io/file_source.hpp"
#include "compatpack/io/tree_folder.hpp"

namespace compatpack::pipeline {

class ImageLayout {
 public:
  /// Errors, with `subject`: io; not_recognized where it is no layout; those of check_oci_layout().
  static Result<ImageLayout> open(const std::string& path);

  /// What index.json lists. Errors, with `subject`: io; those of parse_oci_index().
  [[nodiscard]] Result<std::vector<formats::OciIndexEntry>> index() const;

  /// The text of a blob that is a document. Errors, with `subject`: io; corrupt where its size is
  /// not the one that is said; mismatch where its digest is not; limit where it is too large for a
  /// document.
  [[nodiscard]] Result<std::string> read(const formats::OciDescriptor& blob) const;

  /// The content of a blob, whose size has been compared and whose digest has not. Errors as above.
  [[nodiscard]] Result<std::unique_ptr<io::FileSource>> open_blob(
      const formats::OciDescriptor& blob, io::ReadObserver* observer) const;

  [[nodiscard]] const io::TreeFolder& folder() const { return folder_; }
  [[nodiscard]] const io::TreeFolder& blobs() const { return blobs_; }

 private:
  ImageLayout(io::TreeFolder folder, io::TreeFolder blobs)
      : folder_(std::move(folder)), blobs_(std::move(blobs)) {}

  io::TreeFolder folder_;
  io::TreeFolder blobs_;  // blobs/sha256 in it
};

/// Error mismatch, with `subject`, where `found`, of a blob's content, is not the digest said of
/// it.
Result<Done> check_blob_digest(const formats::OciDescriptor& blob, const std::string& found,
                               const std::string& subject);

/// An image of a layout.
struct LayoutImage {
  formats::OciDescriptor descriptor;  ///< of its manifest
  formats::OciManifest manifest;
  std::string config;  ///< its text
};

/// The one image for Linux on `architecture` (in the words of Go) that a layout holds, also in an
/// index that its index lists.
///
/// Errors, with `subject`: those of ImageLayout; unsupported where there is none, or several, or
/// its config is not of the layers that it has; limit for indexes in indexes without end.
Result<LayoutImage> choose_image(const ImageLayout& layout, std::string_view architecture);

/// What stands where a layout is to be made.
struct LayoutPlace {
  enum class Kind {
    nothing,  ///< or an empty folder
    layout,   ///< of one image, that compatpack made, and nothing else
    foreign,  ///< something that compatpack did not make, or that was added to
  };
  Kind kind;
  std::string index_sha256 = {};  ///< of a layout's index.json; "" if not all of it is there
  std::string why = {};           ///< why it is foreign
};

/// Looks at `path`. Error io where it cannot be looked at.
Result<LayoutPlace> look_at_layout(const std::string& path);

/// The annotation of the manifests that compatpack writes.
inline constexpr std::string_view kVersionLabel = "compatpack.version";
/// What the entries begin with that it adds to the history of a config.
inline constexpr std::string_view kMadeBy = "compatpack image ";

}  // namespace compatpack::pipeline
