// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "compatpack/io/digest.hpp"
#include "compatpack/io/source.hpp"

namespace compatpack::io {

/// Hashes what is read from another source, which must outlive this, on the thread that reads.
class DigestingSource final : public Source {
 public:
  DigestingSource(Source& inner, DigestAlgorithm algorithm) : inner_(inner), digest_(algorithm) {}

  Result<std::size_t> read(std::span<std::byte> into) override;

  /// The digest of all bytes read. Requires: called once, and read() not afterwards.
  [[nodiscard]] std::string finish() { return digest_.finish(); }

 private:
  Source& inner_;
  Digest digest_;
};

}  // namespace compatpack::io
