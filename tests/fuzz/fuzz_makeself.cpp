// SPDX-License-Identifier: Apache-2.0
// Any bytes: the parser must return; what it returns must lie inside them, chunks one behind the
// other and behind the script, and claims on lines and digests of their form.

#include <cstdint>
#include <cstdlib>

#include "compatpack/formats/makeself.hpp"

using namespace compatpack;

namespace {

void require(bool holds) {
  if (!holds) {
    std::abort();
  }
}

bool is_inside(ByteRange range, std::size_t size) {
  return range.begin <= range.end && range.end.value <= size;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto head = std::as_bytes(std::span(data, size));
  const auto header = formats::parse_makeself_header(head, {size});
  if (!header) {
    require(header.error().at && header.error().at->value <= size);
    static_cast<void>(render(header.error()));
    return 0;
  }
  require(!header->chunks.empty());
  const ByteOffset payload = header->chunks.front().begin;
  require(payload.value > 0 && payload.value < size && head[payload.value - 1] == std::byte{'\n'});
  ByteOffset end = payload;
  for (const ByteRange& chunk : header->chunks) {
    require(chunk.begin == end && is_inside(chunk, size));
    end = chunk.end;
  }
  for (const DigestClaim& claim : header->claims) {
    require(is_inside(claim.covers, size) && !claim.digest.empty());
    require(claim.digest.find_first_not_of("0123456789abcdef") == std::string::npos);
  }
  if (header->family == formats::MakeselfFamily::nvidia) {
    require(header->chunks.size() == 1 && end.value == size);
    require(header->checksums_from_line >= 2);
  }
  if (header->embedded_program) {
    require(header->embedded_program->end == payload && is_inside(*header->embedded_program, size));
  }
  return 0;
}
