// SPDX-License-Identifier: Apache-2.0
#include "text_template.hpp"

#include <algorithm>

namespace compatpack::pipeline {

std::string filled_template(std::string_view text, std::span<const TemplatePlace> places) {
  std::string out;
  while (!text.empty()) {
    const auto place = std::find_if(places.begin(), places.end(),
                                    [text](const auto& one) { return text.starts_with(one.name); });
    if (place != places.end()) {
      out += place->value;
      text.remove_prefix(place->name.size());
    } else {
      out += text.front();
      text.remove_prefix(1);
    }
  }
  return out;
}

}  // namespace compatpack::pipeline
