// SPDX-License-Identifier: Apache-2.0
#pragma once

// What each command takes, as a value: help texts, manual pages and completions are made of it, so
// that they cannot differ.

#include <span>
#include <string>
#include <vector>

namespace compatpack::cli {

/// "-o, --out DIR".
struct OptionReference {
  std::vector<std::string> names = {};    ///< as typed, the short one first: "-o", "--out"
  std::string value = {};                 ///< what stands for its value: "DIR"; "" for a flag
  std::vector<std::string> choices = {};  ///< the words that the value is one of; none: it is free
  std::string text = {};                  ///< one sentence without its full stop
  bool is_required = false;
};

/// What is given by its place: "BUNDLE...".
struct ArgumentReference {
  std::string name;
  std::string text;
  bool is_required = false;
  bool is_repeatable = false;
};

/// Options under a heading.
struct OptionGroup {
  std::string title;  ///< "Reading"; "" for the command's own
  std::vector<OptionReference> options;
};

struct CommandReference {
  std::string name;  ///< "extract"; "" for the program itself
  std::string text;  ///< one sentence without its full stop
  std::vector<ArgumentReference> arguments = {};
  std::vector<OptionGroup> groups = {};  ///< none is empty
};

/// The whole program.
struct Reference {
  CommandReference program;  ///< its own options; no arguments
  std::vector<CommandReference> commands;
};

struct ExitStatus {
  int number;
  const char* meaning;
};

/// What the program can end with, but for `run`, which ends with its command's.
std::span<const ExitStatus> exit_statuses();

/// "compatpack extract [OPTION]... BUNDLE... --out DIR".
std::string synopsis(const CommandReference& command);

/// What `compatpack COMMAND --help` prints, in lines of at most 80 columns. Ends in a line end.
std::string help_text(const CommandReference& command);

/// What `compatpack --help` prints: the commands, and what is true of all.
std::string help_text(const Reference& all);

}  // namespace compatpack::cli
