// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which members of a bundle are wanted, and why the others are not. Pure: names, ELF heads and the
// user's choice in, a verdict out.

#include <set>
#include <string>
#include <vector>

#include "compatpack/base/rel_path.hpp"
#include "compatpack/formats/elf.hpp"
#include "compatpack/knowledge/catalog.hpp"

namespace compatpack::pipeline {

/// Whether a glob of --include, --exclude or --member names a member: it fits the whole path, or
/// the last component.
[[nodiscard]] bool matches_glob(const std::string& glob, const RelPath& path);

/// What the user asked for.
struct SelectionRequest {
  std::set<knowledge::Component> components = {};  ///< `host` is never among them
  bool all = false;  ///< every shared library, those that no component knows too
  std::vector<std::string> include = {};  ///< globs over a member's path or last component
  std::vector<std::string> exclude = {};  ///< likewise; stronger than `include`
  std::string arch = {};                  ///< "x86_64", "i386", "aarch64", "ppc64le"

  friend bool operator==(const SelectionRequest&, const SelectionRequest&) = default;
};

/// Reads --components: names of components, comma-separated, or "all". Error usage names the
/// unknown one and lists the known.
Result<SelectionRequest> parse_components(std::string_view list);

struct Selection {
  enum class Use {
    library,   ///< into the tree, if it is a shared library of the right architecture
    file,      ///< into the tree: --include names it
    manifest,  ///< read for links
    licence,   ///< into the tree as LICENSE
    none,
  };
  Use use;
  std::string component;  ///< of a library, also one that is left out; "" if no component knows it
  std::string reason;     ///< why `none`; "" otherwise
  bool is_unknown = false;  ///< why `none`: no component knows the library
};

/// The verdict on a regular file by its path alone.
[[nodiscard]] Selection select_by_path(const RelPath& path, const SelectionRequest& request);

/// Why a file that is wanted by its path is left out after all, from its first bytes
/// (formats::kElfHeadSize of them, or all there are); "" if it is not.
[[nodiscard]] std::string unfit_content(std::span<const std::byte> head, const Selection& selection,
                                        const SelectionRequest& request);

}  // namespace compatpack::pipeline
