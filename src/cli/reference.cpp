// SPDX-License-Identifier: Apache-2.0
#include "compatpack/cli/reference.hpp"

#include <array>
#include <cctype>

#include "compatpack/base/text.hpp"

namespace compatpack::cli {
namespace {

constexpr std::size_t kWidth = 80;       // columns
constexpr std::size_t kTextColumn = 26;  // where texts begin
constexpr std::size_t kLabelIndent = 2;

constexpr auto kStatuses = std::to_array<ExitStatus>({
    {0, "done, or up to date"},
    {1, "could not: I/O, permission, space, conflict"},
    {2, "usage"},
    {3, "input refused: not recognised, damaged, unsupported, over a limit, unsafe"},
    {4, "a checksum or a signature does not match"},
    {5, "check, probe: no, it will not work"},
    {6, "check: not known for sure"},
    {70, "a bug in compatpack"},
});

std::string capitalized(std::string text) {
  text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
  return text;
}

/// A label and its text in two columns; a label that is too long has a line of its own.
std::string row(std::string_view label, std::string_view text) {
  std::string first = std::string(kLabelIndent, ' ').append(label);
  if (first.size() + 2 > kTextColumn) {
    first += '\n' + wrapped(std::string(kTextColumn, ' '), text, kWidth, kTextColumn);
  } else {
    first.resize(kTextColumn, ' ');
    first = wrapped(first, text, kWidth, kTextColumn);
  }
  return first + '\n';
}

std::string label_of(const OptionReference& option) {
  // Long names stand under one another, with a short one or without.
  std::string label =
      option.names.size() == 1 && option.names.front().starts_with("--") ? "    " : "";
  label += joined(option.names, ", ");
  return option.value.empty() ? label : label + ' ' + option.value;
}

std::string text_of(const OptionReference& option) {
  return option.text + (option.is_required ? " (required)" : "");
}

/// The last paragraph of each help text.
std::string statuses_text() {
  std::string text = "Exit status:";
  for (const ExitStatus& status : kStatuses) {
    text +=
        (text.back() == ':' ? " " : "; ") + std::to_string(status.number) + ' ' + status.meaning;
  }
  return '\n' + wrapped("", text + '.', kWidth, 0) + '\n';
}

}  // namespace

std::span<const ExitStatus> exit_statuses() { return kStatuses; }

std::string synopsis(const CommandReference& command) {
  std::string line =
      "compatpack " + (command.name.empty() ? "COMMAND" : command.name) + " [OPTION]...";
  for (const ArgumentReference& argument : command.arguments) {
    if (&argument != &command.arguments.front()) {
      line += " --";  // what follows a tree is a command of its own
    }
    const std::string name = argument.name + (argument.is_repeatable ? "..." : "");
    line += ' ' + (argument.is_required ? name : '[' + name + ']');
  }
  for (const OptionGroup& group : command.groups) {
    for (const OptionReference& option : group.options) {
      if (option.is_required) {
        line += ' ' + option.names.back() + ' ' + option.value;
      }
    }
  }
  return line;
}

std::string help_text(const CommandReference& command) {
  std::string text = "Usage: " + synopsis(command) + "\n\n" +
                     wrapped("", capitalized(command.text) + '.', kWidth, 0) + '\n';
  if (!command.arguments.empty()) {
    text += '\n';
  }
  for (const ArgumentReference& argument : command.arguments) {
    text += row(argument.name, argument.text);
  }
  for (const OptionGroup& group : command.groups) {
    text += '\n' + (group.title.empty() ? "Options" : group.title) + ":\n";
    for (const OptionReference& option : group.options) {
      text += row(label_of(option), text_of(option));
    }
  }
  return text + statuses_text();
}

std::string help_text(const Reference& all) {
  std::string text = "Usage: " + synopsis(all.program) + "\n\n" +
                     wrapped("", all.program.text + '.', kWidth, 0) + "\n\nCommands:\n";
  for (const CommandReference& command : all.commands) {
    text += row(command.name, command.text);
  }
  text += "\nOptions:\n";
  for (const OptionGroup& group : all.program.groups) {
    for (const OptionReference& option : group.options) {
      text += row(label_of(option), text_of(option));
    }
  }
  return text + "\nOptions of a command: compatpack COMMAND --help\n" + statuses_text();
}

}  // namespace compatpack::cli
