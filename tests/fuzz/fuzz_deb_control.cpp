// SPDX-License-Identifier: Apache-2.0
// Any text: fields are unique and named, sums are sums, and paths stay inside.

#include <cstdint>
#include <cstdlib>
#include <set>
#include <string_view>

#include "compatpack/formats/deb_control.hpp"

using namespace compatpack;

namespace {

void require(bool holds) {
  if (!holds) {
    std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = as_text(std::as_bytes(std::span(data, size)));
  const auto control = formats::parse_deb_control(text);
  if (control) {
    require(!control->package.empty() && !control->version.empty());
    require(!control->architecture.empty());
    for (const auto& field : control->fields) {
      require(control->find(field.name) == &field);
      require(text.substr(field.at.value).starts_with(field.name));
    }
    static_cast<void>(control->upstream_version());
  } else {
    require(control.error().at && control.error().at->value <= size);
    static_cast<void>(render(control.error()));
  }
  const auto sums = formats::parse_md5sums(text);
  if (sums) {
    std::set<std::string> seen;
    for (const auto& sum : *sums) {
      require(sum.md5.size() == 32);
      require(RelPath::parse(sum.path.text()) && seen.insert(sum.path.text()).second);
    }
  } else {
    require(sums.error().at && sums.error().at->value <= size);
    static_cast<void>(render(sums.error()));
  }
  return 0;
}
