// SPDX-License-Identifier: Apache-2.0
#include "compatpack/host/loader.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <doctest/doctest.h>

#include "support/elf_file.hpp"
#include "support/temp_dir.hpp"

using namespace compatpack;
using namespace compatpack::host;
using test::ElfFile;
namespace fs = std::filesystem;

namespace {

/// A machine with a libcuda in /usr/lib/x86_64-linux-gnu and a tree in /tree.
class Machine {
 public:
  Machine() {
    library("/usr/lib/x86_64-linux-gnu/libcuda.so.535.54.03");
    link("/usr/lib/x86_64-linux-gnu/libcuda.so.1", "libcuda.so.535.54.03");
    library("/tree/libcuda.so.550.54.15");
    link("/tree/libcuda.so.1", "libcuda.so.550.54.15");
  }

  Machine& text(const std::string& path, const std::string& content) {
    const fs::path at = folder_.path() / path.substr(1);
    fs::create_directories(at.parent_path());
    std::ofstream(at) << content;
    return *this;
  }
  Machine& library(const std::string& path) {
    return text(path, ElfFile().with_soname("libcuda.so.1").bytes());
  }
  Machine& link(const std::string& path, const std::string& target) {
    fs::create_symlink(target, folder_.path() / path.substr(1));
    return *this;
  }
  Machine& mode(const std::string& path, fs::perms permissions) {
    fs::permissions(folder_.path() / path.substr(1), permissions);
    return *this;
  }

  [[nodiscard]] LoaderFacts look(const std::vector<std::string>& environment,
                                 const std::string& application = "") const {
    auto facts =
        read_loader(*HostRoot::open(folder_.path().string()), environment, "/tree", application);
    REQUIRE(facts);
    return *std::move(facts);
  }
  [[nodiscard]] HostRoot root() const { return *HostRoot::open(folder_.path().string()); }

 private:
  test::TempDir folder_;
};

bool any_grave(const std::vector<Hazard>& hazards) {
  return std::any_of(hazards.begin(), hazards.end(),
                     [](const Hazard& one) { return one.is_grave; });
}

bool any_says(const std::vector<Hazard>& hazards, std::string_view text) {
  return std::any_of(hazards.begin(), hazards.end(),
                     [&](const Hazard& one) { return one.text.find(text) != std::string::npos; });
}

}  // namespace

TEST_CASE("loader: libcudas are found in the loader's order, with their drivers") {
  Machine machine;
  machine.text("/etc/ld.so.conf", "# none\ninclude /etc/ld.so.conf.d/*.conf\n")
      .text("/etc/ld.so.conf.d/00-compat.conf", "/usr/local/cuda/compat\n")
      .text("/etc/ld.so.conf.d/ignored.txt", "/nowhere\n")
      .library("/usr/local/cuda/compat/libcuda.so.1")
      .library("/opt/own/libcuda.so.1");

  const LoaderFacts facts = machine.look({"LD_LIBRARY_PATH=/opt/own/:/tree"});

  REQUIRE(facts.libcudas.size() == 3);
  CHECK(facts.libcudas[0].path == "/opt/own/libcuda.so.1");
  CHECK(facts.libcudas[0].how == "LD_LIBRARY_PATH");
  CHECK(facts.libcudas[1].how == "/etc/ld.so.conf.d/00-compat.conf");
  CHECK(facts.libcudas[2].how == "a default folder");
  CHECK(facts.libcudas[2].driver->text() == "535.54.03");
  CHECK(facts.tree_is_behind);
  CHECK(any_says(find_hazards(facts, "", "/tree"), "which comes before the tree"));
  CHECK(any_says(find_hazards(facts, "", "/tree"), "/etc/ld.so.conf.d/00-compat.conf gives every"));
}

TEST_CASE("loader: stubs, preloads, injection and MPS are hazards") {
  Machine machine;
  machine.text("/cuda/lib64/stubs/libcuda.so.1", ElfFile().bytes());

  const LoaderFacts facts =
      machine.look({"LD_LIBRARY_PATH=/tree:/cuda/lib64/stubs", "LD_PRELOAD=/x/libcuda.so.1 /y/z.so",
                    "CUDA_INJECTION64_PATH=/opt/tool.so"});
  const auto hazards = find_hazards(facts, "process 17", "/tree");

  REQUIRE_FALSE(facts.libcudas.empty());
  CHECK(facts.libcudas[0].is_stub);
  CHECK_FALSE(facts.tree_is_behind);
  CHECK(any_says(hazards, "/cuda/lib64/stubs"));
  CHECK(any_says(hazards, "LD_PRELOAD loads /x/libcuda.so.1"));
  CHECK(any_says(hazards, "CUDA_INJECTION64_PATH loads /opt/tool.so"));
  CHECK(any_says(hazards, "MPS runs (process 17)"));
  CHECK(any_grave(hazards));
  CHECK(find_hazards(machine.look({"LD_LIBRARY_PATH=/tree"}), "", "/tree").empty());
}

TEST_CASE("loader: a program takes the tree's libcuda, also through another library") {
  Machine machine;
  machine.text("/app/run", ElfFile().with_needed("libtorch.so").with_runpath("$ORIGIN/lib").bytes())
      .text("/app/lib/libtorch.so", ElfFile().with_needed("libcuda.so.1").bytes());

  const LoaderFacts facts = machine.look({}, "/app/run");

  REQUIRE(facts.application);
  REQUIRE(facts.application->needs.size() == 1);
  CHECK(facts.application->needs[0].asker == "/app/lib/libtorch.so");
  CHECK_FALSE(facts.application->needs[0].by_dlopen);
  CHECK(facts.application->needs[0].takes->path == "/tree/libcuda.so.1");
  CHECK(facts.application->missing.empty());
  CHECK(find_hazards(facts, "", "/tree").empty());
}

