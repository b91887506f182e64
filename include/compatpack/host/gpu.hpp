// SPDX-License-Identifier: Apache-2.0
#pragma once

// The GPUs of a host, without NVML: the driver's own `information` files give names; /sys gives PCI
// ids, for which pci.ids, where the host has it, gives a name.

#include <string>
#include <string_view>
#include <vector>

#include "compatpack/host/root.hpp"

namespace compatpack::host {

struct Gpu {
  std::string name;              ///< "NVIDIA A100-SXM4-80GB"; empty if it cannot be told
  std::string origin;            ///< the file that gave the name, or the GPU's presence; or "--gpu"
  std::string address = {};      ///< "0000:3b:00.0"; empty if not known
  std::string uuid = {};         ///< "GPU-..."; empty if not known
  std::string pci_id = {};       ///< "10de:20b2, subsystem 10de:1463"; empty if not known
  bool named_by_driver = false;  ///< the kernel driver that is loaded knows this GPU by name
};

/// All of them, by address.
[[nodiscard]] std::vector<Gpu> read_gpus(const HostRoot& root);

/// The name in a pci.ids file for a device and subsystem, each of four lower-case hexadecimal
/// digits: the subsystem's, if it has one of its own, or the device's. Of "GA100 [A100 SXM4 80GB]"
/// only what is in brackets; empty where that is missing, since what is left is a chip.
[[nodiscard]] std::string find_pci_name(std::string_view pci_ids, std::string_view device,
                                        std::string_view subsystem_vendor,
                                        std::string_view subsystem_device);

}  // namespace compatpack::host
