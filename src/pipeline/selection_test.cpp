// SPDX-License-Identifier: Apache-2.0
#include "compatpack/pipeline/selection.hpp"

#include <doctest/doctest.h>

#include "support/elf_file.hpp"

using namespace compatpack;
using namespace compatpack::pipeline;
using compatpack::knowledge::Component;
using compatpack::test::ElfFile;
using Use = Selection::Use;

namespace {

SelectionRequest request_for(std::set<Component> components) {
  return {.components = std::move(components), .arch = "x86_64"};
}

Selection verdict(const char* path, const SelectionRequest& request) {
  return select_by_path(*RelPath::parse(path), request);
}

/// Why a file of these bytes is left out, having been wanted as `use`.
std::string unfit(const std::string& bytes, Use use, const std::string& arch = "x86_64") {
  return unfit_content(as_bytes(bytes), {use, "", ""}, {.arch = arch});
}

}  // namespace

TEST_CASE("selection: each component takes its libraries and leaves the others'") {
  struct Case {
    const char* path;
    const char* component;
  };
  for (const Case& c :
       {Case{"libcuda.so.535.54.03", "cuda"}, Case{"libnvidia-nvvm.so.4.0.0", "cuda"},
        Case{"libnvidia-nvvm70.so.4", "cuda"},
        Case{"32/libnvidia-ptxjitcompiler.so.535.54.03", "cuda"},
        Case{"libnvidia-ml.so.535.54.03", "nvml"}, Case{"libnvidia-opencl.so.535.54.03", "opencl"},
        Case{"libOpenCL.so.1.0.0", "opencl"}, Case{"libnvcuvid.so.535.54.03", "video"},
        Case{"libnvidia-glcore.so.535.54.03", "graphics"},
        Case{"libnvoptix.so.535.54.03", "optix"}}) {
    for (const auto& row : knowledge::components()) {
      if (row.component == Component::host) {
        continue;
      }
      CAPTURE(c.path);
      CAPTURE(row.name);
      const Selection selection = verdict(c.path, request_for({row.component}));
      CHECK(selection.component == c.component);
      if (row.name == c.component) {
        CHECK(selection.use == Use::library);
        CHECK(selection.reason.empty());
      } else {
        CHECK(selection.use == Use::none);
        CHECK(selection.reason == "component " + std::string(c.component) + " was not asked for");
      }
    }
  }
}

TEST_CASE("selection: NVML is never taken with the default set") {
  const Selection selection = verdict("libnvidia-ml.so.535.54.03", request_for({Component::cuda}));

  CHECK(selection.use == Use::none);
}

TEST_CASE("selection: a library of two components is taken for either") {
  CHECK(verdict("libnvidia-rtcore.so.535.54.03", request_for({Component::optix})).component ==
        "optix");
  CHECK(verdict("libnvidia-rtcore.so.535.54.03", request_for({Component::graphics})).component ==
        "graphics");
}

TEST_CASE("selection: what belongs to the host is not taken, not even with all") {
  SelectionRequest all{.all = true, .arch = "x86_64"};

  const Selection selection = verdict("libglxserver_nvidia.so.535.54.03", all);

  CHECK(selection.use == Use::none);
  CHECK(selection.component == "host");
  CHECK(selection.reason == "belongs to the host's driver installation");
}

TEST_CASE("selection: a library that no component knows is taken with all only") {
  const Selection left = verdict("libnvidia-new.so.999.1", request_for({Component::cuda}));
  CHECK(left.use == Use::none);
  CHECK(left.component.empty());
  CHECK(left.reason == "no component knows it; --include takes it");

  CHECK(verdict("libnvidia-new.so.999.1", {.all = true}).use == Use::library);
}

TEST_CASE(
    "selection: look-alikes and files that are no libraries are left, whatever is asked for") {
  for (const bool all : {false, true}) {
    CAPTURE(all);
    SelectionRequest request = request_for({Component::cuda, Component::graphics});
    request.all = all;

    CHECK(verdict("libglvnd_install_checker/libGLX_installcheck.so.0", request).reason ==
          "a look-alike for tests or linking, not for use");
    CHECK(verdict("stubs/libcuda.so.1", request).use == Use::none);
    CHECK(verdict("nvidia-smi", request).reason == "not a shared library");
    CHECK(verdict("kernel/nvidia/nv.c", request).use == Use::none);
  }
}

