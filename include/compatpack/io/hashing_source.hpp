// SPDX-License-Identifier: Apache-2.0
#pragma once

// Hashes a file while somebody else reads it, in a thread of its own: MD5 and SHA-256 together cost
// about as much as zstd's decompression of the same bytes, and would double the time in one thread.
//
//   inner --> block --+--> reader (copies out of it)
//                     +--> queue, at most kQueueMax blocks --> hasher --> ClaimChecker

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "compatpack/io/digest.hpp"
#include "compatpack/io/source.hpp"

namespace compatpack::io {

class HashingSource final : public Source {
 public:
  /// Hashes every byte that is read from `inner`, which must outlive this.
  HashingSource(Source& inner, std::vector<DigestClaim> claims);
  ~HashingSource() override;

  Result<std::size_t> read(std::span<std::byte> into) override;

  /// How many bytes read() has given so far.
  [[nodiscard]] ByteOffset position() const { return position_; }

  /// Reads `inner` to its end, so that all of it is hashed, and waits for the hasher. Requires:
  /// called once; read() is not called afterwards.
  Result<Done> finish();

  /// What was found. Requires: finish() succeeded.
  [[nodiscard]] const ClaimChecker& checker() const { return checker_; }

 private:
  using Block = std::shared_ptr<const std::vector<std::byte>>;
  Result<Done> next_block();
  void hash_blocks();
  void end_hasher();

  Source& inner_;
  ClaimChecker checker_;
  Block block_;           // the reader's
  std::size_t used_ = 0;  // of `block_`
  ByteOffset position_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Block> queue_;  // guarded by mutex_
  bool ended_ = false;       // guarded by mutex_: no block will follow
  std::thread hasher_;       // last: it uses all of the above
};

}  // namespace compatpack::io
