// SPDX-License-Identifier: Apache-2.0
// Any name: what is accepted stays inside whatever folder it is put in, is accepted again as
// itself, and is its folder and its name put together.

#include <cstdint>
#include <cstdlib>
#include <string>

#include "compatpack/base/rel_path.hpp"
#include "compatpack/base/text.hpp"

using namespace compatpack;

namespace {

void require(bool holds) {
  if (!holds) {
    std::abort();
  }
}

bool is_plain(std::string_view component) {
  return !component.empty() && component != "." && component != ".." && component.size() <= 255 &&
         component.find('\0') == std::string_view::npos &&
         component.find('/') == std::string_view::npos;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = as_text(std::as_bytes(std::span(data, size)));
  if (const auto name = FileName::parse(text)) {
    require(is_plain(name->text()) && name->text() == text);
  }
  const auto path = RelPath::parse(text);
  if (!path) {
    require(path.error().code == Errc::unsafe_path && path.error().found == text);
    static_cast<void>(render(path.error()));
    return 0;
  }
  require(path->text().size() <= 4'095 && text.find(path->text()) != std::string_view::npos);
  const auto again = RelPath::parse(path->text());
  require(again && *again == *path);
  const std::string folder(path->folder());
  require((folder.empty() ? "" : folder + "/") + std::string(path->name()) == path->text());
  if (path->text() == ".") {
    return 0;
  }
  for (const std::string_view component : split(path->text(), '/')) {
    require(is_plain(component));
  }
  return 0;
}
