// SPDX-License-Identifier: Apache-2.0
#include "compatpack/pipeline/image_base.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include "compatpack/base/text.hpp"
#include "compatpack/formats/archive.hpp"
#include "compatpack/formats/decoder.hpp"

namespace compatpack::pipeline {
namespace {

using formats::Entry;
using formats::EntryType;

// Of one layer, of which only names are looked at: images for machine learning have some 100,000
// files, and files of tens of gigabytes.
constexpr Limits kLayerLimits{
    .members = 5'000'000, .member = {1ULL << 40U}, .unpacked = {1ULL << 40U}};

/// What stands at a path.
struct Standing {
  enum class Kind { nothing, folder, link, file };
  Kind kind = Kind::nothing;
  formats::TarFolder said = {};  // of a folder
  std::string target = {};       // of a link
};

/// Below the root and without dots, as programs that unpack read a name: "" for the root.
std::string plain(const std::string& name) {
  std::string path = std::filesystem::path("/" + name).lexically_normal().string();
  while (path.ends_with('/')) {
    path.pop_back();
  }
  return path.substr(std::min(path.find_first_not_of('/'), path.size()));
}

Standing standing_of(const Entry& entry) {
  switch (entry.type) {
    case EntryType::folder:
      return {Standing::Kind::folder, {entry.mode_bits, entry.owner, entry.group}, ""};
    case EntryType::symlink:
      return {Standing::Kind::link, {}, entry.link_target};
    case EntryType::file:
    case EntryType::hardlink:
    case EntryType::special:
      break;
  }
  return {Standing::Kind::file, {}, ""};
}

/// The folders on the way to a path, as layer after layer leaves them.
class Way {
 public:
  explicit Way(const LayerPlace& place) : way_(place), below_(place.folders.size()) {}

  /// Puts a layer on those so far. A whiteout is about what is below its own layer, wherever in
  /// this it stands: so the layer is first read as a whole.
  Result<Done> add(formats::ArchiveReader& layer) {
    hidden_from_ = below_.size();
    own_.assign(below_.size(), std::nullopt);
    holds_ = 0;
    for (;;) {
      CP_TRY(const auto entry, layer.next());
      if (!entry) {
        break;
      }
      see(plain(entry->path), *entry);
    }
    for (std::size_t i = 0; i < below_.size(); ++i) {
      if (i >= hidden_from_) {
        below_[i] = {};
      }
      if (own_[i]) {
        below_[i] = *std::move(own_[i]);
      } else if (i < holds_ && below_[i].kind == Standing::Kind::nothing) {
        below_[i].kind = Standing::Kind::folder;  // programs make it on the way
      }
      if (below_[i].kind != Standing::Kind::folder) {
        hidden_from_ = std::min(hidden_from_, i + 1);
      }
    }
    return Done{};
  }

  /// Errors: conflict.
  [[nodiscard]] Result<LayerPlace> place() const {
    LayerPlace place = way_;
    for (std::size_t i = 0; i < below_.size(); ++i) {
      const Standing& one = below_[i];
      if (one.kind == Standing::Kind::folder) {
        place.folders[i].said = one.said;
      } else if (one.kind != Standing::Kind::nothing) {
        return in_the_way("/" + place.folders[i].path.text(), one);
      }
    }
    place.hides_old = below_.back().kind == Standing::Kind::folder;
    return place;
  }

 private:
  [[nodiscard]] std::string_view at(std::size_t i) const { return way_.folders[i].path.text(); }

  void see(const std::string& path, const Entry& entry) {
    const std::size_t slash = path.rfind('/');
    const std::string folder = slash == std::string::npos ? "" : path.substr(0, slash);
    const std::string name = path.substr(slash == std::string::npos ? 0 : slash + 1);
    if (name == kOpaqueWhiteout) {
      hide(folder, true);
    } else if (name.starts_with(kWhiteout)) {
      hide((folder.empty() ? "" : folder + "/") + name.substr(kWhiteout.size()), false);
    } else {
      put(path, entry);
    }
  }

  /// What the layers below have at `path` is gone; or only what they have in it.
  void hide(const std::string& path, bool only_inside) {
    for (std::size_t i = 0; i < below_.size(); ++i) {
      const bool is_inside = path.empty() || is_at_or_below(at(i), path);
      if (is_inside && !(only_inside && at(i) == path)) {
        hidden_from_ = std::min(hidden_from_, i);
      }
    }
  }

  void put(const std::string& path, const Entry& entry) {
    for (std::size_t i = 0; i < below_.size(); ++i) {
      if (path == at(i)) {
        own_[i] = standing_of(entry);
      } else if (is_at_or_below(path, at(i))) {
        holds_ = std::max(holds_, i + 1);
      }
    }
  }

  [[nodiscard]] static Error in_the_way(const std::string& path, const Standing& standing) {
    const bool is_link = standing.kind == Standing::Kind::link;
    return Error{.code = Errc::conflict,
                 .what = "no tree can be put there: something is in the way in the base",
                 .subject = "--prefix",
                 .expected = "nothing but folders at the tree's path",
                 .found = path + (is_link ? ", a link to " + standing.target : ", not a folder"),
                 .hint = is_link ? "name the folder that the link leads to, or another one, such "
                                   "as /opt/cuda-compat"
                                 : "choose another --prefix, such as /opt/cuda-compat"};
  }

  LayerPlace way_;
  std::vector<Standing> below_;               // of the layers so far, by the number of the folder
  std::vector<std::optional<Standing>> own_;  // of the layer that is being read
  std::size_t hidden_from_ = 0;               // from this folder on it hides those below
  std::size_t holds_ = 0;                     // it has something in so many of the folders
};

}  // namespace

Result<LayerPlace> place_on_base(const ImageLayout& layout, const LayoutImage& base,
                                 const RelPath& path, io::ReadObserver* observer) {
  Way way(new_place(path));
  for (const formats::OciDescriptor& layer : base.manifest.layers) {
    CP_TRY(const auto content, layout.open_blob(layer, observer));
    const auto read = [&]() -> Result<Done> {
      CP_TRY(const auto tar, formats::open_decoder(*content));
      CP_TRY(const auto reader, formats::ArchiveReader::open(*tar, kLayerLimits));
      return way.add(*reader);
    };
    if (auto done = read(); !done) {
      if (done.error().subject.empty()) {
        done.error().subject = layout.blobs().path() + "/" + layer.sha256;
      }
      return std::move(done).error();
    }
  }
  return way.place();
}

}  // namespace compatpack::pipeline
