// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <optional>

#include "compatpack/commands/commands.hpp"
#include "compatpack/io/absolute_path.hpp"
#include "compatpack/pipeline/activation.hpp"
#include "compatpack/pipeline/target.hpp"

#include "host_steps.hpp"

namespace compatpack::commands {
namespace {

/// Whether the tree, with a driver of version `ours` if that is known, is to be active: what env.sh
/// decides, and says, in the same order.
Result<bool> is_wanted(const RunOptions& options, const std::optional<DriverVersion>& ours,
                       const Env& env, Console& console) {
  const std::string mode(value_of(env.environment, "COMPATPACK_MODE").value_or("auto"));
  if (mode == "off") {
    console.detail("not activated: COMPATPACK_MODE is off");
    return false;
  }
  if (mode == "on") {
    return true;
  }
  if (mode != "auto" && !mode.empty()) {
    console.warn("COMPATPACK_MODE is " + mode + ", not auto, on or off; taken as auto");
  }
  CP_TRY(const host::HostRoot root, host::HostRoot::open(options.root));
  const host::KernelDriver driver = host::read_kernel_driver(root);
  if (!driver.version) {
    if (!driver.problem.empty()) {
      console.warn("activated without comparing: " + driver.problem);
    }
    return true;
  }
  if (!ours || *driver.version < *ours) {
    return true;
  }
  console.warn("not activated: this host's driver, " + driver.version->text() +
               ", has all that this tree's, " + ours->text() + ", has");
  console.warn(
      "the tree would break CUDA here (error 803); COMPATPACK_MODE=on activates it all the same");
  return false;
}

}  // namespace

Result<int> run_run(const RunOptions& options, const Env& env, Console& console) {
  CP_TRY(const auto ours, driver_of_folder(options.tree));
  CP_TRY(const std::string tree, io::absolute_folder(options.tree));
  CP_CHECK(pipeline::check_tree_path(tree));
  CP_TRY(const bool wanted, is_wanted(options, ours, env, console));
  const int reason = env.become(
      options.command, wanted ? pipeline::activated(env.environment, tree) : env.environment);
  Error error = io_error("cannot run", options.command.front(), reason);
  console.error(error);
  // As a shell does: not found, or found and not to be run.
  constexpr int kNotFound = 127;
  constexpr int kNotRunnable = 126;
  return reason == ENOENT ? kNotFound : kNotRunnable;
}

}  // namespace compatpack::commands
