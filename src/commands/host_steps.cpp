// SPDX-License-Identifier: Apache-2.0
#include "host_steps.hpp"

#include <algorithm>
#include <utility>

#include "compatpack/base/text.hpp"
#include "compatpack/formats/elf.hpp"
#include "compatpack/io/text_file.hpp"
#include "compatpack/io/tree_folder.hpp"
#include "compatpack/knowledge/catalog.hpp"
#include "compatpack/knowledge/driver_branches.hpp"

namespace compatpack::commands {
namespace {

// The built-in table has 37 KB.
constexpr ByteCount kTableMax{16U << 20U};

void read_note(const std::optional<std::string>& text, host::Package& package) {
  package.has_note = text.has_value();
  if (text) {
    package.note = formats::parse_fwd_compat_note(*text);
  }
}

/// The CUDA version by the note, or by the branch.
void set_cuda(host::Package& package) {
  if (package.note && package.note->cuda) {
    package.cuda = package.note->cuda;
  } else if (package.driver) {
    package.cuda = knowledge::cuda_of_branch(package.driver->branch());
  }
}

/// The names in all --gpu options: each is one name, or several with commas between them.
Result<std::vector<std::string>> gpu_names(const HostOptions& options) {
  std::vector<std::string> names;
  for (const std::string& list : options.gpus) {
    const std::size_t before = names.size();
    for (const std::string_view name : split(list, ',')) {
      if (!trim(name).empty()) {
        names.emplace_back(trim(name));
      }
    }
    if (names.size() == before) {
      return Error{.code = Errc::usage,
                   .what = "names no GPU",
                   .subject = "--gpu",
                   .expected = "a name, such as A100, or several with commas between them",
                   .found = list.empty() ? "nothing" : list};
    }
  }
  return names;
}

/// Puts what the user says of another machine in place of what is here.
Result<Done> replace_host(const HostOptions& options, host::HostFacts& facts) {
  CP_TRY(const std::vector<std::string> names, gpu_names(options));
  if (!options.driver.empty()) {
    CP_TRY(DriverVersion version, parse_driver_option(options.driver));
    facts.driver = {
        .version = std::move(version), .origin = "--driver", .is_of_another_machine = true};
    facts.gpus.clear();
    facts.platform = {};
  }
  if (!names.empty()) {
    facts.gpus.clear();
    facts.platform.has_device_files = true;
  }
  for (const std::string& name : names) {
    facts.gpus.push_back({.name = name, .origin = "--gpu"});
  }
  return Done{};
}

/// Of another machine nothing here tells but the environment, which a job takes along.
void keep_environment_alone(HostLook& look) {
  std::erase_if(look.loader.libcudas,
                [](const host::FoundLibrary& one) { return one.by != host::FoundBy::environment; });
  look.runtimes.clear();
}

Error not_a_tree(const std::string& path, Errc code, std::string found) {
  return Error{.code = code,
               .what = "not a compat tree",
               .subject = path,
               .expected = "a folder with libcuda.so.VERSION in it",
               .found = std::move(found)};
}

/// Whether a library is of those that a tree is made of.
bool is_of_tree(const knowledge::LibraryName& name) {
  const auto rows = knowledge::library_rows(name.stem);
  return std::any_of(rows.begin(), rows.end(), [](const knowledge::LibraryRow& row) {
    return row.component == knowledge::Component::cuda;
  });
}

/// One library of a folder: what it is counts for the package, if it goes with what came before.
Result<Done> add_library(const host::HostRoot& folder, const std::string& name,
                         const knowledge::LibraryName& parts, host::Package& package) {
  CP_TRY(const io::MappedBytes file, folder.map("/" + name));
  auto elf = formats::parse_elf(file.bytes());
  if (!elf) {
    elf.error().subject = std::string(folder.path()).append("/").append(name);
    return std::move(elf).error();
  }
  package.libraries.emplace_back(parts.stem);
  if (is_newer_version(elf->glibc_needed, package.glibc_needed)) {
    package.glibc_needed = elf->glibc_needed;
  }
  if (!is_of_tree(parts)) {
    return Done{};
  }
  const auto driver = knowledge::parse_driver(parts.suffix);
  if (driver && package.driver && *driver != *package.driver) {
    return Error{.code = Errc::unsupported,
                 .what = "libraries of two driver versions",
                 .subject = folder.path(),
                 .expected = "all of " + package.driver->text() + ", as its libcuda",
                 .found = name};
  }
  const std::string arch(name_of(elf->head));
  if (!package.arch.empty() && arch != package.arch) {
    return Error{.code = Errc::unsupported,
                 .what = "libraries of two architectures",
                 .subject = folder.path(),
                 .expected = "all for " + package.arch + ", as its libcuda",
                 .found = name + ", for " + arch};
  }
  package.arch = arch;
  if (parts.stem == "libcuda") {
    read_note(elf->forward_compat_note, package);
  }
  return Done{};
}

}  // namespace

Result<DriverVersion> parse_driver_option(const std::string& text) {
  // A branch alone, R470 or 470, is taken for its first version: what matters is the branch.
  const std::string number = text.starts_with('R') ? text.substr(1) : text;
  const bool is_branch = !number.empty() && number.find('.') == std::string::npos;
  auto version = DriverVersion::parse(is_branch ? number + ".0" : number);
  if (!version) {
    return Error{.code = Errc::usage,
                 .what = "not a driver version",
                 .subject = "--driver",
                 .expected = "two or three numbers, such as 535.129.03, or a branch, such as R535",
                 .found = text};
  }
  return *std::move(version);
}

Result<knowledge::CompatTable> open_table(const std::string& file) {
  if (file.empty()) {
    return knowledge::built_in_compat_table();
  }
  CP_TRY(const auto text, io::read_text_file(file, kTableMax));
  if (!text) {
    return Error{.code = Errc::io, .what = "no such file", .subject = file};
  }
  auto table = knowledge::parse_compat_table(*text);
  if (!table) {
    table.error().subject = file;
    return std::move(table).error();
  }
  table->name = file;
  return table;
}

Result<HostLook> look_at_host(const HostOptions& options, const Env& env, const std::string& tree,
                              const std::string& application) {
  CP_TRY(const host::HostRoot root, host::HostRoot::open(options.root));
  HostLook look;
  CP_TRY(look.table, open_table(options.table));
  look.facts.driver = host::read_kernel_driver(root);
  look.facts.gpus = host::read_gpus(root);
  look.facts.platform = host::read_platform(root, env.host_arch, env.host_glibc);
  look.facts.visible_devices = value_of(env.environment, "CUDA_VISIBLE_DEVICES");
  look.facts.is_pci_order = value_of(env.environment, "CUDA_DEVICE_ORDER") == "PCI_BUS_ID";
  CP_CHECK(replace_host(options, look.facts));
  CP_TRY(look.loader, host::read_loader(root, env.environment, tree, application));
  look.runtimes = host::read_runtimes(root, env.environment);
  if (!options.driver.empty()) {
    keep_environment_alone(look);
  }
  // Where none is named, the one that is active is not in its own way.
  look.facts.hazards = host::find_hazards(
      look.loader, look.facts.platform.mps,
      tree.empty() ? std::string(value_of(env.environment, "COMPATPACK_TREE").value_or("")) : tree);
  return look;
}

Result<io::TreeFolder> open_tree_folder(const std::string& path) {
  CP_TRY(auto folder, io::TreeFolder::open(path));
  if (!folder) {
    return not_a_tree(path, Errc::io, "nothing there");
  }
  if (!folder->is_folder()) {
    return not_a_tree(path, Errc::not_recognized, "not a folder");
  }
  CP_TRY(const auto names, folder->names());
  if (names.empty()) {
    return not_a_tree(path, Errc::not_recognized, "an empty folder");
  }
  return *std::move(folder);
}

Result<std::optional<DriverVersion>> driver_of_folder(const std::string& path) {
  CP_TRY(const io::TreeFolder folder, open_tree_folder(path));
  CP_TRY(const auto names, folder.names());
  std::vector<std::string> found;
  for (const std::string& name : names) {
    const auto parts = knowledge::parse_library_name(name);
    if (!parts || parts->stem != "libcuda" || !DriverVersion::parse(parts->suffix)) {
      continue;
    }
    CP_TRY(const io::TreeEntry entry, folder.look(name));
    if (entry.kind == io::TreeEntry::Kind::file) {
      found.push_back(name);
    }
  }
  if (found.empty()) {
    return not_a_tree(path, Errc::not_recognized, "files, but no libcuda.so.VERSION");
  }
  if (found.size() != 1) {
    return Error{.code = Errc::unsupported,
                 .what = "folder holds the libcuda of two drivers",
                 .subject = path,
                 .expected = "one regular file libcuda.so.VERSION",
                 .found = found[0] + ", " + found[1]};
  }
  return knowledge::parse_driver(knowledge::parse_library_name(found.front())->suffix);
}

Result<host::Package> package_of_folder(const std::string& path) {
  host::Package package;
  CP_TRY(package.driver, driver_of_folder(path));
  CP_TRY(const host::HostRoot folder, host::HostRoot::open(path));
  for (const std::string& name : folder.list("/")) {
    const auto parts = knowledge::parse_library_name(name);
    const auto entry = folder.look("/" + name);
    // Links lead to what is seen anyway.
    if (parts && entry && entry->kind == host::HostEntry::Kind::file &&
        entry->real_path == "/" + name) {
      CP_CHECK(add_library(folder, name, *parts, package));
    }
  }
  set_cuda(package);
  return package;
}

host::Package package_of(const pipeline::Plan& plan) {
  host::Package package{.driver = plan.driver,
                        .cuda = plan.cuda,
                        .has_note = plan.note.has_value(),
                        .note = plan.note,
                        .arch = plan.arch,
                        .glibc_needed = plan.glibc_needed};
  for (const pipeline::PlannedFile& file : plan.files) {
    if (const auto parts = knowledge::parse_library_name(file.to.text())) {
      package.libraries.emplace_back(parts->stem);
    }
  }
  return package;
}

}  // namespace compatpack::commands
