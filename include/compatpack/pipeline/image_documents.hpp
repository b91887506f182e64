// SPDX-License-Identifier: Apache-2.0
#pragma once

// The documents that make an image of a tree's layer and of what it is put on: config, manifest and
// index. Pure: the same facts give the same bytes.

#include <cstdint>
#include <string>
#include <string_view>

#include "compatpack/base/result.hpp"
#include "compatpack/formats/oci.hpp"
#include "compatpack/pipeline/image_layout.hpp"
#include "compatpack/pipeline/receipt.hpp"

namespace compatpack::pipeline {

/// What an image is to be.
struct ImageFacts {
  std::string architecture;  ///< in the words of Go
  std::string prefix;        ///< where the tree will be seen
  std::string tag;
  std::uint64_t time_s = 0;   ///< seconds since 1970 at which it was made, by its own account
  bool library_path = false;  ///< whether `prefix` is put first in LD_LIBRARY_PATH
};

/// A blob that is a text.
struct ImageDocument {
  formats::OciDescriptor blob = {};
  std::string text = {};
};

struct ImageDocuments {
  ImageDocument config = {};
  ImageDocument manifest = {};
  std::string index = {};  ///< the text of index.json, which is no blob
};

/// The image of `base` (null for none) with `layer` on it, which holds the tree of `tree`. Labels
/// of the config, also the manifest's annotations, say what the tree is; what the image is as a
/// whole is said only where no base has a maker who said it.
///
/// Errors: those of render_oci_config().
Result<ImageDocuments> compose_image(const LayoutImage* base, const formats::OciDescriptor& layer,
                                     const Receipt& tree, const ImageFacts& facts);

}  // namespace compatpack::pipeline
