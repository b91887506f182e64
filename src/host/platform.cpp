// SPDX-License-Identifier: Apache-2.0
#include "compatpack/host/platform.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include "compatpack/base/bytes.hpp"
#include "compatpack/base/text.hpp"
#include "compatpack/formats/elf.hpp"

namespace compatpack::host {
namespace {

// /proc of a large machine; beyond this MPS is not looked for.
constexpr std::size_t kProcessesMax = 50'000;

constexpr auto kCLibraries = std::to_array<const char*>(
    {"/lib/x86_64-linux-gnu/libc.so.6", "/lib64/libc.so.6", "/lib/aarch64-linux-gnu/libc.so.6",
     "/lib/powerpc64le-linux-gnu/libc.so.6", "/usr/lib/libc.so.6"});

void read_c_library(const HostRoot& root, Platform& platform) {
  for (const char* const path : kCLibraries) {
    const auto file = root.map(path);
    if (!file) {
      continue;
    }
    if (const auto head = formats::parse_elf_head(file->bytes())) {
      platform.arch = name_of(*head);
    }
    constexpr std::string_view kBanner = "GNU C Library ";
    constexpr std::string_view kRelease = " release version ";
    const std::string_view text = as_text(file->bytes());
    const std::size_t banner = text.find(kBanner);
    if (banner == std::string_view::npos) {
      return;
    }
    const std::string_view line = text.substr(banner, 256);
    const std::size_t at = line.find(kRelease);
    if (at != std::string_view::npos) {
      const std::string_view version = line.substr(at + kRelease.size());
      platform.glibc = version.substr(0, version.find_first_not_of("0123456789."));
      if (platform.glibc.ends_with('.')) {
        platform.glibc.pop_back();
      }
    }
    return;
  }
}

std::string running_mps(const HostRoot& root) {
  std::size_t seen = 0;
  for (const std::string& name : root.list("/proc")) {
    const bool is_process =
        std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
    if (!is_process) {
      continue;
    }
    if (++seen > kProcessesMax) {
      break;
    }
    // The kernel keeps 15 characters: of nvidia-cuda-mps-control and -server too.
    if (trim(root.read("/proc/" + name + "/comm").text) == "nvidia-cuda-mps") {
      return "process " + name;
    }
  }
  return {};
}

std::string container_of(const HostRoot& root) {
  if (root.look("/.singularity.d")) {
    return "an Apptainer container";
  }
  if (root.look("/.dockerenv")) {
    return "a Docker container";
  }
  return root.look("/run/.containerenv") ? "a Podman container" : "";
}

void read_kind(const HostRoot& root, Platform& platform) {
  std::string kernel = root.read("/proc/sys/kernel/osrelease").text;
  std::transform(kernel.begin(), kernel.end(), kernel.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const char* const path : {"/dev/dxg", "/usr/lib/wsl/lib"}) {
    if (root.look(path)) {
      platform.kind = Platform::Kind::wsl;
      platform.evidence = path;
      return;
    }
  }
  if (kernel.find("microsoft") != std::string::npos) {
    platform.kind = Platform::Kind::wsl;
    platform.evidence = "kernel " + std::string(trim(kernel));
    return;
  }
  const HostText tegra = root.read("/etc/nv_tegra_release");
  const HostText model = root.read("/proc/device-tree/model");
  const bool is_model = model.text.find("Jetson") != std::string::npos ||
                        model.text.find("Orin") != std::string::npos;
  if (tegra.state != HostText::State::absent || is_model || root.look("/sys/module/nvgpu")) {
    platform.kind = Platform::Kind::jetson;
    platform.jetpack = jetpack_of(tegra.text);
    platform.evidence = tegra.state != HostText::State::absent ? "/etc/nv_tegra_release"
                        : is_model                             ? "/proc/device-tree/model"
                                                               : "/sys/module/nvgpu";
  }
}

}  // namespace

std::string jetpack_of(std::string_view tegra_release) {
  constexpr std::string_view kStart = "# R";
  if (!tegra_release.starts_with(kStart)) {
    return {};
  }
  std::string_view number = tegra_release.substr(kStart.size());
  number = number.substr(0, number.find_first_not_of("0123456789"));
  return number == "35" ? "5.x" : number == "36" ? "6.x" : number == "38" ? "7.0" : "";
}

std::string glibc_of(const HostRoot& root) {
  Platform platform;
  read_c_library(root, platform);
  return platform.glibc;
}

Platform read_platform(const HostRoot& root, const std::string& own_arch,
                       const std::string& own_glibc) {
  Platform platform;
  read_kind(root, platform);
  platform.container = container_of(root);
  platform.mps = running_mps(root);
  if (root.is_own()) {
    platform.arch = own_arch;
    platform.glibc = own_glibc;
    platform.has_device_files = root.look("/dev/nvidiactl").has_value();
  } else {
    read_c_library(root, platform);
  }
  return platform;
}

}  // namespace compatpack::host
