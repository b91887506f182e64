// SPDX-License-Identifier: Apache-2.0
#include "compatpack/pipeline/listing.hpp"

#include <algorithm>
#include <utility>

namespace compatpack::pipeline {

using formats::ManifestWidth;

ManifestWidth width_in(const formats::NvManifest& manifest, std::string_view arch) {
  const bool two_widths =
      std::any_of(manifest.entries.begin(), manifest.entries.end(),
                  [](const auto& entry) { return entry.width == ManifestWidth::compat32; });
  return arch == "i386" && two_widths ? ManifestWidth::compat32 : ManifestWidth::native;
}

std::vector<ListedFile> listed_files(const formats::NvManifest& manifest, const std::string& arch) {
  const ManifestWidth width = width_in(manifest, arch);
  std::vector<ListedFile> files;
  for (const auto& entry : manifest.entries) {
    if (!entry.is_link()) {
      files.push_back({entry.file, entry.width != width && entry.width != ManifestWidth::none});
    }
  }
  if (auto licence = RelPath::parse("LICENSE")) {
    files.push_back({*std::move(licence)});
  }
  return files;
}

bool is_listable(const SelectionRequest& request) {
  return !request.all && request.include.empty() &&
         request.components == std::set{knowledge::Component::cuda};
}

void Listing::list(std::vector<ListedFile> files, const SelectionRequest& request) {
  is_listed_ = true;
  files_ = std::move(files);
  awaited_.clear();
  for (const ListedFile& file : files_) {
    if (!file.other_width && !seen_.contains(file.path) &&
        select_by_path(file.path, request).use != Selection::Use::none) {
      awaited_.insert(file.path);
    }
  }
}

void Listing::see(const RelPath& path) {
  awaited_.erase(path);
  seen_.insert(path);
}

std::vector<ListedFile> Listing::unseen() const {
  std::vector<ListedFile> files;
  for (const ListedFile& file : files_) {
    if (!seen_.contains(file.path)) {
      files.push_back(file);
    }
  }
  return files;
}

}  // namespace compatpack::pipeline
