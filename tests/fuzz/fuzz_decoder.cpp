// SPDX-License-Identifier: Apache-2.0
// Any bytes: the decoder must return, read no more than there is, and give the same however it is
// read: byte by byte or in blocks. A bomb is left after a while.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "compatpack/formats/decoder.hpp"

using namespace compatpack;

namespace {

void require(bool holds) {
  if (!holds) {
    std::abort();
  }
}

struct Decoded {
  std::string bytes;
  std::string error;
  std::uint64_t trailing = 0;
};

Decoded decode(std::span<const std::byte> stream, std::size_t block) {
  constexpr std::size_t kOutputMax = std::size_t{1} << 20U;
  Decoded decoded;
  io::MemorySource source(stream);
  auto decoder = formats::open_decoder(source, {.jobs = 1, .memory_max = {64U << 20U}});
  if (!decoder) {
    decoded.error = render(decoder.error());
    return decoded;
  }
  require((*decoder)->compression() ==
          formats::sniff_compression(stream.first(std::min(stream.size(), formats::kSniffSize))));
  std::vector<std::byte> buffer(block);
  while (decoded.bytes.size() < kOutputMax) {
    const auto count = (*decoder)->read(buffer);
    if (!count) {
      decoded.error = render(count.error());
      const auto again = (*decoder)->read(buffer);
      require(!again && render(again.error()) == decoded.error);
      return decoded;
    }
    if (*count == 0) {
      decoded.trailing = (*decoder)->trailing().value;
      require(decoded.trailing <= stream.size());
      require(*(*decoder)->read(buffer) == 0);
      return decoded;
    }
    decoded.bytes += as_text(std::span(buffer).first(*count));
  }
  decoded.error = "more than the test reads";
  decoded.bytes.resize(kOutputMax);
  return decoded;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto stream = std::as_bytes(std::span(data, size));
  const Decoded whole = decode(stream, 65'536);
  const auto head = stream.first(std::min(size, formats::kSniffSize));
  // Unless it is refused: the beginning of a magic number is a stream cut short.
  if (whole.error.empty() && formats::sniff_compression(head) == formats::Compression::none) {
    require(whole.bytes == as_text(stream));
  }
  const Decoded parts = decode(stream, 61);
  require(whole.error.empty() == parts.error.empty());
  if (whole.error.empty()) {
    require(whole.bytes == parts.bytes && whole.trailing == parts.trailing);
  } else {
    // What a codec had produced before an error is lost, and blocks decide how much that is.
    const std::size_t both = std::min(whole.bytes.size(), parts.bytes.size());
    require(whole.bytes.compare(0, both, parts.bytes, 0, both) == 0);
  }
  return 0;
}