TEST_CASE("loader: DT_RPATH is stronger than the tree, DT_RUNPATH is not") {
  Machine machine;
  const std::string own = "/usr/lib/x86_64-linux-gnu";
  machine.text("/app/rpath", ElfFile().with_needed("libcuda.so.1").with_rpath(own).bytes())
      .text("/app/runpath", ElfFile().with_needed("libcuda.so.1").with_runpath(own).bytes())
      .text("/app/both",
            ElfFile().with_needed("libcuda.so.1").with_rpath(own).with_runpath("/none").bytes())
      .text("/app/inherits", ElfFile().with_needed("libx.so").with_rpath(own + ":/app").bytes())
      .text("/app/mixed",
            ElfFile().with_needed("libx.so").with_rpath(own).with_runpath("/app").bytes())
      .text("/app/libx.so", ElfFile().with_needed("libcuda.so.1").bytes());
  const auto takes = [&](const char* app) {
    return machine.look({}, app).application->needs.at(0).takes->path;
  };

  CHECK(takes("/app/rpath") == own + "/libcuda.so.1");
  CHECK(takes("/app/runpath") == "/tree/libcuda.so.1");
  CHECK(takes("/app/both") == "/tree/libcuda.so.1");
  CHECK(takes("/app/mixed") == "/tree/libcuda.so.1");  // its DT_RUNPATH puts its DT_RPATH out
  CHECK(takes("/app/inherits") == own + "/libcuda.so.1");
  CHECK(any_grave(find_hazards(machine.look({}, "/app/rpath"), "", "/tree")));
  CHECK_FALSE(any_grave(find_hazards(machine.look({}, "/app/runpath"), "", "/tree")));
  const auto next_of = [&](const std::string& tree) {
    return find_hazards(machine.look({}, "/app/rpath"), "", tree).at(0).next;
  };
  CHECK(next_of("/tree").ends_with("or start it with LD_PRELOAD=/tree/libcuda.so.1"));
  CHECK(next_of("").ends_with("(patchelf --remove-rpath)"));
}

TEST_CASE("loader: the tree is known by its libcuda, whatever path leads to it") {
  Machine machine;
  machine.link("/current", "tree")
      .text("/app", ElfFile().with_needed("libcuda.so.1").with_rpath("/current").bytes())
      .library("/opt/own/libcuda.so.1");

  const LoaderFacts facts = machine.look({"LD_LIBRARY_PATH=/current:/opt/own"}, "/app");

  REQUIRE(facts.libcudas.size() == 2);
  CHECK(facts.libcudas[0].path == "/opt/own/libcuda.so.1");
  CHECK_FALSE(facts.tree_is_behind);
  CHECK_FALSE(any_grave(find_hazards(facts, "", "/tree")));
  CHECK(machine.look({"LD_LIBRARY_PATH=/opt/own:/current"}).tree_is_behind);
}

TEST_CASE("loader: a tree that is active is not in its own way") {
  Machine machine;
  const auto facts =
      read_loader(machine.root(), std::vector<std::string>{"LD_LIBRARY_PATH=/tree"}, "", "");

  REQUIRE(facts);
  CHECK(any_says(find_hazards(*facts, "", ""), "LD_LIBRARY_PATH also leads to /tree/libcuda.so.1"));
  CHECK(find_hazards(*facts, "", "/tree").empty());
}

TEST_CASE("loader: a name in a program's text is taken for one that it opens") {
  Machine machine;
  machine.text("/app/opens", ElfFile().bytes() + std::string("\0libcuda.so.1\0", 14))
      .text("/app/neither", ElfFile().with_needed("libgone.so").bytes());

  const auto opens = machine.look({}, "/app/opens").application;
  const auto neither = machine.look({}, "/app/neither").application;

  REQUIRE(opens->needs.size() == 1);
  CHECK(opens->needs[0].by_dlopen);
  CHECK(opens->needs[0].takes->path == "/tree/libcuda.so.1");
  CHECK(neither->needs.empty());
  CHECK(neither->missing == std::vector<std::string>{"libgone.so"});
}

TEST_CASE("loader: a setuid program takes no tree") {
  Machine machine;
  machine.text("/app/su", ElfFile().with_needed("libcuda.so.1").bytes())
      .mode("/app/su", fs::perms::set_uid | fs::perms::owner_all);

  const LoaderFacts facts = machine.look({}, "/app/su");

  CHECK(facts.application->ignores_environment);
  CHECK(facts.application->needs[0].takes->path == "/usr/lib/x86_64-linux-gnu/libcuda.so.1");
  CHECK(any_grave(find_hazards(facts, "", "/tree")));
}

TEST_CASE("loader: a library of another architecture is passed over") {
  Machine machine;
  machine.text("/arm/libcuda.so.1", ElfFile(test::kAarch64).bytes())
      .text("/app/run",
            ElfFile(test::kAarch64).with_needed("libcuda.so.1").with_runpath("/arm").bytes());

  CHECK(machine.look({}, "/app/run").application->needs[0].takes->path == "/arm/libcuda.so.1");
}

TEST_CASE("loader: what is no program is said to be none") {
  Machine machine;
  machine.text("/app/script", "#!/usr/bin/env python3\n");

  const auto script = read_loader(machine.root(), {}, "/tree", "/app/script");
  const auto nothing = read_loader(machine.root(), {}, "/tree", "/app/none");

  CHECK(script.error().code == Errc::not_recognized);
  CHECK(script.error().hint == "name the program that runs it, such as python3");
  CHECK(nothing.error().code == Errc::io);
}
