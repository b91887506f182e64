// SPDX-License-Identifier: Apache-2.0
#pragma once

// The host's kernel driver, asked where it says so itself. nvidia-smi's "CUDA Version" and the
// names of libcuda files are no evidence: both change with what is on the loader's path.

#include <optional>
#include <string>
#include <string_view>

#include "compatpack/base/version.hpp"
#include "compatpack/host/root.hpp"

namespace compatpack::host {

enum class DriverFlavour { unknown, proprietary, open, tegra };

struct KernelDriver {
  std::optional<DriverVersion> version = {};  ///< nullopt: not seen
  DriverFlavour flavour = DriverFlavour::unknown;
  std::string origin = {};  ///< the file or option that said so; empty if none did
  bool is_of_another_machine = false;
  std::string problem = {};  ///< a file that should have said so, and why it did not; empty if none
};

struct DriverLine {
  DriverVersion version;
  DriverFlavour flavour;
};

/// Reads the text of /proc/driver/nvidia/version, in any of its three wordings:
///
///   NVRM version: NVIDIA UNIX x86_64 Kernel Module  515.76  Mon Sep 12 19:21:56 UTC 2022
///   NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.142  Release Build  (...)  ...
///   NVRM version: NVIDIA UNIX Kernel Module for aarch64  34.1.1  Release Build  (...)  ...
///
/// The last is a Jetson's, whose number names no branch. nullopt where no version is in it.
[[nodiscard]] std::optional<DriverLine> parse_driver_line(std::string_view text);

/// Reads /proc/driver/nvidia/version, then /sys/module/nvidia/version.
[[nodiscard]] KernelDriver read_kernel_driver(const HostRoot& root);

}  // namespace compatpack::host
