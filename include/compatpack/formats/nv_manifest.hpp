// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads the .manifest at the root of an NVIDIA driver's payload: which file is of which kind and
// width, and which links go with it.
//
//   1  NVIDIA Accelerated Graphics Driver for Linux-x86_64
//   2  535.54.03
//   3  one blank                                   was a file of the kernel interface
//   4  nvidia nvidia-uvm nvidia-modeset            kernel modules
//   5, 6  one blank each                           were lists
//   7, 8  ./kernel/, ./kernel/precompiled/
//   9... libcuda.so.535.54.03 0755 CUDA_LIB NATIVE / MODULE:gpgpu
//        libcuda.so.1 0000 CUDA_SYMLINK NATIVE / libcuda.so.535.54.03 MODULE:gpgpu
//        ./32/libcuda.so.535.54.03 0755 CUDA_LIB COMPAT32 / MODULE:gpgpu
//   to the first empty line
//
// A row is `file mode TYPE` and then words that depend on the type and on the driver's version, so
// they are told by what they are and not by where they stand. A link's row names the link alone,
// without 32/ even where it is COMPAT32: one name may stand for two links.
//
// The manifest is a hint. Which files are wanted is decided by name, so a row that cannot be read
// is put aside, and a type that nobody has heard of is a type.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compatpack/base/rel_path.hpp"
#include "compatpack/base/result.hpp"

namespace compatpack::formats {

// Driver 580.105.08 has 1,248 lines of at most 150 bytes.
inline constexpr std::size_t kManifestRowsMax = 50'000;
inline constexpr std::size_t kManifestRowMax = 16'384;   ///< bytes: two paths of 4,095 and words
inline constexpr std::size_t kManifestIgnoredMax = 100;  ///< rows kept that could not be read

enum class ManifestWidth { none, native, compat32 };

struct ManifestEntry {
  RelPath file;      ///< in the payload; of a link, its own name
  unsigned mode;     ///< permission bits of the installed file, setuid too; 0 for a link
  std::string type;  ///< "CUDA_LIB"
  ManifestWidth width = ManifestWidth::none;
  std::string folder = {};  ///< where it goes, as written: "/", "vdpau/", "/usr/bin/"; often empty
  std::optional<std::string> target = {};  ///< of a link, as written; nullopt where it names none
  std::string module = {};                 ///< "gpgpu"; empty if none

  /// Whether the type is that of a link.
  [[nodiscard]] bool is_link() const;
};

/// A row that could not be read.
struct IgnoredRow {
  std::size_t line;    ///< counted from 1
  std::string reason;  ///< one clause
  std::string text;    ///< the row, cut to 200 bytes
};

struct NvManifest {
  std::string description;
  std::string version;  ///< as written
  std::vector<ManifestEntry> entries = {};
  std::vector<IgnoredRow> ignored = {};  ///< the first kManifestIgnoredMax of them
  std::size_t ignored_count = 0;         ///< of all of them
};

/// Parses `text`, the whole of a .manifest. Keeps nothing of it.
///
/// Does not check that a link's target is harmless: it is text until somebody makes a RelPath of
/// it.
///
/// Errors, with `at` set:
///   corrupt  fewer than eight lines of header, or no version in line 2
///   limit    more rows than kManifestRowsMax, or one longer than kManifestRowMax
Result<NvManifest> parse_nv_manifest(std::string_view text);

}  // namespace compatpack::formats
