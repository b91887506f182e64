// SPDX-License-Identifier: Apache-2.0
#include "json.hpp"

namespace compatpack::commands {

std::string rendered(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

Json text_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

}  // namespace compatpack::commands
