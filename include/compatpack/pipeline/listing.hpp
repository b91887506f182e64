// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a bundle says that it holds, before all of it has been seen: the .manifest of a .run, the
// header of an rpm, the md5sums of a deb. It tells when nothing that is wanted is still to come.

#include <set>
#include <vector>

#include "compatpack/formats/nv_manifest.hpp"
#include "compatpack/pipeline/selection.hpp"

namespace compatpack::pipeline {

/// A file that a bundle lists.
struct ListedFile {
  RelPath path;
  bool other_width = false;  ///< known to be of another width than the tree's
};

/// The width that a manifest's rows for a tree of `arch` have: compat32 for the 32-bit half of a
/// bundle of both.
[[nodiscard]] formats::ManifestWidth width_in(const formats::NvManifest& manifest,
                                              std::string_view arch);

/// The files of a manifest, and LICENSE, which it may leave out. For a tree of `arch`.
[[nodiscard]] std::vector<ListedFile> listed_files(const formats::NvManifest& manifest,
                                                   const std::string& arch);

/// Whether all that `request` can ask for is in such lists. What --include names may be anything,
/// and stray libraries, which no manifest lists, have been seen of the graphics components.
[[nodiscard]] bool is_listable(const SelectionRequest& request);

/// Follows a pass over a bundle, whose list of files may come before them or in their midst.
class Listing {
 public:
  /// Says what the bundle lists. A second list takes the first one's place.
  void list(std::vector<ListedFile> files, const SelectionRequest& request);

  void see(const RelPath& path);

  /// Whether there is a list, and all wanted files in it have been seen.
  [[nodiscard]] bool is_complete() const { return is_listed_ && awaited_.empty(); }

  /// The listed files that have not been seen, in the list's order.
  [[nodiscard]] std::vector<ListedFile> unseen() const;

 private:
  bool is_listed_ = false;
  std::vector<ListedFile> files_;
  std::set<RelPath> awaited_;
  std::set<RelPath> seen_;
};

}  // namespace compatpack::pipeline
