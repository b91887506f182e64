// SPDX-License-Identifier: Apache-2.0
#include "compatpack/io/hashing_source.hpp"

#include <algorithm>

namespace compatpack::io {

HashingSource::HashingSource(Source& inner, std::vector<DigestClaim> claims)
    : inner_(inner),
      checker_(std::move(claims)),
      hasher_([this](std::span<const std::byte> bytes) -> Result<Done> {
        checker_.update(bytes);
        return Done{};
      }) {}

Result<Done> HashingSource::next_block() {
  BlockFiller filler;
  CP_TRY(const std::size_t count, read_full(inner_, filler.space()));
  block_ = filler.take(count);
  used_ = 0;
  return count == 0 ? Result<Done>(Done{}) : hasher_.push(block_);
}

Result<std::size_t> HashingSource::read(std::span<std::byte> into) {
  if (used_ == block_.size) {
    CP_CHECK(next_block());
  }
  const std::size_t count = std::min(into.size(), block_.size - used_);
  std::copy_n(block_.bytes().begin() + static_cast<std::ptrdiff_t>(used_), count, into.begin());
  used_ += count;
  position_.value += count;
  return count;
}

Result<Done> HashingSource::finish() {
  do {
    CP_CHECK(next_block());
  } while (block_.size > 0);
  CP_CHECK(hasher_.finish());
  checker_.finish();
  return Done{};
}

}  // namespace compatpack::io
