// SPDX-License-Identifier: Apache-2.0

// Prints the text of an activation script, for shell tests:
//
//   activation_tool sh|fish|csh DRIVER PREFIX     the script of a tree
//   activation_tool eval-sh|eval-fish|eval-csh TREE

#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compatpack/pipeline/activation.hpp"

using namespace compatpack;
using namespace compatpack::pipeline;

namespace {

std::optional<Shell> shell_named(std::string_view name) {
  if (name == "sh") {
    return Shell::sh;
  }
  if (name == "fish") {
    return Shell::fish;
  }
  if (name == "csh") {
    return Shell::csh;
  }
  return std::nullopt;
}

int usage() {
  std::cerr << "usage: activation_tool sh|fish|csh DRIVER PREFIX\n"
               "       activation_tool eval-sh|eval-fish|eval-csh TREE\n";
  return 2;
}

int print_script(Shell shell, const ActivationFacts& facts) {
  switch (shell) {
    case Shell::sh:
      std::cout << make_env_sh(facts);
      break;
    case Shell::fish:
      std::cout << make_env_fish(facts);
      break;
    case Shell::csh:
      std::cout << make_env_csh(facts);
      break;
  }
  return 0;
}

int print_eval_code(Shell shell, std::string_view tree) {
  const auto code = make_eval_code(shell, tree);
  if (!code) {
    std::cerr << render(code.error());
    return exit_status(code.error().code);
  }
  std::cout << *code;
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string_view> arguments(argv + 1, argv + argc);
  if (arguments.size() == 2 && arguments[0].starts_with("eval-")) {
    const auto shell = shell_named(arguments[0].substr(5));
    return shell ? print_eval_code(*shell, arguments[1]) : usage();
  }
  if (arguments.size() == 3) {
    const auto shell = shell_named(arguments[0]);
    const auto driver = DriverVersion::parse(arguments[1]);
    if (shell && (driver || arguments[1] == "unknown")) {
      return print_script(*shell, {.driver = driver, .prefix = std::string(arguments[2])});
    }
  }
  return usage();
}
