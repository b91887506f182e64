// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a GPU's name tells: whether forward compatibility is meant for it, and its architecture.
// There is no file that tells the brand, and NVML, which could, belongs to the host's driver: so a
// name gives what is to be expected, never what is supported.

#include <cstdint>
#include <string_view>

#include "compatpack/base/version.hpp"

namespace compatpack::knowledge {

enum class GpuClass {
  data_center,
  workstation,  ///< Quadro, RTX and T series
  geforce,      ///< GeForce and Titan
  mining,       ///< CMP
  unclear,      ///< another name, a virtual GPU, or none
};

enum class Architecture {
  unknown,
  kepler,
  maxwell,
  pascal,
  volta,
  turing,
  ampere,
  ada,
  hopper,
  blackwell,
};

struct GpuKind {
  GpuClass gpu_class;
  Architecture architecture;  ///< unknown where the name does not tell it for sure
};

/// Reads a name as the driver's `information` files, nvidia-smi and lspci write it, with or without
/// "NVIDIA " before it, or as people type it: "a100", "RTX 4090".
[[nodiscard]] GpuKind classify_gpu(std::string_view written);

struct ArchitectureRow {
  Architecture architecture;
  std::string_view name;      ///< "Volta"
  CudaVersion first_cuda;     ///< the first toolkit that builds for it
  std::uint32_t last_branch;  ///< the last driver branch that drives it; 0: none has dropped it
};

[[nodiscard]] const ArchitectureRow& row_of(Architecture architecture);

/// "data center", "workstation", "GeForce or Titan", "mining", "unclear".
[[nodiscard]] std::string_view name_of(GpuClass gpu_class);

}  // namespace compatpack::knowledge
