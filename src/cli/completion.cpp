// SPDX-License-Identifier: Apache-2.0
#include "compatpack/cli/completion.hpp"

#include "compatpack/base/text.hpp"

namespace compatpack::cli {
namespace {

/// What may stand where a value is expected.
enum class Kind { words, folder, file, other };

Kind kind_of(const OptionReference& option) {
  if (!option.choices.empty()) {
    return Kind::words;
  }
  if (option.value == "DIR" || option.value == "LAYOUT") {
    return Kind::folder;
  }
  return option.value == "FILE" || option.value == "PATH" ? Kind::file : Kind::other;
}

/// Calls `visit` with each option of the command.
template <class Visit>
void for_each_option(const CommandReference& command, Visit visit) {
  for (const OptionGroup& group : command.groups) {
    for (const OptionReference& option : group.options) {
      visit(option);
    }
  }
}

/// Every name of every option.
std::string option_words(const CommandReference& command) {
  std::vector<std::string> names;
  for_each_option(command, [&names](const OptionReference& option) {
    names.insert(names.end(), option.names.begin(), option.names.end());
  });
  return joined(names, " ");
}

std::string command_words(const Reference& all) {
  std::vector<std::string> names;
  for (const CommandReference& command : all.commands) {
    names.push_back(command.name);
  }
  return joined(names, " ");
}

constexpr const char* kMadeBy = "made by scripts/make-reference\n";

// --- bash ---

/// The branches of a case statement on "COMMAND OPTION" that say what the option's value may be.
std::string bash_values(const CommandReference& command) {
  std::string text;
  for_each_option(command, [&](const OptionReference& option) {
    if (option.value.empty()) {
      return;
    }
    std::vector<std::string> patterns;
    for (const std::string& name : option.names) {
      patterns.push_back('"' + command.name + ' ' + name + '"');
    }
    text += "    " + joined(patterns, " | ") + ") ";
    switch (kind_of(option)) {
      case Kind::words:
        text += "words='" + joined(option.choices, " ") + "'";
        break;
      case Kind::folder:
        text += "kind=-d";
        break;
      case Kind::file:
        text += "kind=-f";
        break;
      case Kind::other:
        text += "return";
        break;
    }
    text += " ;;\n";
  });
  return text;
}

// --- zsh ---

/// As text within a specification of _arguments, in single quotes.
std::string zsh_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      if (c == '[' || c == ']' || c == ':' || c == '\\') {
        out += '\\';
      }
      out += c;
    }
  }
  return out;
}

std::string zsh_value(const OptionReference& option) {
  switch (kind_of(option)) {
    case Kind::words:
      return "(" + joined(option.choices, " ") + ")";
    case Kind::folder:
      return "_files -/";
    case Kind::file:
      return "_files";
    case Kind::other:
      break;
  }
  return " ";
}

std::string zsh_options(const CommandReference& command) {
  std::string text;
  for_each_option(command, [&text](const OptionReference& option) {
    for (const std::string& name : option.names) {
      text += "    '*" + name + '[' + zsh_text(option.text) + ']';
      if (!option.value.empty()) {
        text += ':' + option.value + ':' + zsh_value(option);
      }
      text += "' \\\n";
    }
  });
  return text;
}

// --- fish ---

std::string fish_option(const OptionReference& option) {
  std::string text;
  for (const std::string& name : option.names) {
    text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  }
  if (!option.value.empty()) {
    switch (kind_of(option)) {
      case Kind::words:
        text += " -x -a " + fish_quoted(joined(option.choices, " "));
        break;
      case Kind::folder:
        text += " -x -a '(__fish_complete_directories)'";
        break;
      case Kind::file:
        text += " -r -F";
        break;
      case Kind::other:
        text += " -x";
        break;
    }
  }
  return text + " -d " + fish_quoted(option.text);
}

}  // namespace

std::string bash_completion(const Reference& all) {
  std::string text = "# bash completion for compatpack; ";
  text += kMadeBy;
  text += R"sh(
_compatpack() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command='' words='' kind=-f
  COMPREPLY=()
  if ((COMP_CWORD > 1)); then
    command=${COMP_WORDS[1]}
    # bash makes three words of --option=value.
    if [[ $current == = ]]; then
      current=
    elif [[ $previous == = ]]; then
      previous=${COMP_WORDS[COMP_CWORD - 2]}
    fi
  fi
  case "$command $previous" in
)sh";
  for (const CommandReference& command : all.commands) {
    text += bash_values(command);
  }
  text +=
      "    *)\n      [[ $current != -* && -n $command ]] || case $command in\n        '') words='" +
      command_words(all) + ' ' + option_words(all.program) + "' ;;\n";
  for (const CommandReference& command : all.commands) {
    text += "        " + command.name + ") words='" + option_words(command) + "' ;;\n";
  }
  return text + R"sh(      esac
      ;;
  esac
  if [[ -n $words ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
  else
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen "$kind" -- "$current")
  fi
}
complete -F _compatpack compatpack
)sh";
}

std::string zsh_completion(const Reference& all) {
  std::string text = "#compdef compatpack\n# ";
  text += kMadeBy;
  text += R"sh(
_compatpack() {
  local context state line
  typeset -A opt_args
  local -a commands=(
)sh";
  for (const CommandReference& command : all.commands) {
    text += "    '" + command.name + ':' + zsh_text(command.text) + "'\n";
  }
  text += "  )\n  _arguments -C \\\n" + zsh_options(all.program) +
          "    '1:command:->command' \\\n    '*::argument:->argument'\n"
          "  case $state in\n    command) _describe command commands ;;\n    argument)\n"
          "      case $line[1] in\n";
  for (const CommandReference& command : all.commands) {
    text += "      " + command.name + ")\n        _arguments -S \\\n" + zsh_options(command) +
            "        '*:file:_files'\n        ;;\n";
  }
  return text + R"sh(      esac
      ;;
  esac
}

_compatpack "$@"
)sh";
}

std::string fish_completion(const Reference& all) {
  std::string text = "# fish completion for compatpack; ";
  text += kMadeBy;
  for_each_option(all.program, [&text](const OptionReference& option) {
    text += "complete -c compatpack -n __fish_use_subcommand" + fish_option(option) + '\n';
  });
  for (const CommandReference& command : all.commands) {
    text += "\ncomplete -c compatpack -n __fish_use_subcommand -f -a " + command.name + " -d " +
            fish_quoted(command.text) + '\n';
    for_each_option(command, [&](const OptionReference& option) {
      text += "complete -c compatpack -n '__fish_seen_subcommand_from " + command.name + "'" +
              fish_option(option) + '\n';
    });
  }
  return text;
}

}  // namespace compatpack::cli
