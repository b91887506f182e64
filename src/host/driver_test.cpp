// SPDX-License-Identifier: Apache-2.0
#include "compatpack/host/driver.hpp"

#include <array>
#include <filesystem>
#include <fstream>

#include <doctest/doctest.h>

#include "compatpack/host/gpu.hpp"
#include "compatpack/host/platform.hpp"

#include "support/temp_dir.hpp"

using namespace compatpack;
using namespace compatpack::host;
namespace fs = std::filesystem;

namespace {

/// A machine's files, made one by one.
class Picture {
 public:
  Picture& with(const std::string& path, const std::string& text) {
    const fs::path at = folder_.path() / path.substr(1);
    fs::create_directories(at.parent_path());
    std::ofstream(at) << text;
    return *this;
  }

  [[nodiscard]] HostRoot root() const { return *HostRoot::open(folder_.path().string()); }
  [[nodiscard]] std::string path() const { return folder_.path().string(); }

 private:
  test::TempDir folder_;
};

constexpr const char* kProc = "/proc/driver/nvidia/version";
constexpr const char* kSys = "/sys/module/nvidia/version";

}  // namespace

TEST_CASE("driver: the version is read in all three wordings, of two or three parts") {
  struct Case {
    const char* text;
    const char* version;
    DriverFlavour flavour;
  };
  const auto cases = std::to_array<Case>({
      {"NVRM version: NVIDIA UNIX x86_64 Kernel Module  515.76  Mon Sep 12 19:21:56 UTC 2022\nGCC "
       "version:  gcc version 12.2.0\n",
       "515.76", DriverFlavour::proprietary},
      {"NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.142  Release Build  "
       "(dvs-builder@x-1.2.3)  Tue Mar 10 2026\n",
       "580.142", DriverFlavour::open},
      {"NVRM version: NVIDIA UNIX Kernel Module for aarch64  34.1.1  Release Build  (x)  Mon\n",
       "34.1.1", DriverFlavour::tegra},
      {"NVRM version: NVIDIA UNIX x86_64 Kernel Module  460.073.01  Thu", "460.073.01",
       DriverFlavour::proprietary},
  });
  for (const Case& c : cases) {
    CAPTURE(c.text);

    const auto line = parse_driver_line(c.text);

    REQUIRE(line);
    CHECK(line->version.text() == c.version);
    CHECK(line->flavour == c.flavour);
  }
  for (const char* const none : {"", "GCC version:  gcc version 12.2.0\n", "NVRM version: NVIDIA\n",
                                 "Kernel Module  515.76\n", "NVRM Kernel Module  x\n515.76\n"}) {
    CAPTURE(none);
    CHECK_FALSE(parse_driver_line(none));
  }
}

TEST_CASE("driver: /proc is asked first, /sys where /proc is masked") {
  const std::string line = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.54.03  Mon\n";
  Picture both;
  both.with(kProc, line).with(kSys, "580.1\n");
  Picture masked;
  masked.with(kProc, "").with(kSys, "535.54.03\n");
  Picture broken;
  broken.with(kProc, "").with(kSys, "x\n");
  const Picture none;

  CHECK(read_kernel_driver(both.root()).version->text() == "535.54.03");
  CHECK(read_kernel_driver(both.root()).origin == kProc);
  CHECK(read_kernel_driver(masked.root()).version->text() == "535.54.03");
  CHECK(read_kernel_driver(masked.root()).origin == kSys);
  CHECK_FALSE(read_kernel_driver(broken.root()).version);
  CHECK(read_kernel_driver(broken.root()).problem ==
        std::string(kProc) + " is empty; " + kSys + " holds no driver version");
  CHECK_FALSE(read_kernel_driver(none.root()).version);
  CHECK(read_kernel_driver(none.root()).problem.empty());
}

TEST_CASE("root: links stay below it, however they are written") {
  Picture outside;
  outside.with("/secret", "515.76\n");
  Picture picture;
  picture.with("/inside", "535.54.03\n").with("/sys/module/nvidia/x", "");
  fs::create_symlink("/inside", picture.path() + "/sys/module/nvidia/version");
  fs::create_symlink(outside.path() + "/secret", picture.path() + "/absolute");
  fs::create_symlink("../../../../../../../" + outside.path() + "/secret",
                     picture.path() + "/relative");

  CHECK(read_kernel_driver(picture.root()).version->text() == "535.54.03");
  CHECK(picture.root().read("/absolute").state == HostText::State::absent);
  CHECK(picture.root().read("/relative").state == HostText::State::absent);
  CHECK(picture.root().look("/sys/module/nvidia/version")->real_path == "/inside");
}

