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

Result<std::string> read_text(Source& source, ByteCount size, ByteCount max) {
  if (size > max) {
    return Error{.code = Errc::limit,
                 .what = "text is too large",
                 .expected = "at most " + std::to_string(max.value) + " bytes",
                 .found = std::to_string(size.value)};
  }
  std::string text(static_cast<std::size_t>(size.value), '\0');
  CP_TRY(const std::size_t count, read_full(source, std::as_writable_bytes(std::span(text))));
  text.resize(count);
  return text;
}

Result<ByteCount> pass_on(Source& source, const Sink& sink) {
  std::vector<std::byte> block(std::size_t{256} << 10U);
  ByteCount total;
  for (;;) {
    CP_TRY(const std::size_t count, source.read(block));
    if (count == 0) {
      return total;
    }
    CP_CHECK(sink(std::span(block).first(count)));
    total.value += count;
  }
}

Result<ByteCount> drain(Source& source) {
  return pass_on(source, [](std::span<const std::byte>) { return Result<Done>(Done{}); });
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
