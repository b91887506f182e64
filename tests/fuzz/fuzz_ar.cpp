// SPDX-License-Identifier: Apache-2.0
// Any bytes as a .deb: its parts must lie in the file, in order, without overlap.

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "compatpack/formats/ar.hpp"

using namespace compatpack;

namespace {

void require(bool holds) {
  if (!holds) {
    std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto file = std::as_bytes(std::span(data, size));
  const formats::ReadAt read_at = [file](ByteOffset at,
                                         std::span<std::byte> into) -> Result<std::size_t> {
    require(at.value <= file.size() && !into.empty());
    const auto rest = file.subspan(at.value);
    const std::size_t count = std::min(rest.size(), into.size());
    std::copy_n(rest.begin(), count, into.begin());
    return count;
  };
  const auto layout = formats::plan_deb({size}, read_at);
  if (!layout) {
    require(layout.error().at && layout.error().at->value <= size);
    static_cast<void>(render(layout.error()));
    return 0;
  }
  require(layout->format.starts_with("2.") || layout->format.starts_with('0'));
  require(layout->control.name.starts_with("control.tar"));
  require(layout->data.name.starts_with("data.tar"));
  require(layout->control.content.begin <= layout->control.content.end);
  require(layout->control.content.end <= layout->data.content.begin);
  require(layout->data.content.begin <= layout->data.content.end);
  require(layout->data.content.end.value <= size);
  require(layout->others.size() <= formats::kArMembersMax);
  for (const auto& other : layout->others) {
    require(other.content.begin <= other.content.end && other.content.end.value <= size);
    require(!other.name.empty());
  }
  for (const auto& signature : layout->signatures) {
    require(signature.bytes.size() <= formats::kSignatureMax && signature.covers.size() == 3);
    require(!signature.bytes.empty() || !signature.unfit.empty());
    require(signature.covers[0].end <= layout->control.content.begin);
  }
  return 0;
}
