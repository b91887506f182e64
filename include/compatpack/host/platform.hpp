// SPDX-License-Identifier: Apache-2.0
#pragma once

// What kind of machine it is, as far as forward compatibility cares.

#include <optional>
#include <string>

#include "compatpack/host/root.hpp"

namespace compatpack::host {

struct Platform {
  enum class Kind {
    plain,   ///< Linux with NVIDIA's own kernel driver, or none
    wsl,     ///< Windows Subsystem for Linux: the driver is Windows'
    jetson,  ///< Tegra: the driver comes with JetPack
  };
  Kind kind = Kind::plain;
  std::string evidence = {};     ///< what tells so; empty for `plain`
  std::string jetpack = {};      ///< "6.x", of a Jetson where it can be told
  std::string container = {};    ///< "a Docker container"; empty outside of one
  std::string arch = {};         ///< "x86_64"; empty if it cannot be told
  std::string glibc = {};        ///< "2.36"; empty if it cannot be told, or it is another C library
  std::string mps = {};          ///< what tells that MPS runs; empty if it does not seem to
  bool has_device_files = true;  ///< /dev/nvidiactl, without which no program reaches a GPU
};

/// Looks around below `root`. `own_arch` and `own_glibc` are this process's, for its own root.
[[nodiscard]] Platform read_platform(const HostRoot& root, const std::string& own_arch,
                                     const std::string& own_glibc);

/// "2.36": the version of the glibc that is installed below `root`; "" where there is none.
[[nodiscard]] std::string glibc_of(const HostRoot& root);

/// "6.x" of the text of /etc/nv_tegra_release ("# R36 (release), REVISION: 4.3, ..."); empty for a
/// release that is not known.
[[nodiscard]] std::string jetpack_of(std::string_view tegra_release);

}  // namespace compatpack::host
