// SPDX-License-Identifier: Apache-2.0
// Any bytes as an .rpm: ranges must lie in the file, claims be of their algorithm's form, paths
// unique and inside, and hard links lead to a file of the same size.

#include <cstdint>
#include <cstdlib>
#include <set>

#include "compatpack/formats/rpm.hpp"

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
  const auto header = formats::parse_rpm_header(file, {size});
  if (!header) {
    require(header.error().at && header.error().at->value <= size);
    static_cast<void>(render(header.error()));
    return 0;
  }
  require(!header->name.empty() && !header->version.empty() && !header->release.empty());
  require(header->header.begin < header->header.end);
  require(header->header.end == header->payload.begin);
  require(header->payload.begin <= header->payload.end && header->payload.end.value == size);
  for (const DigestClaim& claim : header->claims) {
    require(claim.covers.begin <= claim.covers.end && claim.covers.end.value <= size);
    require(claim.digest.size() == hex_digits(claim.algorithm));
  }
  for (const auto& signature : header->signatures) {
    require(!signature.unfit.empty() || (!signature.bytes.empty() && signature.covers.size() == 1));
    for (const ByteRange& covers : signature.covers) {
      require(covers.begin == header->header.begin && covers.end.value <= size);
    }
  }
  std::set<std::string> seen;
  for (const formats::RpmFile& one : header->files) {
    require(RelPath::parse(one.path.text()) || one.path.text() == ".");
    require(seen.insert(one.path.text()).second);
    require(one.type != formats::EntryType::hardlink && one.mode_bits <= 07777);
    require(!one.digest || one.digest->digest.size() == hex_digits(one.digest->algorithm));
    if (one.last_link) {
      const formats::RpmFile& last = header->files.at(*one.last_link);
      require(last.last_link == one.last_link && last.size == one.size);
    }
  }
  return 0;
}
