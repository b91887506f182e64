// SPDX-License-Identifier: Apache-2.0
#pragma once

// A tree as the layer of an image: a tar archive of the tree's folder and those above it. It is not
// compressed: registries and the programs that push do that, and what zlib makes of the same bytes
// differs between its versions.

#include <map>
#include <optional>
#include <string>

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

/// Writes the layer to `sink`, reading each file of the tree in `folder` once. `at` is where the
/// tree lies in the image; nullopt for its root. `time_s` as for TarWriter; `observer` as for
/// FileSource.
///
/// Errors: mismatch, with `subject`, for a file that is not what the receipt says; io; those of
/// TarWriter.
Result<Done> write_layer(const io::TreeFolder& folder, const MovedTree& tree,
                         const std::optional<RelPath>& at, std::uint64_t time_s,
                         io::ReadObserver* observer, const formats::TarWriter::Sink& sink);

}  // namespace compatpack::pipeline
