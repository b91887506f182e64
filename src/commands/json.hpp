// SPDX-License-Identifier: Apache-2.0
#pragma once

// What --json prints is made of. Keys stay in the order in which they are written down.

#include <string>

#include <nlohmann/json.hpp>

namespace compatpack::commands {

using Json = nlohmann::ordered_json;

/// A JSON document as it is printed. Bytes that are no UTF-8 become the replacement character.
std::string rendered(const Json& json);

/// null for empty text.
Json text_or_null(const std::string& text);

}  // namespace compatpack::commands
