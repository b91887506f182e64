// SPDX-License-Identifier: Apache-2.0
#pragma once

// What every command that looks at the host, or at a folder of libraries, does first.

#include <string>
#include <vector>

#include "compatpack/commands/commands.hpp"
#include "compatpack/host/judge.hpp"
#include "compatpack/host/toolkits.hpp"
#include "compatpack/io/tree_folder.hpp"
#include "compatpack/pipeline/planner.hpp"

namespace compatpack::commands {

/// A host as far as it was looked at, and the table to judge it by.
struct HostLook {
  host::HostFacts facts;
  host::LoaderFacts loader;
  std::vector<host::Runtime> runtimes;
  knowledge::CompatTable table;
};

/// Looks at the host. `tree`, absolute, and `application` as for host::read_loader(). Where options
/// name another machine's driver, only the environment is looked at here.
///
/// Errors: io; usage for a version or a GPU's name that is none; those of the table and of the
/// application.
Result<HostLook> look_at_host(const HostOptions& options, const Env& env, const std::string& tree,
                              const std::string& application);

/// The table in `file`, or the built-in one if that is "".
Result<knowledge::CompatTable> open_table(const std::string& file);

/// The folder at `path`, which has something in it. The errors are those of every command that is
/// given a tree: io where nothing is, not_recognized for what is no folder, or an empty one.
Result<io::TreeFolder> open_tree_folder(const std::string& path);

/// The driver version of the folder at `path`: of its one regular file libcuda.so.VERSION; nullopt
/// for Jetson's, which is libcuda.so.1.1.
///
/// Errors: those above; not_recognized where it holds no such file; unsupported where it holds two.
Result<std::optional<DriverVersion>> driver_of_folder(const std::string& path);

/// What stands in a folder of libraries: a tree of ours, or an installed package of NVIDIA's.
/// Errors as above; unsupported for libraries of two drivers or architectures; those of
/// formats::parse_elf().
Result<host::Package> package_of_folder(const std::string& path);

/// What a tree made by `plan` would be.
host::Package package_of(const pipeline::Plan& plan);

/// "535.129.03" or "535" of --driver. Error usage.
Result<DriverVersion> parse_driver_option(const std::string& text);

}  // namespace compatpack::commands
