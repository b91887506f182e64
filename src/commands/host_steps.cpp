// SPDX-License-Identifier: Apache-2.0
#include "host_steps.hpp"

#include <algorithm>
#include <utility>

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

void replace_host(const HostOptions& options, host::HostFacts& facts) {
  if (!options.driver.empty()) {
    // Nothing of this machine but what a job takes along: its environment, and what that leads to.
    facts.driver = {.version = DriverVersion::parse(options.driver), .origin = "--driver"};
    facts.gpus.clear();
    facts.platform = {};
  }
  if (!options.gpus.empty()) {
    facts.gpus.clear();
    facts.platform.has_device_files = true;
  }
  for (const std::string& name : options.gpus) {
    facts.gpus.push_back({.name = name, .origin = "--gpu"});
  }
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
  if (!options.driver.empty()) {
    CP_CHECK(parse_driver_option(options.driver));
  }
  CP_TRY(const host::HostRoot root, host::HostRoot::open(options.root));
  HostLook look;
  CP_TRY(look.table, open_table(options.table));
  look.facts.driver = host::read_kernel_driver(root);
  look.facts.gpus = host::read_gpus(root);
  look.facts.platform = host::read_platform(root, env.host_arch, env.host_glibc);
  look.facts.visible_devices = host::value_of(env.environment, "CUDA_VISIBLE_DEVICES");
  look.facts.is_pci_order = host::value_of(env.environment, "CUDA_DEVICE_ORDER") == "PCI_BUS_ID";
  replace_host(options, look.facts);
  if (!options.driver.empty()) {
    CP_TRY(look.facts.driver.version, parse_driver_option(options.driver));
  }
  CP_TRY(look.loader, host::read_loader(root, env.environment, tree, application));
  look.facts.hazards = host::find_hazards(look.loader, look.facts.platform.mps, tree);
  look.runtimes = host::read_runtimes(root, env.environment);
  return look;
}

Result<DriverVersion> driver_of_folder(const std::string& path) {
  CP_TRY(const auto folder, io::TreeFolder::open(path));
  if (!folder || !folder->is_folder()) {
    return Error{.code = folder ? Errc::not_recognized : Errc::io,
                 .what = folder ? "not a folder" : "no such folder",
                 .subject = path,
                 .expected = "a folder with libcuda.so.VERSION in it"};
  }
  CP_TRY(const auto names, folder->names());
  std::vector<std::string> found;
  for (const std::string& name : names) {
    const auto parts = knowledge::parse_library_name(name);
    if (!parts || parts->stem != "libcuda" || !DriverVersion::parse(parts->suffix)) {
      continue;
    }
    CP_TRY(const io::TreeEntry entry, folder->look(name));
    if (entry.kind == io::TreeEntry::Kind::file) {
      found.push_back(name);
    }
  }
  if (found.size() != 1) {
    return Error{.code = found.empty() ? Errc::not_recognized : Errc::unsupported,
                 .what = found.empty() ? "no compat tree: it holds no libcuda.so.VERSION"
                                       : "folder holds the libcuda of two drivers",
                 .subject = path,
                 .expected = "one regular file libcuda.so.VERSION",
                 .found = found.empty() ? "none" : found[0] + ", " + found[1]};
  }
  return *DriverVersion::parse(knowledge::parse_library_name(found.front())->suffix);
}

Result<host::Package> package_of_folder(const std::string& path) {
  host::Package package;
  CP_TRY(package.driver, driver_of_folder(path));
  CP_TRY(const host::HostRoot folder, host::HostRoot::open(path));
  for (const std::string& name : folder.list("/")) {
    const auto parts = knowledge::parse_library_name(name);
    const auto entry = folder.look("/" + name);
    if (!parts || !entry || entry->kind != host::HostEntry::Kind::file ||
        entry->real_path != "/" + name) {
      continue;  // links among them lead to what is seen anyway
    }
    package.libraries.emplace_back(parts->stem);
    CP_TRY(const io::MappedBytes file, folder.map("/" + name));
    auto elf = formats::parse_elf(file.bytes());
    if (!elf) {
      elf.error().subject = std::string(path).append("/").append(name);
      return std::move(elf).error();
    }
    if (is_newer_version(elf->glibc_needed, package.glibc_needed)) {
      package.glibc_needed = elf->glibc_needed;
    }
    if (parts->stem == "libcuda") {
      package.arch = name_of(elf->head);
      read_note(elf->forward_compat_note, package);
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
