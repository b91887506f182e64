// SPDX-License-Identifier: Apache-2.0
#pragma once

// Completions for shells, made from the reference. The project keeps what these give in
// completions/; see scripts/make-reference.

#include <string>

#include "compatpack/cli/reference.hpp"

namespace compatpack::cli {

/// A file to be sourced by bash, or put into share/bash-completion/completions.
std::string bash_completion(const Reference& all);

/// A file _compatpack for a folder of zsh's fpath.
std::string zsh_completion(const Reference& all);

/// A file for share/fish/vendor_completions.d.
std::string fish_completion(const Reference& all);

}  // namespace compatpack::cli
