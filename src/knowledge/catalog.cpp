// SPDX-License-Identifier: Apache-2.0
#include "compatpack/knowledge/catalog.hpp"

#include <algorithm>
#include <array>

#include "compatpack/base/text.hpp"

namespace compatpack::knowledge {
namespace {

constexpr std::array<ComponentRow, 7> kComponents{{
    {Component::cuda, "cuda", ""},
    {Component::nvml, "nvml",
     "NVML must have the kernel driver's own version: with another, nvidia-smi and all that asks "
     "NVML "
     "fail with \"Driver/library version mismatch\""},
    {Component::opencl, "opencl",
     "NVIDIA's forward compatibility is for CUDA only; OpenCL from a newer driver may fail"},
    {Component::video, "video",
     "NVIDIA's forward compatibility is for CUDA only; video coding from a newer driver may fail"},
    {Component::graphics, "graphics",
     "NVIDIA's forward compatibility is for CUDA only; OpenGL, Vulkan and EGL need the kernel "
     "driver's "
     "own version"},
    {Component::optix, "optix",
     "NVIDIA's forward compatibility is for CUDA only; OptiX from a newer driver may fail"},
    {Component::host, "host", ""},
}};

// Stems and components: NVIDIA's forward-compatibility page and package lists for `cuda`; for the
// rest the grouping of libnvidia-container (nvc_info.c) and the file lists of drivers 304 to 610.
constexpr auto kLibraries = std::to_array<LibraryRow>({
    {"libcuda", Component::cuda, ".so.1"},
    {"libnvidia-ptxjitcompiler", Component::cuda, ".so.1"},
    // 470.42.01 to 470.63.01 name themselves libnvvm.so.4, which is the toolkit's library.
    {"libnvidia-nvvm", Component::cuda, ".so.4"},
    {"libnvidia-nvvm70", Component::cuda, ""},
    {"libcudadebugger", Component::cuda, ".so.1"},
    {"libnvidia-gpucomp", Component::cuda, ""},
    {"libnvidia-tileiras", Component::cuda, ""},
    {"libnvidia-pkcs11", Component::cuda, ""},
    {"libnvidia-pkcs11-openssl3", Component::cuda, ""},
    {"libnvidia-fatbinaryloader", Component::cuda, ""},  // until 440

    {"libnvidia-ml", Component::nvml, ""},
    {"libnvidia-cfg", Component::nvml, ""},
    {"libnvidia-nscq", Component::nvml, ""},
    {"libnvsdm", Component::nvml, ""},

    {"libnvidia-opencl", Component::opencl, ""},
    {"libOpenCL", Component::opencl, ""},
    {"libnvidia-compiler", Component::opencl, ""},  // until 530
    {"libnvidia-compiler-next", Component::opencl, ""},

    {"libnvcuvid", Component::video, ""},
    {"libnvidia-encode", Component::video, ""},
    {"libnvidia-opticalflow", Component::video, ""},
    {"libvdpau_nvidia", Component::video, ""},
    {"libnvcuextend", Component::video, ""},

    {"libnvoptix", Component::optix, ""},
    {"libnvidia-rtcore", Component::optix, ""},

    {"libnvidia-rtcore", Component::graphics, ""},
    {"libnvidia-glcore", Component::graphics, ""},
    {"libnvidia-eglcore", Component::graphics, ""},
    {"libnvidia-glsi", Component::graphics, ""},
    {"libnvidia-tls", Component::graphics, ""},
    {"libnvidia-glvkspirv", Component::graphics, ""},
    {"libnvidia-cbl", Component::graphics, ""},
    {"libnvidia-ifr", Component::graphics, ""},
    {"libnvidia-fbc", Component::graphics, ""},
    {"libnvidia-allocator", Component::graphics, ""},
    {"libnvidia-present", Component::graphics, ""},
    {"libnvidia-ngx", Component::graphics, ""},
    {"libnvidia-api", Component::graphics, ""},
    {"libnvidia-vulkan-producer", Component::graphics, ""},
    {"libnvidia-vksc-core", Component::graphics, ""},
    {"libnvidia-egl-wayland", Component::graphics, ""},
    {"libnvidia-egl-gbm", Component::graphics, ""},
    {"libnvidia-egl-xcb", Component::graphics, ""},
    {"libnvidia-egl-xlib", Component::graphics, ""},
    {"libGL", Component::graphics, ""},
    {"libGLX", Component::graphics, ""},
    {"libGLX_indirect", Component::graphics, ""},
    {"libGLX_nvidia", Component::graphics, ""},
    {"libEGL", Component::graphics, ""},
    {"libEGL_nvidia", Component::graphics, ""},
    {"libGLESv1_CM", Component::graphics, ""},
    {"libGLESv1_CM_nvidia", Component::graphics, ""},
    {"libGLESv2", Component::graphics, ""},
    {"libGLESv2_nvidia", Component::graphics, ""},
    {"libGLdispatch", Component::graphics, ""},
    {"libOpenGL", Component::graphics, ""},

    {"libglxserver_nvidia", Component::host, ""},
    {"libglx", Component::host, ""},
    {"libnvidia-wfb", Component::host, ""},
    {"libnvidia-gtk2", Component::host, ""},
    {"libnvidia-gtk3", Component::host, ""},
    {"libnvidia-wayland-client", Component::host, ""},
    {"libnvidia-sandboxutils", Component::host, ""},
    {"libnvidia-vgpu", Component::host, ""},
    {"libnvidia-vgxcfg", Component::host, ""},
});

/// What NVIDIA's packages have, since when, and what to say where it is missing.
struct ExpectedLibrary {
  std::string_view stem;
  CudaVersion since;
  std::string_view without;
  bool breaks_programs = false;  // as in Lack
  std::string_view arch = {};    // the only one that has it; "" for all
};

// What the later ones are for is not documented.
constexpr std::string_view kSince131 = "NVIDIA's packages have that since CUDA 13.1";

// NVIDIA's forward-compatibility page for those up to 11.8, the redistributable archive of
// 590.48.01 for the rest. Of 32-bit libraries the compiler alone is seen in all branches.
constexpr auto kExpectedLibraries = std::to_array<ExpectedLibrary>({
    {"libnvidia-ptxjitcompiler",
     {0, 0},
     "programs that carry PTX code will fail with CUDA_ERROR_JIT_COMPILER_NOT_FOUND (221)",
     true},
    {"libnvidia-nvvm", {11, 5}, "link-time optimization at run time (JIT LTO) will fail", true},
    {"libcudadebugger", {11, 8}, "cuda-gdb will not work"},
    {"libnvidia-gpucomp", {13, 1}, kSince131},
    {"libnvidia-nvvm70", {13, 1}, kSince131},
    {"libnvidia-tileiras", {13, 1}, kSince131},
    {"libnvidia-pkcs11-openssl3", {13, 1}, kSince131, false, "x86_64"},
});

}  // namespace

std::span<const ComponentRow> components() { return kComponents; }

const ComponentRow& row_of(Component component) {
  return *std::find_if(kComponents.begin(), kComponents.end(),
                       [component](const ComponentRow& row) { return row.component == component; });
}

std::optional<Component> component_named(std::string_view name) {
  for (const ComponentRow& row : kComponents) {
    if (row.name == name) {
      return row.component;
    }
  }
  return std::nullopt;
}

std::vector<LibraryRow> library_rows(std::string_view stem) {
  std::vector<LibraryRow> rows;
  for (const LibraryRow& row : kLibraries) {
    if (row.stem == stem) {
      rows.push_back(row);
    }
  }
  return rows;
}

std::vector<Lack> find_lacks(const std::set<std::string, std::less<>>& stems,
                             std::optional<CudaVersion> cuda, std::string_view arch) {
  std::vector<Lack> lacks;
  for (const ExpectedLibrary& row : kExpectedLibraries) {
    const bool is_old = row.since == CudaVersion{};
    const bool is_due = is_old || (cuda && !(*cuda < row.since) && arch != "i386" &&
                                   (row.arch.empty() || row.arch == arch));
    if (!is_due || stems.contains(row.stem)) {
      continue;
    }
    const auto same = std::find_if(lacks.begin(), lacks.end(),
                                   [&](const Lack& one) { return one.without == row.without; });
    if (same == lacks.end()) {
      lacks.push_back({std::string(row.stem), row.without, row.breaks_programs});
    } else {
      same->stems.append(", ").append(row.stem);
    }
  }
  return lacks;
}

std::optional<LibraryName> parse_library_name(std::string_view file_name) {
  const std::size_t at = file_name.find(".so");
  if (!file_name.starts_with("lib") || at == std::string_view::npos || at <= 3) {
    return std::nullopt;
  }
  const std::string_view rest = file_name.substr(at + 3);
  if (!rest.empty() && (rest.size() < 2 || rest.front() != '.')) {
    return std::nullopt;
  }
  return LibraryName{file_name.substr(0, at), rest.empty() ? rest : rest.substr(1)};
}

bool is_decoy_folder(std::string_view folder) {
  const auto parts = split(folder, '/');
  return std::any_of(parts.begin(), parts.end(), [](std::string_view part) {
    return part == "libglvnd_install_checker" || part == "stubs";
  });
}

}  // namespace compatpack::knowledge
