// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace compatpack::pipeline {

struct TemplatePlace {
  std::string_view name;  ///< as it stands in the text: "@PREFIX@"; begins with an @
  std::string_view value;
};

/// `text` with its places filled in. What is filled in is not looked at again, so that a path may
/// hold such words.
[[nodiscard]] std::string filled_template(std::string_view text,
                                          std::span<const TemplatePlace> places);

}  // namespace compatpack::pipeline
