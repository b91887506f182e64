// SPDX-License-Identifier: Apache-2.0
#pragma once

// A tree as the layer of an image: a tar archive of the tree's folder and those above it. It is not
// compressed: registries and the programs that push do that, and what zlib makes of the same bytes
// differs between its versions.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "compatpack/base/rel_path.hpp"
#include "compatpack/formats/tar_writer.hpp"
#include "compatpack/io/file_source.hpp"
#include "compatpack/io/tree_folder.hpp"
#include "compatpack/pipeline/receipt.hpp"

namespace compatpack::pipeline {

/// A tree as it is when it lives elsewhere.
struct MovedTree {
  Receipt before;  ///< of the tree on disk
  Receipt after;
  /// What is not as it was, by name: scripts. And the receipt.
  std::map<std::string, std::string> texts;
};

/// The tree of `receipt` at `prefix`: the same as extract makes for that prefix.
[[nodiscard]] MovedTree move_tree(Receipt receipt, const std::string& prefix);

/// A folder that a layer has an entry for. Where the image has that folder already the entry must
/// say the same of it, since it replaces what was said.
struct LayerFolder {
  RelPath path;
  formats::TarFolder said = {};
};

/// In a layer, what stands before the name of something that the layers below have, and that is not
/// to be seen any more.
///
/// https://github.com/opencontainers/image-spec/blob/v1.1.0/layer.md#whiteouts
inline constexpr std::string_view kWhiteout = ".wh.";
/// The name of a file that says: nothing of what the layers below have in this folder.
inline constexpr std::string_view kOpaqueWhiteout = ".wh..wh..opq";

/// Where a tree lies in an image.
struct LayerPlace {
  std::vector<LayerFolder> folders = {};  ///< the outermost first, the tree's own last
  /// Whether what the layers below have in the tree's folder is not to be seen any more.
  bool hides_old = false;
};

/// The place at `path` in an image that has nothing there.
[[nodiscard]] LayerPlace new_place(const RelPath& path);

/// Writes the layer to `sink`, reading each file of the tree in `folder` once. The tree lies at
/// `place`; where that has no folders, at the image's root. `time_s` as for TarWriter; `observer`
/// as for FileSource.
///
/// Errors: mismatch, with `subject`, for a file that is not what the receipt says; unsupported,
/// likewise, for a name that would be a whiteout; io; those of TarWriter.
Result<Done> write_layer(const io::TreeFolder& folder, const MovedTree& tree,
                         const LayerPlace& place, std::uint64_t time_s, io::ReadObserver* observer,
                         const io::Sink& sink);

}  // namespace compatpack::pipeline
