// SPDX-License-Identifier: Apache-2.0
#pragma once

// The architectures that NVIDIA's drivers are built for, and what others call them.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace compatpack {

struct ArchRow {
  std::string_view name;    ///< ours, and that of uname and rpm: "x86_64"
  std::string_view debian;  ///< "amd64"
  std::string_view go;      ///< and so in OCI images: "amd64"
  std::uint16_t machine;    ///< e_machine of an ELF file, which is little-endian for all of them
  int bits;                 ///< of an ELF file: 32 or 64
};

[[nodiscard]] std::span<const ArchRow> archs();

/// Our name of one as packages, programs and kernels call it: "x86_64" for "amd64", "i386" for
/// "i686"; "" for "all" and "noarch", which say none; any other as it is.
[[nodiscard]] std::string our_arch(std::string_view name);

}  // namespace compatpack
