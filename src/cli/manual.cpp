// SPDX-License-Identifier: Apache-2.0
#include "compatpack/cli/manual.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include "compatpack/base/text.hpp"

namespace compatpack::cli {
namespace {

constexpr std::string_view kBegin = ".\\\" from the reference\n";
constexpr std::string_view kEnd = ".\\\" to here\n";

/// `text` as roff that prints it: a hyphen that can be copied as the option's minus, no line that
/// is taken for a request.
std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '-') {
      out += "\\-";
    } else if (c == '\\') {
      out += "\\e";
    } else if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n')) {
      out.append("\\&").push_back(c);
    } else {
      out += c;
    }
  }
  return out;
}

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

std::string page_name(std::string_view command) {
  return command.empty() ? "compatpack" : "compatpack-" + std::string(command);
}

std::string heading(const CommandReference& command, std::string_view version) {
  const std::string name = page_name(command.name);
  std::string usage = roff(synopsis(command));
  usage.insert(usage.find(' '), "\\fR");  // the program's name alone is bold
  return ".TH " + upper(name) + " 1 \"\" \"compatpack " + std::string(version) +
         "\" \"User Commands\"\n.SH NAME\n" + roff(name) + " \\- " + roff(command.text) +
         "\n.SH SYNOPSIS\n\\fB" + usage + '\n';
}

std::string entry(const OptionReference& option) {
  std::string label;
  for (const std::string& name : option.names) {
    label += (label.empty() ? "\\fB" : ", \\fB") + roff(name) + "\\fR";
  }
  if (!option.value.empty()) {
    label += " \\fI" + roff(option.value) + "\\fR";
  }
  return ".TP\n" + label + '\n' + roff(option.text) + (option.is_required ? " (required)\n" : "\n");
}

std::string options_part(const CommandReference& command) {
  std::string text;
  if (!command.arguments.empty()) {
    text += ".SH ARGUMENTS\n";
  }
  for (const ArgumentReference& argument : command.arguments) {
    text += ".TP\n\\fI" + roff(argument.name) + "\\fR\n" + roff(argument.text) + '\n';
  }
  text += ".SH OPTIONS\n";
  for (const OptionGroup& group : command.groups) {
    if (!group.title.empty()) {
      text += ".SS " + roff(group.title) + '\n';
    }
    for (const OptionReference& option : group.options) {
      text += entry(option);
    }
  }
  return text;
}

std::string commands_part(const Reference& all) {
  std::string text = ".SH COMMANDS\n";
  for (const CommandReference& command : all.commands) {
    text += ".TP\n\\fB" + roff(command.name) + "\\fR\n" + roff(command.text) + '\n';
  }
  return text;
}

std::string statuses_part() {
  std::string text = ".SH EXIT STATUS\n";
  for (const ExitStatus& status : exit_statuses()) {
    text += ".TP\n" + std::to_string(status.number) + '\n' + status.meaning + '\n';
  }
  return text;
}

/// The other pages, by name.
std::string others_part(const Reference& all, std::string_view name) {
  std::vector<std::string> names;
  if (!name.empty()) {
    names.push_back(page_name(""));
  }
  for (const CommandReference& command : all.commands) {
    if (command.name != name) {
      names.push_back(page_name(command.name));
    }
  }
  std::string text = ".SH SEE ALSO\n";
  for (const std::string& one : names) {
    text += ".BR " + roff(one) + (&one == &names.back() ? " (1)\n" : " (1),\n");
  }
  return text;
}

}  // namespace

Result<std::string> manual_page(std::string_view page, const Reference& all, std::string_view name,
                                std::string_view version) {
  const auto command =
      std::find_if(all.commands.begin(), all.commands.end(),
                   [name](const CommandReference& one) { return one.name == name; });
  if (!name.empty() && command == all.commands.end()) {
    return Error{.code = Errc::usage, .what = "no such command: " + std::string(name)};
  }
  const CommandReference& subject = name.empty() ? all.program : *command;
  const std::array parts = {heading(subject, version), (name.empty() ? commands_part(all) : "") +
                                                           options_part(subject) + statuses_part() +
                                                           others_part(all, name)};
  std::string out;
  for (const std::string& part : parts) {
    const auto begin = page.find(kBegin);
    const auto end =
        page.find(kEnd, begin == std::string_view::npos ? begin : begin + kBegin.size());
    if (end == std::string_view::npos) {
      return Error{.code = Errc::corrupt,
                   .what = "page lacks a part that is made from the reference",
                   .expected = "twice a line " + std::string(kBegin.substr(0, kBegin.size() - 1)) +
                               ", and a line " + std::string(kEnd.substr(0, kEnd.size() - 1))};
    }
    out.append(page.substr(0, begin)).append(kBegin).append(part).append(kEnd);
    page.remove_prefix(end + kEnd.size());
  }
  return out.append(page);
}

}  // namespace compatpack::cli
