// SPDX-License-Identifier: Apache-2.0
#include "support/sample_driver.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string_view>

#include "compatpack/base/version.hpp"

#include "support/elf_file.hpp"
#include "support/tar_file.hpp"

namespace compatpack::test {
namespace {

enum class Widths { both, only64 };

/// One library of a driver. In `file` and `soname` the text "VER" stands for the driver's version.
struct Library {
  std::string_view file;
  std::string_view soname;
  std::vector<std::string_view> links;  ///< as the manifest chains them: the first to the file
  std::string_view type;                ///< of its row; links have it with _SYMLINK
  std::string_view module;
  Widths widths = Widths::both;
  std::uint32_t first = 0;      ///< the first branch that has it
  std::uint32_t last = 9999;    ///< the last one
  std::string_view needs = {};  ///< beside the C library
  bool x86_only = false;
};

// Where the manifest's type of a library is not known, the type here is a guess: the product must
// select by file name.
const std::vector<Library>& libraries() {
  static const std::vector<Library> kLibraries = {
      {"libcuda.so.VER", "libcuda.so.1", {"libcuda.so.1", "libcuda.so"}, "CUDA", "gpgpu"},
      {"libnvidia-glcore.so.VER", "libnvidia-glcore.so.VER", {}, "OPENGL", "opengl"},
      {"libGLX_nvidia.so.VER", "libGLX_nvidia.so.0", {"libGLX_nvidia.so.0"}, "OPENGL", "opengl"},
      {"libnvidia-fatbinaryloader.so.VER",
       "libnvidia-fatbinaryloader.so.VER",
       {},
       "CUDA",
       "gpgpu",
       Widths::both,
       384,
       440},
      {"libnvidia-ptxjitcompiler.so.VER",
       "libnvidia-ptxjitcompiler.so.1",
       {"libnvidia-ptxjitcompiler.so.1", "libnvidia-ptxjitcompiler.so"},
       "CUDA",
       "gpgpucomp"},
      {"libnvidia-nvvm.so.4.0.0",
       "libnvidia-nvvm.so.4",
       {"libnvidia-nvvm.so.4"},
       "CUDA",
       "gpgpucomp",
       Widths::only64,
       470,
       514},
      {"libnvidia-nvvm.so.VER",
       "libnvidia-nvvm.so.4",
       {"libnvidia-nvvm.so.4"},
       "CUDA",
       "gpgpucomp",
       Widths::both,
       515},
      {"libnvidia-nvvm70.so.4",
       "libnvidia-nvvm70.so.4",
       {},
       "CUDA",
       "gpgpucomp",
       Widths::only64,
       575},
      {"libcudadebugger.so.VER",
       "libcudadebugger.so.1",
       {"libcudadebugger.so.1"},
       "CUDA",
       "gpgpu",
       Widths::only64,
       520},
      {"libnvidia-ml.so.VER",
       "libnvidia-ml.so.1",
       {"libnvidia-ml.so.1", "libnvidia-ml.so"},
       "CUDA",
       "nvml"},
      {"libnvidia-compiler.so.VER",
       "libnvidia-compiler.so.VER",
       {},
       "CUDA",
       "compiler",
       Widths::both,
       0,
       534},
      {"libnvidia-opencl.so.VER",
       "libnvidia-opencl.so.1",
       {"libnvidia-opencl.so.1"},
       "OPENCL",
       "gpgpu"},
      {"libOpenCL.so.1.0.0",
       "libOpenCL.so.1",
       {"libOpenCL.so.1.0", "libOpenCL.so.1", "libOpenCL.so"},
       "OPENCL_WRAPPER",
       "gpgpu"},
      {"libnvidia-pkcs11.so.VER",
       "libnvidia-pkcs11.so.VER",
       {},
       "CUDA",
       "gpgpu",
       Widths::only64,
       535,
       9999,
       "libcrypto.so.1.1",
       true},
      {"libnvidia-pkcs11-openssl3.so.VER",
       "libnvidia-pkcs11-openssl3.so.VER",
       {},
       "CUDA",
       "gpgpu",
       Widths::only64,
       535,
       9999,
       "libcrypto.so.3",
       true},
      {"libnvidia-gpucomp.so.VER",
       "libnvidia-gpucomp.so.VER",
       {},
       "OPENGL",
       "opengl",
       Widths::both,
       545},
      {"libnvidia-tileiras.so.VER",
       "libnvidia-tileiras.so.VER",
       {},
       "CUDA",
       "gpgpucomp",
       Widths::both,
       590},
      {"libnvidia-sandboxutils.so.VER",
       "libnvidia-sandboxutils.so.1",
       {"libnvidia-sandboxutils.so.1"},
       "UTILITY",
       "gpgpu",
       Widths::only64,
       565},
      {"libnvidia-allocator.so.VER",
       "libnvidia-allocator.so.1",
       {"libnvidia-allocator.so.1", "libnvidia-allocator.so"},
       "UTILITY",
       "nvalloc",
       Widths::both,
       440},
      {"libnvidia-cfg.so.VER",
       "libnvidia-cfg.so.1",
       {"libnvidia-cfg.so.1", "libnvidia-cfg.so"},
       "UTILITY",
       "installer",
       Widths::only64},
      {"libnvcuvid.so.VER",
       "libnvcuvid.so.1",
       {"libnvcuvid.so.1", "libnvcuvid.so"},
       "NVCUVID",
       "nvcuvid"},
      {"libnvidia-encode.so.VER",
       "libnvidia-encode.so.1",
       {"libnvidia-encode.so.1", "libnvidia-encode.so"},
       "ENCODEAPI",
       "encodeapi",
       Widths::both,
       310,
       9999,
       "libnvcuvid.so.1"},
      {"libnvidia-opticalflow.so.VER",
       "libnvidia-opticalflow.so.1",
       {"libnvidia-opticalflow.so.1", "libnvidia-opticalflow.so"},
       "NVCUVID",
       "opticalflow",
       Widths::both,
       418,
       9999,
       "libnvcuvid.so.1"},
  };
  return kLibraries;
}

std::string with_version(std::string_view text, const std::string& version) {
  std::string out(text);
  if (const auto at = out.find("VER"); at != std::string::npos) {
    out.replace(at, 3, version);
  }
  return out;
}

ElfTarget target_of(const std::string& arch) {
  if (arch == "x86_64") {
    return kX86_64;
  }
  if (arch == "aarch64") {
    return kAarch64;
  }
  if (arch == "ppc64le") {
    return kPpc64le;
  }
  throw std::runtime_error("no such architecture: " + arch);
}

/// The name of a library's link rows: CUDA_LIB has CUDA_SYMLINK, most others ..._LIB_SYMLINK.
std::string link_type(std::string_view type) {
  const bool short_form = type == "CUDA" || type == "OPENGL" || type == "OPENCL_WRAPPER";
  return std::string(type) + (short_form ? "_SYMLINK" : "_LIB_SYMLINK");
}

/// CUDA and OpenCL rows name a folder, "/"; the others none.
std::string folder_of(std::string_view type) {
  return type == "CUDA" || type.starts_with("OPENCL") ? "/ " : "";
}

class DriverMaker {
 public:
  explicit DriverMaker(const SampleDriverOptions& options)
      : options_(options), version_(DriverVersion::parse(options.version)) {
    if (!version_) {
      throw std::runtime_error("no driver version: " + options.version);
    }
  }

