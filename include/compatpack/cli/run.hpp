// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "compatpack/commands/console.hpp"

namespace compatpack::cli {

/// The whole program but for main(): reads `arguments` (without the program's name), runs the
/// command, prints what it says or why it failed, and returns the exit status.
int run(std::span<const std::string> arguments, const commands::Env& env);

}  // namespace compatpack::cli
