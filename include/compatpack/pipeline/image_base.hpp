// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the layers of a base have at one path: names, kinds, modes and owners of the folders on the
// way. A layer that is put on top replaces what it has an entry for, so a link to a folder would
// become an empty folder, and /root open to all.

#include <vector>

#include "compatpack/pipeline/image_layer.hpp"
#include "compatpack/pipeline/image_layout.hpp"

namespace compatpack::pipeline {

/// The place at `path` on the layers of `base`, an image of `layout`. Each layer is read to its
/// end, and nothing of it is kept. `observer` as for FileSource.
///
/// Errors, with `subject`: conflict where a link or file stands at `path` or above it; those of
/// ImageLayout::open_blob(), open_decoder() and ArchiveReader. Requires: the digests of the layers
/// have been compared.
Result<LayerPlace> place_on_base(const ImageLayout& layout, const LayoutImage& base,
                                 const RelPath& path, io::ReadObserver* observer);

}  // namespace compatpack::pipeline
