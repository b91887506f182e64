// SPDX-License-Identifier: Apache-2.0
#include "shell_assignments.hpp"

#include <algorithm>

#include "compatpack/base/text.hpp"

namespace compatpack::formats {
namespace {

// The longest free text that was seen is a licence of 20 KB; a value beyond this is none of ours.
constexpr std::size_t kValueMax = 1U << 20U;

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// Length of the name that `line` assigns to, or 0.
std::size_t assigned_name(std::string_view line) {
  const auto end = std::find_if_not(line.begin(), line.end(), is_name_character);
  const auto length = static_cast<std::size_t>(end - line.begin());
  const bool assigns = length > 0 && length < line.size() && line[length] == '=';
  return assigns && (line[0] < '0' || line[0] > '9') ? length : 0;
}

/// Takes a part within `quote`s off the front of `rest`, which begins behind the opening one.
void take_quoted(std::string_view& rest, char quote, std::string& value) {
  while (!rest.empty() && rest.front() != quote) {
    constexpr std::string_view kEscapable = "\"\\`$\n";
    const bool escape = quote != '\'' && rest.front() == '\\' && rest.size() > 1 &&
                        kEscapable.find(rest[1]) != std::string_view::npos;
    if (escape) {
      rest.remove_prefix(1);
      if (rest.front() == '\n') {  // an escaped line end is nothing
        rest.remove_prefix(1);
        continue;
      }
    }
    value += rest.front();
    rest.remove_prefix(1);
  }
  rest.remove_prefix(std::min<std::size_t>(1, rest.size()));
}

/// Takes one word of shell off the front of `rest`.
std::string take_word(std::string_view& rest) {
  constexpr std::string_view kEnd = " \t\r\n;&|";
  std::string value;
  while (!rest.empty() && kEnd.find(rest.front()) == std::string_view::npos) {
    const char c = rest.front();
    rest.remove_prefix(1);
    if (c == '"' || c == '\'') {
      take_quoted(rest, c, value);
    } else if (c == '`') {
      value += c;
      take_quoted(rest, c, value);
      value += c;
    } else if (c == '\\' && !rest.empty()) {
      if (rest.front() != '\n') {  // an escaped line end is nothing
        value += rest.front();
      }
      rest.remove_prefix(1);
    } else {
      value += c;
    }
  }
  return value;
}

}  // namespace

std::vector<ShellAssignment> scan_shell_assignments(std::string_view script) {
  std::vector<ShellAssignment> all;
  std::string_view rest = script;
  while (!rest.empty() && all.size() < kShellAssignmentsMax) {
    const std::size_t length = assigned_name(rest);
    if (length > 0) {
      const ByteOffset at{script.size() - rest.size()};
      const std::string_view name = rest.substr(0, length);
      std::string_view word = rest.substr(length + 1, kValueMax);
      const std::size_t before = word.size();
      std::string value = take_word(word);
      rest.remove_prefix(length + 1 + before - word.size());
      all.push_back({name, std::move(value), at, {script.size() - rest.size()}});
    }
    if (!rest.empty()) {
      take_line(rest);
    }
  }
  return all;
}

}  // namespace compatpack::formats
