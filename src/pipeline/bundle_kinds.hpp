// SPDX-License-Identifier: Apache-2.0
#pragma once

// One function for each kind of bundle: from the bytes before the payload to a BundleInfo. Each
// fills in what its format says, and leaves what Bundle::read() knows (path, name, size) alone.

#include <cstddef>
#include <span>

#include "compatpack/base/limits.hpp"
#include "compatpack/base/result.hpp"
#include "compatpack/io/file_source.hpp"
#include "compatpack/pipeline/bundle.hpp"

namespace compatpack::pipeline {

/// `head` is the file's first min(size, limits.header) bytes.
Result<Done> read_run(BundleInfo& info, std::span<const std::byte> head);
Result<Done> read_rpm(BundleInfo& info, std::span<const std::byte> head, const Limits& limits);

/// Reads the control archive too, and looks at the headers of all members, wherever they stand.
Result<Done> read_deb(BundleInfo& info, const io::FileSource& file, const Limits& limits);

/// Whether `head` may be that of a tar archive, compressed or not: for NVIDIA's redistributable
/// archives, which are nothing else.
[[nodiscard]] bool looks_like_tar(std::span<const std::byte> head);
void read_tar(BundleInfo& info);

/// The CUDA version that a package of NVIDIA's is named after: cuda-compat-12-4,
/// cuda-compat-orin-13-2.
[[nodiscard]] std::optional<CudaVersion> cuda_of_package(std::string_view name);

}  // namespace compatpack::pipeline
