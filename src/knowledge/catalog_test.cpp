// SPDX-License-Identifier: Apache-2.0
#include "compatpack/knowledge/catalog.hpp"

#include <doctest/doctest.h>

using namespace compatpack;
using namespace compatpack::knowledge;

TEST_CASE("catalog: NVML is never part of CUDA's set") {
  const auto rows = library_rows("libnvidia-ml");

  REQUIRE(rows.size() == 1);
  CHECK(rows[0].component == Component::nvml);
}

TEST_CASE("catalog: the default set is NVIDIA's forward-compatibility set") {
  for (const char* const stem :
       {"libcuda", "libnvidia-ptxjitcompiler", "libnvidia-nvvm", "libnvidia-nvvm70",
        "libcudadebugger", "libnvidia-gpucomp", "libnvidia-tileiras", "libnvidia-pkcs11",
        "libnvidia-pkcs11-openssl3", "libnvidia-fatbinaryloader"}) {
    CAPTURE(stem);
    const auto rows = library_rows(stem);
    REQUIRE(rows.size() == 1);
    CHECK(rows[0].component == Component::cuda);
  }
}

TEST_CASE("catalog: a library may serve two components, and a new one none") {
  CHECK(library_rows("libnvidia-rtcore").size() == 2);
  CHECK(library_rows("libnvidia-newthing").empty());
}

TEST_CASE("catalog: every component but cuda and host says what it may break") {
  for (const ComponentRow& row : components()) {
    CAPTURE(row.name);
    const bool silent = row.component == Component::cuda || row.component == Component::host;
    CHECK(row.warning.empty() == silent);
    CHECK(component_named(row.name) == row.component);
  }
  CHECK_FALSE(component_named("all"));
}

TEST_CASE("catalog: what a set lacks goes by its CUDA version and architecture") {
  const auto lacked = [](std::set<std::string, std::less<>> stems, std::optional<CudaVersion> cuda,
                         std::string_view arch) {
    std::string all;
    for (const Lack& lack : find_lacks(stems, cuda, arch)) {
      all += lack.stems + ";";
    }
    return all;
  };
  const std::string since_131 = "libnvidia-gpucomp, libnvidia-nvvm70, libnvidia-tileiras";

  CHECK(lacked({}, CudaVersion{11, 4}, "x86_64") == "libnvidia-ptxjitcompiler;");
  CHECK(lacked({}, std::nullopt, "x86_64") == "libnvidia-ptxjitcompiler;");
  CHECK(lacked({}, CudaVersion{13, 1}, "i386") == "libnvidia-ptxjitcompiler;");
  CHECK(lacked({"libnvidia-ptxjitcompiler"}, CudaVersion{11, 5}, "x86_64") == "libnvidia-nvvm;");
  CHECK(lacked({"libnvidia-ptxjitcompiler", "libnvidia-nvvm"}, CudaVersion{12, 4}, "ppc64le") ==
        "libcudadebugger;");
  CHECK(lacked({"libnvidia-ptxjitcompiler", "libnvidia-nvvm", "libcudadebugger"},
               CudaVersion{13, 1}, "aarch64") == since_131 + ";");
  CHECK(lacked({"libnvidia-ptxjitcompiler", "libnvidia-nvvm", "libcudadebugger"},
               CudaVersion{13, 1}, "x86_64") == since_131 + ", libnvidia-pkcs11-openssl3;");
}

TEST_CASE("catalog: library names come apart at .so") {
  struct Case {
    const char* name;
    const char* stem;
    const char* suffix;
  };
  for (const Case& c : {Case{"libcuda.so.535.54.03", "libcuda", "535.54.03"},
                        Case{"libnvidia-nvvm.so.4.0.0", "libnvidia-nvvm", "4.0.0"},
                        Case{"libnvidia-nvvm70.so.4", "libnvidia-nvvm70", "4"},
                        Case{"libcuda.so", "libcuda", ""}}) {
    CAPTURE(c.name);
    const auto name = parse_library_name(c.name);
    REQUIRE(name);
    CHECK(name->stem == c.stem);
    CHECK(name->suffix == c.suffix);
  }
  for (const char* const other :
       {"", "nvidia_drv.so", "libcuda", "lib.so.1", "libcuda.so.", "libcuda.sox", "nvidia-smi"}) {
    CAPTURE(other);
    CHECK_FALSE(parse_library_name(other));
  }
}

TEST_CASE("catalog: look-alikes stand under known folders at any depth") {
  CHECK(is_decoy_folder("libglvnd_install_checker"));
  CHECK(is_decoy_folder("32/libglvnd_install_checker"));
  CHECK(is_decoy_folder("usr/local/cuda/lib64/stubs"));
  CHECK_FALSE(is_decoy_folder("32"));
  CHECK_FALSE(is_decoy_folder(""));
}
