// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which library of a driver belongs to which component, and why. Data, not code: a library that is
// new in some branch is a row.

#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compatpack/base/version.hpp"

namespace compatpack::knowledge {

/// What a user can ask for by name.
enum class Component {
  cuda,  ///< NVIDIA's own forward-compatibility set
  nvml,  ///< management: NVML and what belongs to it
  opencl,
  video,
  graphics,
  optix,
  host,  ///< belongs to the host's driver installation; never taken by component
};

struct ComponentRow {
  Component component;
  std::string_view name;     ///< as in --components
  std::string_view warning;  ///< what of a newer driver may break or not work; may be ""
};

struct LibraryRow {
  std::string_view stem;  ///< "libcuda" for libcuda.so.535.54.03
  Component component;
  /// The soname's end behind the stem, ".so.4", for where the library itself has none or a wrong
  /// one; "" where the soname is the file's name.
  std::string_view soname_suffix;
};

/// All components, in the order in which they are shown.
[[nodiscard]] std::span<const ComponentRow> components();

[[nodiscard]] const ComponentRow& row_of(Component component);

/// The component of that name; nullopt for none. "all" is not a component.
[[nodiscard]] std::optional<Component> component_named(std::string_view name);

/// The rows of a stem: several where a library serves several components, none where no row knows
/// it.
[[nodiscard]] std::vector<LibraryRow> library_rows(std::string_view stem);

/// Libraries without which something does not work.
struct Lack {
  std::string stems;         ///< "libnvidia-gpucomp, libnvidia-tileiras"
  std::string_view without;  ///< what does not, in a clause
  bool breaks_programs;      ///< known to be missed by programs that run, not by tools alone
};

/// What a set of libraries with a libcuda, of these `stems`, lacks of what NVIDIA's packages for
/// `cuda` (nullopt: not known) and `arch` have; libraries whose lack does the same are one.
[[nodiscard]] std::vector<Lack> find_lacks(const std::set<std::string, std::less<>>& stems,
                                           std::optional<CudaVersion> cuda, std::string_view arch);

/// A file name that a shared library has: lib*.so or lib*.so.*
struct LibraryName {
  std::string_view stem;  ///< all before ".so"
  std::string_view
      suffix;  ///< behind ".so.": "535.54.03", "1"; empty for a name that ends in ".so"
};

/// Takes a library's file name apart; nullopt for any other name. Views into `file_name`.
[[nodiscard]] std::optional<LibraryName> parse_library_name(std::string_view file_name);

/// Whether a member in `folder` is a look-alike that is not for use: nvidia-installer's test
/// libraries under libglvnd_install_checker/, and the toolkit's link-time stubs under stubs/.
[[nodiscard]] bool is_decoy_folder(std::string_view folder);

}  // namespace compatpack::knowledge