  std::vector<SampleMember> make() {
    text("LICENSE", "Licence text of a driver made for tests.\n", "DOCUMENTATION NVIDIA_GLX-1.0/");
    text("kernel/nvidia/nv.c", "/* no driver */\n", "KERNEL_MODULE_SRC INHERIT_PATH_DEPTH:1");
    const bool compat32 = options_.compat32 && options_.arch == "x86_64";
    const std::size_t half = libraries().size() / 2;
    for (std::size_t i = 0; i < libraries().size(); ++i) {
      if (i == half) {
        manifest_at_ = members_.size();
      }
      add(libraries()[i], "", target_of(options_.arch), "NATIVE");
      if (compat32 && libraries()[i].widths == Widths::both) {
        add(libraries()[i], "32/", kI386, "COMPAT32");
      }
    }
    program("nvidia-smi", "UTILITY_BINARY");
    program("nvidia-cuda-mps-control", "UTILITY_BINARY");
    program("nvidia-installer", "INSTALLER_BINARY");
    text("nvidia.icd", "libnvidia-opencl.so.1\n", "CUDA_ICD");
    if (version_->branch() >= 460) {
      text("supported-gpus/supported-gpus.json", "{\"chips\": []}\n", "");
    }
    decoys("", target_of(options_.arch));
    if (compat32) {
      decoys("32/", kI386);
    }
    if (options_.manifest) {
      members_.insert(members_.begin() + static_cast<std::ptrdiff_t>(manifest_at_),
                      {".manifest", manifest_header() + rows_, 0644});
    }
    return std::move(members_);
  }

 private:
  [[nodiscard]] std::string manifest_header() const {
    return "NVIDIA Accelerated Graphics Driver for Linux-" + options_.arch + "\n" +
           options_.version + "\n \nnvidia nvidia-uvm nvidia-modeset nvidia-drm \n \n \n" +
           "./kernel/\n./kernel/precompiled/\n";
  }

