// SPDX-License-Identifier: Apache-2.0
#include "compatpack/io/source.hpp"

#include <algorithm>
#include <vector>

namespace compatpack::io {

Result<std::size_t> read_full(Source& source, std::span<std::byte> into) {
  std::size_t filled = 0;
  while (filled < into.size()) {
    CP_TRY(const std::size_t count, source.read(into.subspan(filled)));
    if (count == 0) {
      break;
    }
    filled += count;
  }
  return filled;
}

Result<ByteCount> drain(Source& source) {
  std::vector<std::byte> block(std::size_t{128} << 10U);
  ByteCount total;
  for (;;) {
    CP_TRY(const std::size_t count, source.read(block));
    if (count == 0) {
      return total;
    }
    total.value += count;
  }
}

Result<std::size_t> MemorySource::read(std::span<std::byte> into) {
  const std::size_t count = std::min(into.size(), rest_.size());
  std::copy_n(rest_.begin(), count, into.begin());
  rest_ = rest_.subspan(count);
  return count;
}

Result<std::size_t> LimitedSource::read(std::span<std::byte> into) {
  const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(into.size(), left_.value));
  if (wanted == 0) {
    return std::size_t{0};
  }
  CP_TRY(const std::size_t count, inner_.read(into.first(wanted)));
  left_.value -= count;
  return count;
}

}  // namespace compatpack::io
