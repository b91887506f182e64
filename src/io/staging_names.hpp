// SPDX-License-Identifier: Apache-2.0
#pragma once

// What is written before it appears has a name beside its target, and a lock while its process
// lives:
//
//   .NAME.compatpack-staging-XXXXXX

#include <string>
#include <string_view>

#include "compatpack/io/fd.hpp"

namespace compatpack::io {

inline constexpr std::string_view kStagingMark = ".compatpack-staging-";

/// How often a name is tried that somebody else may take first.
inline constexpr int kNameTries = 100;

/// Six letters that nobody else has thought of.
std::string random_suffix();

/// The name of what is staged for `name`, but for the suffix.
std::string staging_prefix(const std::string& name);

/// Removes what is staged for `name` by a process that is gone: its lock can be taken. Where a lock
/// says nothing of other machines, only what is a day old.
void remove_stale_staging(const Fd& parent, const std::string& name);

/// fsync(), again where a signal came in between.
int fsync_retrying(int fd);

}  // namespace compatpack::io
