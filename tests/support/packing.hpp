// SPDX-License-Identifier: Apache-2.0
#pragma once

// Compresses a text in memory, with the libraries themselves, for the tools that make bundles.

#include <optional>
#include <string>
#include <string_view>

namespace compatpack::test {

enum class Packing {
  none,
  gzip,
  bzip2,
  xz,                ///< with CRC64
  xz_without_check,  ///< as NVIDIA writes it
  zstd,              ///< with a content checksum
  lz4,
};

/// "none", "gzip", "bzip2", "xz", "xz-nocheck", "zstd", "lz4".
[[nodiscard]] std::optional<Packing> packing_named(std::string_view name);

/// Throws std::runtime_error where the library refuses.
[[nodiscard]] std::string pack(std::string_view bytes, Packing how);

}  // namespace compatpack::test