  void row(const std::string& text) { rows_ += text + "\n"; }

  void text(const std::string& path, std::string content, const std::string& type) {
    members_.push_back({path, std::move(content), 0644});
    if (!type.empty()) {
      row(path + " 0444 " + type + " MODULE:installer");
    }
  }

  void program(const std::string& path, const std::string& type) {
    members_.push_back({path,
                        ElfFile(target_of(options_.arch))
                            .as_executable()
                            .with_needed("libc.so.6")
                            .with_filler(options_.filler / 4, next_seed())
                            .bytes(),
                        0755});
    row(path + " 0755 " + type + " MODULE:installer");
  }

  [[nodiscard]] std::string soname_of(const Library& library) const {
    // These releases carried the soname of the toolkit's library.
    const bool wrong = library.file == "libnvidia-nvvm.so.4.0.0" && version_->branch() == 470 &&
                       *version_ < *DriverVersion::parse("470.74");
    return wrong ? "libnvvm.so.4" : with_version(library.soname, options_.version);
  }

  void add(const Library& library, const std::string& prefix, ElfTarget target,
           const std::string& width) {
    const std::uint32_t branch = version_->branch();
    if (branch < library.first || branch > library.last ||
        (library.x86_only && options_.arch != "x86_64")) {
      return;
    }
    const std::string file = with_version(library.file, options_.version);
    ElfFile elf(target);
    elf.with_soname(soname_of(library));
    for (const char* const name : {"libc.so.6", "libdl.so.2", "libpthread.so.0"}) {
      elf.with_needed(name);
    }
    if (!library.needs.empty()) {
      elf.with_needed(std::string(library.needs));
    }
    elf.with_version_need("libc.so.6", "GLIBC_2.2.5").with_version_need("libc.so.6", "GLIBC_2.17");
    if (library.file.starts_with("libcuda.so")) {
      if (branch <= 440) {
        elf.with_needed("libnvidia-fatbinaryloader.so." + options_.version);
      }
      if (branch >= 575) {
        elf.with_note(R"({"format": 1, "CUDA version": "12.9", "driver": [535, 550, 570],)"
                      R"( "device": [1, 2, 7, 8, 9, 10, 11, 12, 13, 14]})");
      }
    }
    members_.push_back(
        {prefix + file, elf.with_filler(options_.filler, next_seed()).bytes(), 0755});
    const std::string shown = prefix.empty() ? file : "./" + prefix + file;
    const std::string type(library.type);
    const std::string folder = folder_of(type);
    row(shown + " 0755 " + type + "_LIB " + width + " " + folder +
        "MODULE:" + std::string(library.module));
    std::string to = file;
    for (const std::string_view link : library.links) {
      row(std::string(link) + " 0000 " + link_type(type) + " " + width + " " + folder + to +
          " MODULE:" + std::string(library.module));
      to = link;
    }
  }

  /// Libraries that NVIDIA's installer tries itself, outside of the manifest; never to be selected.
  void decoys(const std::string& prefix, ElfTarget target) {
    const std::string folder = prefix + "libglvnd_install_checker/";
    for (const char* const name : {"libGLX_installcheck.so.0", "libEGL_installcheck.so.0"}) {
      members_.push_back({folder + name, ElfFile(target).with_soname(name).bytes(), 0755});
    }
  }

  std::uint32_t next_seed() { return ++seed_; }

  const SampleDriverOptions& options_;
  std::optional<DriverVersion> version_;
  std::vector<SampleMember> members_;
  std::size_t manifest_at_ = 0;
  std::string rows_;
  std::uint32_t seed_ = 0;
};

}  // namespace

std::vector<SampleMember> make_sample_driver(const SampleDriverOptions& options) {
  return DriverMaker(options).make();
}

std::string make_driver_tar(const std::vector<SampleMember>& members) {
  TarFile tar(TarFile::Flavour::gnu);
  std::vector<std::string> folders;
  for (const SampleMember& member : members) {
    for (std::size_t at = 0; (at = member.path.find('/', at)) != std::string::npos; ++at) {
      const std::string folder = "./" + member.path.substr(0, at + 1);
      if (std::find(folders.begin(), folders.end(), folder) == folders.end()) {
        tar.folder(folder);
        folders.push_back(folder);
      }
    }
    if (!member.path.ends_with('/')) {
      tar.file("./" + member.path, member.content, member.mode);
    }
  }
  return tar.bytes();
}

}  // namespace compatpack::test
