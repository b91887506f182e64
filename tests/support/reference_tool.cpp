// SPDX-License-Identifier: Apache-2.0
//
// What scripts/make-reference writes, and what tests/e2e/reference.sh compares with:
//
//   reference_tool man PAGE [COMMAND]    the manual page PAGE, its parts from the reference anew
//   reference_tool completion SHELL      for bash, zsh or fish
//   reference_tool commands              their names, one a line

#include <fstream>
#include <iostream>
#include <iterator>
#include <span>

#include "compatpack/cli/completion.hpp"
#include "compatpack/cli/manual.hpp"
#include "compatpack/cli/options.hpp"
#include "compatpack/pipeline/tree.hpp"

using namespace compatpack;

namespace {

int print_page(const std::string& file, const std::string& command) {
  std::ifstream in(file, std::ios::binary);
  const std::string page{std::istreambuf_iterator<char>(in), {}};
  const auto made =
      cli::manual_page(page, cli::reference(), command, pipeline::compatpack_version());
  if (!made) {
    std::cerr << "reference_tool: error: " << file << ": " << render(made.error());
    return 1;
  }
  std::cout << *made;
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::span<char*> raw(argv, static_cast<std::size_t>(argc));
  const std::vector<std::string> words(raw.begin() + 1, raw.end());
  const std::string first = words.empty() ? "" : words.front();
  if (first == "man" && (words.size() == 2 || words.size() == 3)) {
    return print_page(words[1], words.size() == 3 ? words[2] : "");
  }
  const cli::Reference all = cli::reference();
  if (first == "completion" && words.size() == 2) {
    const std::string& shell = words[1];
    std::cout << (shell == "bash"   ? cli::bash_completion(all)
                  : shell == "zsh"  ? cli::zsh_completion(all)
                  : shell == "fish" ? cli::fish_completion(all)
                                    : "");
    return shell == "bash" || shell == "zsh" || shell == "fish" ? 0 : 2;
  }
  if (first == "commands") {
    for (const cli::CommandReference& command : all.commands) {
      std::cout << command.name << '\n';
    }
    return 0;
  }
  std::cerr << "reference_tool: error: see tests/support/reference_tool.cpp\n";
  return 2;
}
