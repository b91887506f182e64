// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the parts of loader.hpp share: the folders that the loader looks into, and how a name is
// found in one.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compatpack/host/loader.hpp"

namespace compatpack::host {

inline constexpr const char* kLibcuda = "libcuda.so.1";

/// A folder that the loader looks into, and why.
struct Place {
  std::string folder;
  FoundBy by;
  std::string how;  ///< as in FoundLibrary
};

/// "/usr/lib" of "/usr/lib/libcuda.so.1"; "." where there is no folder.
[[nodiscard]] std::string_view folder_of(std::string_view path);

/// `folder` without slashes at its end.
[[nodiscard]] std::string without_slashes(std::string_view folder);

/// What the loader would open for `name` in that place.
[[nodiscard]] std::optional<FoundLibrary> find_in(const HostRoot& root, const Place& place,
                                                  const std::string& name);

/// Follows the program at `path` and its libraries as the loader does. `environment` is what
/// LD_LIBRARY_PATH says, `system` what comes after it.
///
/// Errors: those of read_loader() for its application.
[[nodiscard]] Result<Application> follow_application(const HostRoot& root, const std::string& path,
                                                     std::vector<Place> environment,
                                                     std::vector<Place> system);

}  // namespace compatpack::host
