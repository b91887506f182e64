// SPDX-License-Identifier: Apache-2.0
#pragma once

// The CUDA runtimes and toolkits on a host. Their version is the third of three that people take
// for one another: the kernel driver's, the driver API's (libcuda), and the runtime's.

#include <string>
#include <string_view>
#include <vector>

#include "compatpack/base/environment.hpp"
#include "compatpack/host/root.hpp"

namespace compatpack::host {

struct Runtime {
  std::string version;  ///< "12.4.127", "12.4", or "12" where no more can be told
  std::string path;     ///< the file that says so
};

/// Toolkits in CUDA_HOME, CUDA_PATH, /usr/local/cuda and where PATH has nvcc, and libcudart where
/// LD_LIBRARY_PATH, a conda environment, a Python one or the user's own Python packages have it.
[[nodiscard]] std::vector<Runtime> read_runtimes(const HostRoot& root, Environment environment);

}  // namespace compatpack::host
