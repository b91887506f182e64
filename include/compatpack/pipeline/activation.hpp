// SPDX-License-Identifier: Apache-2.0
#pragma once

// The scripts in a tree that a shell sources to use it: env.sh, env.fish, env.csh. Their text
// stands in src/pipeline/activation/env.*.in, with three places to fill: @PREFIX@, where the tree
// will live, as one word of that shell; @DRIVER@, the version of the driver in it, for people; and
// @COMPARED@, the version that the host's must be older than.
//
// A script looks for its own folder first, where its shell can tell it (bash, zsh, ksh93, fish),
// and takes @PREFIX@ otherwise. It reads the host's driver version each time, so that one tree
// serves hosts that need it and hosts that do not. What it does is compared between shells by
// tests/e2e/activation.sh.
//
// State is exported, so that a child shell, also of another kind, can take over:
//   COMPATPACK_TREE                               the active tree
//   _COMPATPACK_OLD_LD, _TRITON, _JULIA           what the three variables were; unset if unset

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compatpack/base/result.hpp"
#include "compatpack/base/version.hpp"

namespace compatpack::pipeline {

struct ActivationFacts {
  std::optional<DriverVersion> driver;  ///< nullopt: not known, so that no host's is too new for it
  std::string prefix;  ///< absolute path of the folder where the tree will live; any bytes but NUL
};

/// Text of env.sh, for POSIX shells. Equal facts give equal text.
[[nodiscard]] std::string make_env_sh(const ActivationFacts& facts);

/// Text of env.fish, for fish 3.1 and later.
[[nodiscard]] std::string make_env_fish(const ActivationFacts& facts);

/// Text of env.csh, for tcsh.
[[nodiscard]] std::string make_env_csh(const ActivationFacts& facts);

/// Names of the three in a tree.
inline constexpr std::array<std::string_view, 3> kScriptNames{"env.sh", "env.fish", "env.csh"};

/// All three, by their names.
[[nodiscard]] std::map<std::string, std::string> make_scripts(const ActivationFacts& facts);

enum class Shell { sh, fish, csh };

/// One line of code, ending in a newline, that activates the tree at `tree` when evaluated, also
/// where the shell could not tell where the tree lies and where the tree has been moved:
///
///   eval "$(compatpack env TREE)"                       sh
///   compatpack env TREE --shell fish | source           fish
///   eval "`compatpack env TREE --shell csh`"            csh; quotes for * ? [ { in a path
///
/// It names the tree's own script and sources it. `tree` must be absolute. Fails with `usage` where
/// no such line can be: a newline in `tree`, for csh, which takes it for the end of a word.
[[nodiscard]] Result<std::string> make_eval_code(Shell shell, std::string_view tree);

/// A process's `environment` (NAME=value) as env.sh leaves it once the tree at `tree` is active,
/// for a program that is started without a shell. Another tree that is active is deactivated first.
/// Requires: `tree` is absolute.
[[nodiscard]] std::vector<std::string> activated(std::vector<std::string> environment,
                                                 const std::string& tree);

}  // namespace compatpack::pipeline
