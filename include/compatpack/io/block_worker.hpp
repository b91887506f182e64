// SPDX-License-Identifier: Apache-2.0
#pragma once

// A thread that does something with each block of a stream, in order, while the stream goes on:
// hashing what is read, writing what is decompressed.
//
//   push() --> queue, at most kBlocksMax blocks --> thread: work(block)

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <utility>

#include "compatpack/base/result.hpp"
#include "compatpack/io/source.hpp"

namespace compatpack::io {

/// Bytes that two threads read and none writes.
struct Block {
  std::shared_ptr<const std::byte[]> data = {};  // NOLINT(modernize-avoid-c-arrays): not zeroed
  std::size_t size = 0;

  [[nodiscard]] std::span<const std::byte> bytes() const { return {data.get(), size}; }
};

/// 256 KiB stay in the second-level cache between the thread that fills a block and the one that
/// works on it.
inline constexpr std::size_t kBlockSize = std::size_t{256} << 10U;

/// Space for the next block, which is made into one when it is filled.
class BlockFiller {
 public:
  /// kBlockSize bytes, whose content is not set.
  [[nodiscard]] std::span<std::byte> space();

  /// The first `size` bytes of the space as a block; the next space() is another.
  Block take(std::size_t size) { return {std::move(space_), size}; }

 private:
  std::shared_ptr<std::byte[]> space_;  // NOLINT(modernize-avoid-c-arrays): not zeroed
};

class BlockWorker {
 public:
  /// `work` is called in the worker's thread, and not again once it has failed. What it refers to
  /// must outlive the worker.
  explicit BlockWorker(Sink work);
  BlockWorker(const BlockWorker&) = delete;
  BlockWorker& operator=(const BlockWorker&) = delete;

  /// Waits for the work that goes on, and drops what is queued.
  ~BlockWorker();

  /// Queues a block; waits where the worker is too far behind. Error: that of `work` for an earlier
  /// block.
  Result<Done> push(Block block);

  /// Waits until all blocks are done. Error: that of `work`. Requires: nothing is pushed
  /// afterwards.
  Result<Done> finish();

 private:
  void run();
  void end();

  Sink work_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Block> queue_;       // guarded by mutex_, as the next two
  std::optional<Error> failure_;  // of the first block that failed
  bool ended_ = false;            // no block will follow
  std::thread thread_;            // last: it uses all of the above
};

}  // namespace compatpack::io
