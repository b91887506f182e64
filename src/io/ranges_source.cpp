// SPDX-License-Identifier: Apache-2.0
#include "compatpack/io/ranges_source.hpp"

#include <algorithm>
#include <utility>

namespace compatpack::io {

RangesSource::RangesSource(const FileSource& file, std::vector<ByteRange> ranges,
                           ReadObserver* observer)
    : file_(file), ranges_(std::move(ranges)), observer_(observer) {
  for (const ByteRange& range : ranges_) {
    total_.value += range.size().value;
  }
  end_ranges();
}

/// Ends the range under way where it is read, and empty ones behind it.
void RangesSource::end_ranges() {
  while (!is_at_end() && in_range_ == ranges_[sha256s_.size()].size()) {
    sha256s_.push_back(digest_.finish());
    digest_ = Digest(DigestAlgorithm::sha256);
    in_range_ = {};
  }
}

Result<std::size_t> RangesSource::read(std::span<std::byte> into) {
  if (is_at_end()) {
    return std::size_t{0};
  }
  const ByteRange& range = ranges_[sha256s_.size()];
  const std::uint64_t left = range.size().value - in_range_.value;
  const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(into.size(), left));
  const ByteOffset at{range.begin.value + in_range_.value};
  CP_TRY(const std::size_t count, file_.read_at(at, into.first(wanted)));
  if (count == 0) {
    return Error{.code = Errc::io,
                 .what = "file has become shorter while it was read",
                 .at = at,
                 .hint = "wait until it is completely downloaded, then try again"};
  }
  digest_.update(into.first(count));
  in_range_.value += count;
  so_far_.value += count;
  end_ranges();
  if (observer_ != nullptr) {
    CP_CHECK(observer_->on_read(so_far_, total_));
  }
  return count;
}

}  // namespace compatpack::io
