// SPDX-License-Identifier: Apache-2.0
#pragma once

// Modulefiles: what a cluster's module system reads to activate a tree, for Lmod (Lua) and for
// Environment Modules (Tcl). Their text stands in src/pipeline/modulefile/module.*.in, with three
// places to fill, each a string of that language: @TREE@, where the tree lives, @DRIVER@ and
// @CUDA@, the versions of what is in it.
//
// Like env.sh a modulefile reads the host's driver version at each load, and leaves all as it is on
// a host that is not older than the tree. The module system restores what it has set; that it was
// set at all stands in _COMPATPACK_MODULES, so that unloading undoes what loading did, and no more.
// tests/e2e/modules.sh tries both in the real programs.

#include <optional>
#include <string>

#include "compatpack/base/result.hpp"
#include "compatpack/base/version.hpp"

namespace compatpack::pipeline {

struct ModuleFacts {
  std::optional<DriverVersion> driver;  ///< nullopt: not known, so that no host's is too new for it
  std::string cuda;                     ///< "12.4"; "" if not known
  std::string tree;                     ///< absolute path
};

enum class ModuleFormat { lua, tcl };

/// Text of a modulefile. Equal facts give equal text. Fails with `usage` where `facts.tree` has a
/// control character in it, such as a newline: module systems lose these on the way to the shell.
[[nodiscard]] Result<std::string> make_modulefile(ModuleFormat format, const ModuleFacts& facts);

}  // namespace compatpack::pipeline
