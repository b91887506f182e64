// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <utility>

#include "compatpack/io/digest.hpp"
#include "compatpack/io/source.hpp"

namespace compatpack::io {

/// Hashes what it passes on.
class HashingSink {
 public:
  /// `sink` must be callable as long as this lives.
  explicit HashingSink(Sink sink) : sink_(std::move(sink)), digest_(DigestAlgorithm::sha256) {}

  /// A sink that refers to this.
  Sink sink() {
    return [this](std::span<const std::byte> bytes) {
      digest_.update(bytes);
      size_.value += bytes.size();
      return sink_(bytes);
    };
  }

  [[nodiscard]] ByteCount size() const { return size_; }
  /// Requires: called once, and the sink not afterwards.
  [[nodiscard]] std::string sha256() { return digest_.finish(); }

 private:
  Sink sink_;
  Digest digest_;
  ByteCount size_;
};

}  // namespace compatpack::io
