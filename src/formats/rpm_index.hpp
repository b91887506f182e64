// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads one header structure of an .rpm: the bytes, entries and data that rpm.hpp draws. Knows what
// an entry is and nothing of what tags mean, but for the region.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compatpack/base/bytes.hpp"
#include "compatpack/base/result.hpp"

namespace compatpack::formats {

/// rpm's own limits on one header: entries, and bytes of data.
inline constexpr std::uint32_t kRpmTagsMax = 65'535;
inline constexpr std::uint32_t kRpmDataMax = (256U << 20U) - 1;

/// Which of the two headers it is; they differ in the tag of their region.
enum class RpmIndexKind { signature, header };

/// A header whose entries are proved to lie within its data, one behind the other, as rpm wants
/// them. Holds views: the bytes that it was parsed from must outlive it.
class RpmIndex {
 public:
  /// Parses the header at `at` of a file of `file_size` bytes, of which `head` are the first.
  ///
  /// Errors, with `at` set: corrupt for other bytes than a header's, a type, count, offset or
  /// region that rpm does not allow, and where the file ends too early; limit for more entries or
  /// data than rpm's limits, and for a header that does not end within `head`.
  static Result<RpmIndex> parse(std::span<const std::byte> head, ByteOffset at, ByteCount file_size,
                                RpmIndexKind kind);

  /// The header in the file, without padding behind it.
  [[nodiscard]] ByteRange range() const { return range_; }

  [[nodiscard]] bool has(std::uint32_t tag) const;

  /// Offset in the file of the entry of `tag`; of the header if there is none.
  [[nodiscard]] ByteOffset at(std::uint32_t tag) const;

  // The value of `tag`, or nullopt if there is none. Errors, with `at` set: corrupt if it is of
  // another type, or there twice.

  /// Strings and arrays of them; `text` gives the first.
  [[nodiscard]] Result<std::optional<std::string_view>> text(std::uint32_t tag) const;
  [[nodiscard]] Result<std::optional<std::vector<std::string_view>>> texts(std::uint32_t tag) const;

  /// Numbers of 8, 16, 32 or 64 bits; `number` gives the first.
  [[nodiscard]] Result<std::optional<std::uint64_t>> number(std::uint32_t tag) const;
  [[nodiscard]] Result<std::optional<std::vector<std::uint64_t>>> numbers(std::uint32_t tag) const;

  [[nodiscard]] Result<std::optional<std::span<const std::byte>>> binary(std::uint32_t tag) const;

 private:
  struct Entry {
    std::uint32_t tag;
    std::uint32_t type;
    std::span<const std::byte> value;
    std::uint32_t count;
    ByteOffset at;
  };

  RpmIndex() = default;
  Result<const Entry*> find(std::uint32_t tag) const;
  static Result<Entry> read_entry(std::span<const std::byte> bytes, ByteOffset at,
                                  std::span<const std::byte> data);
  static Result<std::size_t> read_region(std::span<const std::byte> entry, ByteOffset at,
                                         std::span<const std::byte> data, std::size_t entries,
                                         RpmIndexKind kind);

  ByteRange range_;
  std::vector<Entry> entries_;
};

}  // namespace compatpack::formats
