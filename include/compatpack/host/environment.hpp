// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace compatpack::host {

/// Lines of NAME=value, as a process gets them.
using Environment = std::span<const std::string>;

/// The value of a variable; nullopt if it is not set. A view into `environment`.
[[nodiscard]] inline std::optional<std::string_view> value_of(Environment environment,
                                                              std::string_view name) {
  for (const std::string_view line : environment) {
    if (line.size() > name.size() && line.starts_with(name) && line[name.size()] == '=') {
      return line.substr(name.size() + 1);
    }
  }
  return std::nullopt;
}

}  // namespace compatpack::host
