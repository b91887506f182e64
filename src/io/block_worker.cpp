// SPDX-License-Identifier: Apache-2.0
#include "compatpack/io/block_worker.hpp"

#include <exception>
#include <utility>

namespace compatpack::io {
namespace {

// The worker may fall behind by 4 MiB, while the other thread waits for a disk, and by no more.
constexpr std::size_t kBlocksMax = 16;

}  // namespace

std::span<std::byte> BlockFiller::space() {
  if (!space_) {
    space_ = std::make_shared_for_overwrite<std::byte[]>(kBlockSize);  // NOLINT: as above
  }
  return {space_.get(), kBlockSize};
}

BlockWorker::BlockWorker(Sink work) : work_(std::move(work)), thread_([this] { run(); }) {}

BlockWorker::~BlockWorker() {
  {
    const std::lock_guard lock(mutex_);
    queue_.clear();
  }
  end();
}

void BlockWorker::end() {
  if (!thread_.joinable()) {
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void BlockWorker::run() {
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
    std::optional<Error> failure;
    try {
      if (auto done = work_(block.bytes()); !done) {
        failure = std::move(done).error();
      }
    } catch (const std::exception& fault) {
      failure = Error{.code = Errc::io, .what = "cannot go on", .found = fault.what()};
    }
    if (failure) {
      const std::lock_guard lock(mutex_);
      failure_ = std::move(failure);
      queue_.clear();
      changed_.notify_all();
      return;
    }
  }
}

Result<Done> BlockWorker::push(Block block) {
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return failure_ || queue_.size() < kBlocksMax; });
    if (failure_) {
      return *failure_;
    }
    queue_.push_back(std::move(block));
  }
  changed_.notify_all();
  return Done{};
}

Result<Done> BlockWorker::finish() {
  end();
  if (failure_) {
    return *failure_;
  }
  return Done{};
}

}  // namespace compatpack::io
