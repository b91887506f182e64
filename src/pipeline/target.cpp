// SPDX-License-Identifier: Apache-2.0
#include "compatpack/pipeline/target.hpp"

#include <array>

#include "compatpack/base/text.hpp"

namespace compatpack::pipeline {
namespace {

// Folders that loaders search by default, on the distributions that NVIDIA builds drivers for.
constexpr std::array<std::string_view, 12> kSystemFolders{
    "/lib",           "/lib32",           "/lib64",       "/libx32",
    "/usr/lib",       "/usr/lib32",       "/usr/lib64",   "/usr/libx32",
    "/usr/local/lib", "/usr/local/lib64", "/usr/lib/wsl", "/run/opengl-driver"};

}  // namespace

Result<Done> check_tree_path(const std::string& path) {
  if (!path.starts_with('/')) {
    return Error{.code = Errc::usage,
                 .what = "not an absolute path",
                 .subject = path.empty() ? "--prefix" : path,
                 .expected = "a path that begins with /"};
  }
  if (const std::size_t at = path.find_first_of(":;$"); at != std::string::npos) {
    return Error{.code = Errc::usage,
                 .what = "LD_LIBRARY_PATH cannot carry this path",
                 .subject = path,
                 .expected = "a path without ':', ';' and '$'",
                 .found = std::string(1, path[at]),
                 .hint = "choose another folder"};
  }
  for (const std::string_view folder : kSystemFolders) {
    if (is_at_or_below(path, folder)) {
      return Error{.code = Errc::conflict,
                   .what = "refusing to write into the system's library folders",
                   .subject = path,
                   .found = std::string(folder) + " is searched by the loader",
                   .hint =
                       "it would break the host's own driver; use a folder such as "
                       "/opt/cuda-compat or /usr/local/cuda/compat"};
    }
  }
  return Done{};
}

}  // namespace compatpack::pipeline