TEST_CASE("selection: the manifest and the licence are read at the root only") {
  CHECK(verdict(".manifest", request_for({Component::cuda})).use == Use::manifest);
  CHECK(verdict("LICENSE", request_for({Component::cuda})).use == Use::licence);
  CHECK(verdict("supported-gpus/LICENSE", request_for({Component::cuda})).use == Use::none);
  CHECK(verdict("kernel/.manifest", request_for({Component::cuda})).use == Use::none);
}

TEST_CASE("selection: include takes by path or name, and exclude is stronger") {
  SelectionRequest request = request_for({Component::cuda});
  request.include = {"nvidia-smi", "32/lib*-ml.so.*", "lib*check.so.0"};
  request.exclude = {"libcuda.so.*", "32/*"};

  CHECK(verdict("nvidia-smi", request).use == Use::file);
  CHECK(verdict("bin/nvidia-smi", request).use == Use::file);
  CHECK(verdict("libglvnd_install_checker/libEGL_installcheck.so.0", request).use == Use::file);
  CHECK(verdict("32/libnvidia-ml.so.535.54.03", request).reason == "--exclude names it");
  CHECK(verdict("libcuda.so.535.54.03", request).reason == "--exclude names it");
  CHECK(verdict("libnvidia-ptxjitcompiler.so.535.54.03", request).use == Use::library);
}

TEST_CASE("selection: what include takes keeps its component") {
  SelectionRequest request = request_for({Component::cuda});
  request.include = {"libnvidia-ml*", "nvidia-smi"};

  CHECK(verdict("libnvidia-ml.so.535.54.03", request).component == "nvml");
  CHECK(verdict("nvidia-smi", request).component.empty());
}

TEST_CASE("selection: content must be a shared library of the architecture") {
  struct Case {
    const char* name;
    std::string bytes;
    const char* as_library;
    const char* as_file;
  };
  for (const Case& c :
       {Case{"right", ElfFile(test::kX86_64).bytes(), "", ""},
        Case{"32 bits", ElfFile(test::kI386).bytes(), "built for i386", "built for i386"},
        Case{"arm", ElfFile(test::kAarch64).bytes(), "built for aarch64", "built for aarch64"},
        Case{"power", ElfFile(test::kPpc64le).bytes(), "built for ppc64le", "built for ppc64le"},
        Case{"x32", ElfFile(test::kX32).bytes(), "built for other", "built for other"},
        Case{"program", ElfFile(test::kX86_64).as_executable().bytes(),
             "not a shared library in its content", ""},
        Case{"text", "GROUP ( libc.so.6 )", "not a shared library in its content", ""},
        Case{"empty", "", "not a shared library in its content", ""}}) {
    CAPTURE(c.name);
    CHECK(unfit(c.bytes, Use::library) == c.as_library);
    CHECK(unfit(c.bytes, Use::file) == c.as_file);
  }
  CHECK(unfit(ElfFile(test::kI386).bytes(), Use::library, "i386").empty());
}

TEST_CASE("selection: components are read from a list, blanks and all") {
  const auto request = parse_components("cuda, video");
  REQUIRE(request);
  CHECK(request->components == std::set{Component::cuda, Component::video});
  CHECK_FALSE(request->all);

  CHECK(parse_components("all")->all);
}

TEST_CASE("selection: a component that is none is named, with those that there are") {
  for (const char* const bad : {"cdua", "host", "cuda,,nvml", "cuda,CUDA", "cuda,"}) {
    CAPTURE(bad);
    const auto request = parse_components(bad);
    REQUIRE_FALSE(request);
    CHECK(request.error().code == Errc::usage);
    CHECK(request.error().subject == "--components");
    CHECK(request.error().expected == "cuda, nvml, opencl, video, graphics, optix, all");
  }
  CHECK(parse_components("cuda,cdua").error().found == "cdua");
  CHECK(parse_components("").error().what == "no component named");
}

TEST_CASE("selection: the licence is the bundle's own, wherever its kind of bundle keeps it") {
  SelectionRequest request{.components = {knowledge::Component::cuda}, .arch = "x86_64"};
  for (const char* const path :
       {"LICENSE", "cuda_compat-linux-x86_64-590.44.01_cuda13.1-archive/LICENSE",
        "usr/share/doc/cuda-compat-12-4/copyright", "usr/share/licenses/nvidia-driver/LICENSE"}) {
    CAPTURE(path);
    CHECK(select_by_path(*RelPath::parse(path), request).use == Selection::Use::licence);
  }
  for (const char* const path : {"supported-gpus/LICENSE", "usr/share/doc/a/b/copyright"}) {
    CAPTURE(path);
    CHECK(select_by_path(*RelPath::parse(path), request).use == Selection::Use::none);
  }
}
