// SPDX-License-Identifier: Apache-2.0
#include "compatpack/io/hashing_source.hpp"

#include <algorithm>

namespace compatpack::io {
namespace {

// 256 KiB keeps a block in the second-level cache between reader and hasher. Sixteen of them let
// the hasher fall behind by 4 MiB while the decoder waits for the disk, and no more.
constexpr std::size_t kBlockSize = 256U << 10U;
constexpr std::size_t kQueueMax = 16;

}  // namespace

HashingSource::HashingSource(Source& inner, std::vector<DigestClaim> claims)
    : inner_(inner), checker_(std::move(claims)), hasher_([this] { hash_blocks(); }) {}

HashingSource::~HashingSource() { end_hasher(); }

void HashingSource::end_hasher() {
  if (!hasher_.joinable()) {
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  changed_.notify_all();
  hasher_.join();
}

void HashingSource::hash_blocks() {
  for (;;) {
    Block block;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return ended_ || !queue_.empty(); });
      if (queue_.empty()) {
        return;
      }
      block = std::move(queue_.front());
      queue_.pop_front();
    }
    changed_.notify_all();
    checker_.update(*block);
  }
}

Result<Done> HashingSource::next_block() {
  auto block = std::make_shared<std::vector<std::byte>>(kBlockSize);
  CP_TRY(const std::size_t count, read_full(inner_, *block));
  block->resize(count);
  block_ = std::move(block);
  used_ = 0;
  if (count > 0) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return queue_.size() < kQueueMax; });
    queue_.push_back(block_);
    lock.unlock();
    changed_.notify_all();
  }
  return Done{};
}

Result<std::size_t> HashingSource::read(std::span<std::byte> into) {
  if (!block_ || used_ == block_->size()) {
    CP_CHECK(next_block());
  }
  const std::size_t count = std::min(into.size(), block_->size() - used_);
  std::copy_n(block_->begin() + static_cast<std::ptrdiff_t>(used_), count, into.begin());
  used_ += count;
  position_.value += count;
  return count;
}

Result<Done> HashingSource::finish() {
  do {
    CP_CHECK(next_block());
  } while (!block_->empty());
  end_hasher();
  checker_.finish();
  return Done{};
}

}  // namespace compatpack::io
