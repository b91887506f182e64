// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "compatpack/base/result.hpp"

namespace compatpack::pipeline {

/// Checks a place where a tree is to live: `path` is absolute and without dots.
///
/// Errors, with `subject` set to `path`:
///   usage     LD_LIBRARY_PATH cannot carry it: it holds ':', ';' or '$', which the loader reads as
///             separators and variables; or it is not absolute
///   conflict  it is one of the system's library folders, where the host's own driver is, or below
///             one
Result<Done> check_tree_path(const std::string& path);

}  // namespace compatpack::pipeline