TEST_CASE("gpu: names come from the driver, or from pci.ids by device and subsystem") {
  Picture picture;
  const std::string pci = "/sys/bus/pci/devices/";
  picture
      .with("/proc/driver/nvidia/gpus/0000:3b:00.0/information",
            "Model: \t\t NVIDIA A100-SXM4-40GB\nGPU UUID: \t GPU-1\n")
      .with("/proc/driver/nvidia/gpus/0000:5e:00.0/information",
            "Model: \t\t Unknown\nGPU UUID: \t GPU-?\?\?\?\n");
  for (const auto& [address, device] :
       {std::pair{"0000:5e:00.0", "0x20b2"}, {"0000:86:00.0", "0x20b3"}}) {
    picture.with(pci + address + "/vendor", "0x10de\n")
        .with(pci + address + "/class", "0x030200\n")
        .with(pci + address + "/device", std::string(device) + "\n")
        .with(pci + address + "/subsystem_vendor", "0x10de\n")
        .with(pci + address + "/subsystem_device", "0x147f\n");
  }
  picture.with(pci + "0000:86:00.1/vendor", "0x10de\n")
      .with(pci + "0000:86:00.1/class", "0x040300\n")
      .with("/usr/share/hwdata/pci.ids",
            "10de  NVIDIA\n\t20b2  GA100 [A100 SXM4 80GB]\n\t\t10de 147f  A100-SXM-80GB\n");

  const auto gpus = read_gpus(picture.root());

  REQUIRE(gpus.size() == 3);
  CHECK(gpus[0].name == "NVIDIA A100-SXM4-40GB");
  CHECK(gpus[0].uuid == "GPU-1");
  CHECK(gpus[0].named_by_driver);
  CHECK(gpus[1].name == "A100-SXM-80GB");
  CHECK(gpus[1].uuid.empty());
  CHECK_FALSE(gpus[1].named_by_driver);
  CHECK(gpus[2].name.empty());
  CHECK(gpus[2].pci_id == "10de:20b3, subsystem 10de:147f");
}

TEST_CASE("gpu: of pci.ids only what is sold under that name counts") {
  constexpr std::string_view kIds =
      "10dd  Other\n\t20b2  Wrong [GeForce]\n10de  NVIDIA\n\t20b2  GA100 [A100 SXM4 80GB]\n"
      "\t\t10de 147f  A100-SXM-80GB\n\t24a0  GN21-X11\n\t\t10de 147f  Not of 20b2\n10df  Next\n";

  CHECK(find_pci_name(kIds, "20b2", "10de", "147f") == "A100-SXM-80GB");
  CHECK(find_pci_name(kIds, "20b2", "10de", "0000") == "A100 SXM4 80GB");
  CHECK(find_pci_name(kIds, "24a0", "10de", "0000").empty());
  CHECK(find_pci_name(kIds, "ffff", "10de", "147f").empty());
  CHECK(find_pci_name("", "20b2", "10de", "147f").empty());
}

TEST_CASE("platform: WSL2, Jetson, containers and MPS are told by what they leave") {
  Picture wsl;
  wsl.with("/proc/sys/kernel/osrelease", "5.15.0-microsoft-standard-WSL2\n");
  Picture wsl_library;
  wsl_library.with("/usr/lib/wsl/lib/libcuda.so.1", "");
  Picture orin;
  orin.with("/etc/nv_tegra_release", "# R36 (release), REVISION: 4.3\n");
  Picture unknown_jetson;
  unknown_jetson.with("/proc/device-tree/model", "NVIDIA Jetson Next");
  Picture busy;
  busy.with("/.dockerenv", "").with("/proc/17/comm", "nvidia-cuda-mps\n");
  const auto look = [](const Picture& picture) { return read_platform(picture.root(), "", ""); };

  CHECK(look(wsl).kind == Platform::Kind::wsl);
  CHECK(look(wsl_library).kind == Platform::Kind::wsl);
  CHECK(look(wsl_library).evidence == "/usr/lib/wsl/lib");
  CHECK(look(orin).kind == Platform::Kind::jetson);
  CHECK(look(orin).jetpack == "6.x");
  CHECK(look(unknown_jetson).kind == Platform::Kind::jetson);
  CHECK(look(unknown_jetson).jetpack.empty());
  CHECK(look(busy).kind == Platform::Kind::plain);
  CHECK(look(busy).container == "a Docker container");
  CHECK(look(busy).mps == "process 17");
  CHECK(jetpack_of("# R35 (release), REVISION: 1.0") == "5.x");
  CHECK(jetpack_of("# R99 (release)").empty());
}
