// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace compatpack {

/// Lines of NAME=value, as a process gets them.
using Environment = std::span<const std::string>;

/// Whether `line` is of the variable `name`.
[[nodiscard]] inline bool is_of_variable(std::string_view line, std::string_view name) {
  return line.size() > name.size() && line.starts_with(name) && line[name.size()] == '=';
}

/// The value of a variable; nullopt if it is not set. A view into `environment`.
[[nodiscard]] inline std::optional<std::string_view> value_of(Environment environment,
                                                              std::string_view name) {
  for (const std::string& line : environment) {
    if (is_of_variable(line, name)) {
      return std::string_view(line).substr(name.size() + 1);
    }
  }
  return std::nullopt;
}

}  // namespace compatpack
