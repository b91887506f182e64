// SPDX-License-Identifier: Apache-2.0
#include "text_template.hpp"

#include <algorithm>

namespace compatpack::pipeline {

std::string filled_template(std::string_view text, std::span<const TemplatePlace> places) {
  std::string out;
  for (auto at = text.find('@'); at != std::string_view::npos; at = text.find('@')) {
    out += text.substr(0, at);
    text.remove_prefix(at);
    const auto place = std::find_if(places.begin(), places.end(),
                                    [text](const auto& one) { return text.starts_with(one.name); });
    const bool known = place != places.end();
    out += known ? place->value : "@";
    text.remove_prefix(known ? place->name.size() : 1);
  }
  out += text;
  return out;
}

}  // namespace compatpack::pipeline
