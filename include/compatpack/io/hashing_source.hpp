// SPDX-License-Identifier: Apache-2.0
#pragma once

// Hashes a file while somebody else reads it, in a thread of its own: MD5 and SHA-256 together cost
// about as much as zstd's decompression of the same bytes, and would double the time in one thread.
//
//   inner --> block --+--> reader, who copies out of it
//                     +--> BlockWorker --> ClaimChecker

#include <vector>

#include "compatpack/io/block_worker.hpp"
#include "compatpack/io/digest.hpp"
#include "compatpack/io/source.hpp"

namespace compatpack::io {

class HashingSource final : public Source {
 public:
  /// Hashes every byte that is read from `inner`, which must outlive this.
  HashingSource(Source& inner, std::vector<DigestClaim> claims);

  Result<std::size_t> read(std::span<std::byte> into) override;

  /// How many bytes read() has given so far.
  [[nodiscard]] ByteOffset position() const { return position_; }

  /// Reads `inner` to its end, so that all of it is hashed, and waits for the hasher. Requires:
  /// called once; read() is not called afterwards.
  Result<Done> finish();

  /// What was found. Requires: finish() succeeded.
  [[nodiscard]] const ClaimChecker& checker() const { return checker_; }

 private:
  Result<Done> next_block();

  Source& inner_;
  ClaimChecker checker_;
  Block block_;           // what is being read from
  std::size_t used_ = 0;  // of `block_`
  ByteOffset position_;
  BlockWorker hasher_;  // last: it uses checker_
};

}  // namespace compatpack::io
