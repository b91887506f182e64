// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "compatpack/io/digest.hpp"
#include "compatpack/io/file_source.hpp"
#include "compatpack/io/source.hpp"

namespace compatpack::io {

/// The bytes of some ranges of a file, one behind the other, each hashed as it goes by.
class RangesSource final : public Source {
 public:
  /// `file` and `observer`, if not null, must outlive the source. The ranges lie inside the file.
  RangesSource(const FileSource& file, std::vector<ByteRange> ranges, ReadObserver* observer);

  /// Errors: those of FileSource::read_at(); io where the file has become shorter.
  Result<std::size_t> read(std::span<std::byte> into) override;

  /// SHA-256 of each range. Requires: read() has given 0, or all bytes there are.
  [[nodiscard]] const std::vector<std::string>& sha256s() const { return sha256s_; }

  /// Whether all bytes have been read.
  [[nodiscard]] bool is_at_end() const { return sha256s_.size() == ranges_.size(); }

 private:
  void end_ranges();

  const FileSource& file_;
  std::vector<ByteRange> ranges_;
  ReadObserver* observer_;
  ByteCount total_;
  ByteCount so_far_;
  ByteCount in_range_;  ///< read of the range under way, which is number sha256s_.size()
  Digest digest_{DigestAlgorithm::sha256};
  std::vector<std::string> sha256s_;
};

}  // namespace compatpack::io
