// SPDX-License-Identifier: Apache-2.0
#include "compatpack/knowledge/gpu_names.hpp"

#include <array>

#include <doctest/doctest.h>

using namespace compatpack::knowledge;

TEST_CASE("gpu names: class and architecture, as the drivers write them") {
  struct Case {
    const char* name;
    GpuClass gpu_class;
    Architecture architecture;
  };
  using enum GpuClass;
  using A = Architecture;
  const auto cases = std::to_array<Case>({
      {"NVIDIA A100-SXM4-80GB", data_center, A::ampere},
      {"A100", data_center, A::ampere},
      {"NVIDIA A10G", data_center, A::ampere},
      {"A2", data_center, A::ampere},
      {"NVIDIA A800-SXM4-80GB", data_center, A::ampere},
      {"NVIDIA H100 80GB HBM3", data_center, A::hopper},
      {"NVIDIA H200 NVL", data_center, A::hopper},
      {"NVIDIA GH200 480GB", data_center, A::hopper},
      {"NVIDIA L40S", data_center, A::ada},
      {"NVIDIA GB200", data_center, A::blackwell},
      {"Tesla V100-SXM2-32GB", data_center, A::volta},
      {"Tesla T4", data_center, A::turing},
      {"NVIDIA T4", data_center, A::turing},
      {"Tesla K80", data_center, A::kepler},
      {"Tesla P40", data_center, A::pascal},
      {"NVIDIA GeForce RTX 4090", geforce, A::ada},
      {"GeForce GTX 1080 Ti", geforce, A::pascal},
      {"GeForce GTX 1660", geforce, A::turing},
      {"GeForce RTX 2080 SUPER", geforce, A::turing},
      {"NVIDIA GeForce RTX 5090 D", geforce, A::blackwell},
      {"GeForce 940MX", geforce, A::unknown},
      {"TITAN V", geforce, A::volta},
      {"NVIDIA TITAN RTX", geforce, A::turing},
      {"NVIDIA CMP 170HX", mining, A::unknown},
      {"NVIDIA A800 40GB Active", workstation, A::ampere},
      {"Quadro RTX 8000", workstation, A::turing},
      {"Quadro P4000", workstation, A::pascal},
      {"Quadro GV100", workstation, A::volta},
      {"Quadro K620", workstation, A::unknown},
      {"NVIDIA RTX A2000", workstation, A::ampere},
      {"NVIDIA RTX 6000 Ada Generation", workstation, A::ada},
      {"NVIDIA RTX PRO 6000 Blackwell Server Edition", workstation, A::blackwell},
      {"NVIDIA T1000", workstation, A::turing},
      {"NVIDIA T400 4GB", workstation, A::turing},
      {"NVIDIA T600 Laptop GPU", workstation, A::turing},
      {"Matrox D-Series D1450", workstation, A::unknown},
      {"NVIDIA RTX 5880 Ada Generation", workstation, A::ada},
      {"NVIDIA RTX 4000 SFF Ada Generation", workstation, A::ada},
      {"Quadro RTX 3000", workstation, A::turing},
      {"NVIDIA GB10", unclear, A::blackwell},
      {"NVIDIA DRIVE P2021", unclear, A::unknown},
      {"NVIDIA DGX Display", unclear, A::unknown},
      {"Tesla T4-8Q", unclear, A::unknown},
      {"GRID V100-8Q", unclear, A::unknown},
      {"NVIDIA A40-48Q", unclear, A::unknown},
      {"NVIDIA A100-1-5C", unclear, A::unknown},
      {"Orin (nvgpu)", unclear, A::unknown},
      // As people type them.
      {"a100", data_center, A::ampere},
      {"nvidia h100", data_center, A::hopper},
      {"tesla v100", data_center, A::volta},
      {"geforce rtx 3090", geforce, A::ampere},
      {"RTX 4090", geforce, A::ada},
      {"rtx 3060 ti", geforce, A::ampere},
      {"GTX 1080", geforce, A::pascal},
      {"Titan V", geforce, A::volta},
      {"quadro p4000", workstation, A::pascal},
      {"Unknown", unclear, A::unknown},
      {"", unclear, A::unknown},
  });
  for (const Case& c : cases) {
    CAPTURE(c.name);

    const GpuKind kind = classify_gpu(c.name);

    CHECK(name_of(kind.gpu_class) == name_of(c.gpu_class));
    CHECK(row_of(kind.architecture).name == row_of(c.architecture).name);
  }
}

TEST_CASE("gpu names: branches from 495 on drop Kepler, from 590 on Volta and older") {
  CHECK(row_of(Architecture::kepler).last_branch == 470);
  CHECK(row_of(Architecture::maxwell).last_branch == 580);
  CHECK(row_of(Architecture::pascal).last_branch == 580);
  CHECK(row_of(Architecture::volta).last_branch == 580);
  CHECK(row_of(Architecture::turing).last_branch == 0);
}
