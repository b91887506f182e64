// SPDX-License-Identifier: Apache-2.0
#pragma once

// From argv to options. The one place that knows CLI11.

#include <span>
#include <string>
#include <variant>

#include "compatpack/cli/reference.hpp"
#include "compatpack/commands/commands.hpp"

namespace compatpack::cli {

/// What to print instead of running a command.
struct Message {
  std::string text;
  int status;  ///< 0: asked for (--help, --version), for stdout; 2: bad usage, for stderr
};

struct Invocation {
  commands::ConsoleStyle style = {};
  std::variant<Message, commands::ExtractOptions, commands::InspectOptions, commands::ListOptions,
               commands::VerifyOptions, commands::EnvOptions, commands::ModuleOptions,
               commands::ImageOptions, commands::CheckOptions, commands::ProbeOptions,
               commands::RunOptions, commands::MatrixOptions>
      command;
};

/// Reads `arguments`, without the program's name. `env` gives the defaults: architecture, terminal.
/// Bad usage is a Message, not an Error: it is for people and has the usage line.
Invocation parse_arguments(std::span<const std::string> arguments, const commands::Env& env);

/// What parse_arguments() understands.
Reference reference();

}  // namespace compatpack::cli
