// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which file the dynamic loader takes for a name, and what gets in the way of a tree. glibc's
// order:
//
//   DT_RPATH          of the object that asks, and of those that loaded it, if it has no DT_RUNPATH
//   LD_LIBRARY_PATH   unless the program is setuid
//   DT_RUNPATH        of the object that asks
//   ld.so.cache       what ldconfig found through ld.so.conf and in the default folders
//   default folders

#include <optional>
#include <string>
#include <vector>

#include "compatpack/base/environment.hpp"
#include "compatpack/base/version.hpp"
#include "compatpack/host/root.hpp"

namespace compatpack::host {

/// Which of the loader's rules led to a library, in the order in which it goes by them.
enum class FoundBy { full_path, rpath, environment, runpath, configuration, default_folder };

/// A library that was found by its name.
struct FoundLibrary {
  std::string path;       ///< as the loader would open it
  std::string real_path;  ///< the file behind the links
  FoundBy by;
  std::string how;  ///< the same for people: "LD_LIBRARY_PATH", "/etc/ld.so.conf.d/cuda.conf", "a
                    ///< default folder"
  std::optional<DriverVersion> driver = {};  ///< by its file name
  bool is_stub = false;                      ///< the toolkit's, for linking only
};

/// A driver library that a program asks for.
struct DriverNeed {
  std::string library;  ///< "libcuda.so.1"
  std::string asker;    ///< the file that asks
  bool by_dlopen;       ///< by a name in its text, at run time; else as a needed library
  std::optional<FoundLibrary> takes = {};  ///< what the loader gives it
};

struct Application {
  std::string path;
  std::string arch;                  ///< "x86_64"
  bool ignores_environment = false;  ///< setuid or setgid
  std::vector<DriverNeed> needs = {};
  std::vector<std::string> missing = {};  ///< needed libraries that are nowhere
};

struct LoaderFacts {
  std::vector<FoundLibrary>
      libcudas;              ///< each libcuda.so.1, in the loader's order, without the tree's
  std::string tree_libcuda;  ///< the file behind the tree's libcuda.so.1; "" if there is none
  std::vector<std::string> preloaded;     ///< elements of LD_PRELOAD
  std::vector<std::string> stub_folders;  ///< folders named stubs in LD_LIBRARY_PATH
  std::string injection;                  ///< CUDA_INJECTION64_PATH
  bool tree_is_behind = false;  ///< the tree is in LD_LIBRARY_PATH, and another libcuda before it
  std::optional<Application> application;  ///< with the tree active
};

/// Looks at what the loader would find below `root` with `environment`. `tree` is the tree's
/// absolute path, or "". `application`, if not "", is a program's absolute path.
///
/// Errors, of the application only: io; not_recognized for what is no ELF program; those of
/// formats::parse_elf().
Result<LoaderFacts> read_loader(const HostRoot& root, Environment environment,
                                const std::string& tree, const std::string& application);

/// Something that makes programs take another libcuda than the tree's, or makes the tree break.
struct Hazard {
  bool is_grave;     ///< it defeats the tree for sure
  std::string text;  ///< one clause
  std::string next;  ///< what to do
};

/// What in `facts` gets in the way. `mps` is Platform::mps; `tree` as above.
[[nodiscard]] std::vector<Hazard> find_hazards(const LoaderFacts& facts, const std::string& mps,
                                               const std::string& tree);

}  // namespace compatpack::host
