// SPDX-License-Identifier: Apache-2.0
#include "rpm_index.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace compatpack::formats {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kMagic = "\x8e\xad\xe8\x01\0\0\0\0"sv;  // and what is reserved
constexpr std::size_t kIntroSize = 16;  // magic, number of entries, size of the data
constexpr std::size_t kEntrySize = 16;

constexpr std::uint32_t kTypeString = 6;
constexpr std::uint32_t kTypeBinary = 7;
constexpr std::uint32_t kTypeStringArray = 8;
constexpr std::uint32_t kTypeI18nString = 9;

// Bytes of one element by type: char, int8, int16, int32, int64, string, binary, two of strings.
constexpr std::array<std::size_t, 10> kElementSize{0, 1, 1, 2, 4, 8, 0, 1, 0, 0};

// What is below is rpm's own affair: regions. rpm takes tags for signed numbers.
constexpr std::uint32_t kTagMin = 100;
constexpr std::uint32_t kTagMax = 0x7FFF'FFFF;

constexpr std::uint32_t kTagImage = 61;  // in the trailer of signatures by rpm 4.0
constexpr std::uint32_t kTagSignatures = 62;
constexpr std::uint32_t kTagImmutable = 63;

std::uint64_t big_endian(std::span<const std::byte> bytes) {
  std::uint64_t value = 0;
  for (const std::byte byte : bytes) {
    value = value << 8U | std::to_integer<std::uint64_t>(byte);
  }
  return value;
}

/// The number of 32 bits at `at`. Requires: it lies inside.
std::uint32_t word(std::span<const std::byte> bytes, std::size_t at) {
  return static_cast<std::uint32_t>(big_endian(bytes.subspan(at, 4)));
}

bool is_string(std::uint32_t type) {
  return type == kTypeString || type == kTypeStringArray || type == kTypeI18nString;
}

bool is_number(std::uint32_t type) { return type >= 1 && type <= 5; }

Error corrupt_index(std::string what, ByteOffset at, std::string expected, std::string found) {
  return Error{.code = Errc::corrupt,
               .what = std::move(what),
               .at = at,
               .expected = std::move(expected),
               .found = std::move(found)};
}

Error cut_short(ByteOffset at, std::string expected) {
  Error error =
      corrupt_index("package ends within its headers", at, std::move(expected), "end of file");
  error.hint = "the download is incomplete; fetch it again";
  return error;
}

Error too_large(std::string what, ByteOffset at, std::uint64_t most, std::uint64_t found) {
  return Error{.code = Errc::limit,
               .what = std::move(what),
               .at = at,
               .expected = "at most " + std::to_string(most),
               .found = std::to_string(found)};
}

/// Size of `count` strings at the front of `data`, with their NULs; nullopt if they do not end in
/// it.
std::optional<std::size_t> strings_size(std::span<const std::byte> data, std::uint32_t count) {
  const std::string_view text = as_text(data);
  std::size_t size = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::size_t end = text.find('\0', size);
    if (end == std::string_view::npos) {
      return std::nullopt;
    }
    size = end + 1;
  }
  return size;
}

}  // namespace

/// An entry, its value cut out of `data`. Requires: `bytes` are kEntrySize.
Result<RpmIndex::Entry> RpmIndex::read_entry(std::span<const std::byte> bytes, ByteOffset at,
                                             std::span<const std::byte> data) {
  const std::uint32_t tag = word(bytes, 0);
  const std::uint32_t type = word(bytes, 4);
  const std::uint32_t offset = word(bytes, 8);
  const std::uint32_t count = word(bytes, 12);
  const auto bad = [&](std::string expected, std::uint32_t found) {
    return corrupt_index("package header has a malformed entry", at,
                         "tag " + std::to_string(tag) + " with " + std::move(expected),
                         std::to_string(found));
  };
  if (tag < kTagMin || tag > kTagMax) {
    return bad("a number of " + std::to_string(kTagMin) + " and more", tag);
  }
  if (type == 0 || type >= kElementSize.size()) {
    return bad("a type from 1 to 9", type);
  }
  if (count == 0 || (type == kTypeString && count != 1) || count > kRpmDataMax) {
    return bad(type == kTypeString ? "one value" : "a number of values", count);
  }
  const std::size_t element = kElementSize.at(type);
  if (element > 1 && offset % element != 0) {
    return bad("an offset that is a multiple of " + std::to_string(element), offset);
  }
  if (offset > data.size()) {
    return bad("an offset of at most " + std::to_string(data.size()), offset);
  }
  const auto rest = data.subspan(offset);
  // At most 2^28 times 8: no overflow.
  const auto size =
      is_string(type) ? strings_size(rest, count) : std::optional(std::size_t{count} * element);
  if (!size || *size > rest.size()) {
    return bad("values that end within the header's data", count);
  }
  return Entry{tag, type, rest.first(*size), count, at};
}

/// Checks the region that `entry` opens, and returns where its trailer begins: no value reaches
/// there.
Result<std::size_t> RpmIndex::read_region(std::span<const std::byte> entry, ByteOffset at,
                                          std::span<const std::byte> data, std::size_t entries,
                                          RpmIndexKind kind) {
  const std::uint32_t tag = word(entry, 0);
  const std::uint32_t offset = word(entry, 8);
  const auto bad = [at](std::string expected, std::uint64_t found) {
    return corrupt_index("package header has a malformed region", at, std::move(expected),
                         std::to_string(found));
  };
  if (word(entry, 4) != kTypeBinary || word(entry, 12) != kEntrySize) {
    return bad("16 bytes of binary data", word(entry, 12));
  }
  if (data.size() < kEntrySize || offset > data.size() - kEntrySize) {
    return bad("a trailer within the header's data", offset);
  }
  const auto trailer = data.subspan(offset, kEntrySize);
  const std::uint32_t closing = word(trailer, 0);
  const bool same_tag = closing == tag || (kind == RpmIndexKind::signature && closing == kTagImage);
  if (!same_tag || word(trailer, 4) != kTypeBinary || word(trailer, 12) != kEntrySize) {
    return bad("a trailer of tag " + std::to_string(tag), closing);
  }
  // The trailer's offset is negative: minus the size of the region's entries.
  const std::uint32_t covered = 0U - word(trailer, 8);
  const bool in_index =
      covered % kEntrySize == 0 && covered / kEntrySize >= 1 && covered / kEntrySize <= entries;
  if (!in_index) {
    return bad("a trailer for at most " + std::to_string(entries) + " entries",
               covered / kEntrySize);
  }
  // What stands behind the region of a package's header is not the packer's.
  const bool whole = covered / kEntrySize == entries && offset + kEntrySize == data.size();
  if (!whole && kind == RpmIndexKind::header) {
    return bad("a region of all " + std::to_string(entries) + " entries", covered / kEntrySize);
  }
  return whole ? std::size_t{offset} : data.size();
}

Result<RpmIndex> RpmIndex::parse(std::span<const std::byte> head, ByteOffset at,
                                 ByteCount file_size, RpmIndexKind kind) {
  const bool all_seen = head.size() >= file_size.value;
  const auto beyond = [&](const std::string& expected) {
    return all_seen ? cut_short({head.size()}, expected)
                    : too_large("package headers are too large", at, head.size(), file_size.value);
  };
  if (at.value > head.size() || head.size() - at.value < kIntroSize) {
    return beyond("a header of 16 bytes and more at byte " + std::to_string(at.value));
  }
  const auto bytes = head.subspan(static_cast<std::size_t>(at.value));
  if (!as_text(bytes).starts_with(kMagic)) {
    return corrupt_index("package has no header where one must be", at, "8e ad e8 01 00 00 00 00",
                         std::string(as_text(bytes).substr(0, kMagic.size())));
  }
  const std::uint32_t count = word(bytes, 8);
  const std::uint32_t data_size = word(bytes, 12);
  if (count > kRpmTagsMax) {
    return too_large("package header has too many entries", {at.value + 8}, kRpmTagsMax, count);
  }
  if (data_size > kRpmDataMax) {
    return too_large("package header has too much data", {at.value + 12}, kRpmDataMax, data_size);
  }
  const std::size_t index_size = std::size_t{count} * kEntrySize;
  const std::size_t size = kIntroSize + index_size + data_size;
  if (size > file_size.value - at.value) {
    return cut_short({file_size.value}, "a header of " + std::to_string(size) + " bytes at byte " +
                                            std::to_string(at.value));
  }
  if (size > bytes.size()) {
    return beyond("");
  }
  auto data = bytes.subspan(kIntroSize + index_size, data_size);

  RpmIndex index;
  index.range_ = {at, {at.value + size}};
  const std::uint32_t region = kind == RpmIndexKind::header ? kTagImmutable : kTagSignatures;
  std::size_t used = 0;  // of the data: values follow each other in the order of their entries
  for (std::size_t i = 0; i < count; ++i) {
    const auto raw = bytes.subspan(kIntroSize + i * kEntrySize, kEntrySize);
    const ByteOffset entry_at{at.value + kIntroSize + i * kEntrySize};
    if (i == 0 && word(raw, 0) == region) {
      CP_TRY(const std::size_t end, read_region(raw, entry_at, data, count, kind));
      data = data.first(end);
      continue;
    }
    CP_TRY(const Entry entry, read_entry(raw, entry_at, data));
    const auto begin = static_cast<std::size_t>(entry.value.data() - data.data());
    if (begin < used) {
      return corrupt_index("package header has overlapping entries", entry_at,
                           "data from " + std::to_string(used) + " on", std::to_string(begin));
    }
    used = begin + entry.value.size();
    index.entries_.push_back(entry);
  }
  return index;
}

bool RpmIndex::has(std::uint32_t tag) const {
  return std::any_of(entries_.begin(), entries_.end(),
                     [tag](const Entry& entry) { return entry.tag == tag; });
}

ByteOffset RpmIndex::at(std::uint32_t tag) const {
  const auto it = std::find_if(entries_.begin(), entries_.end(),
                               [tag](const Entry& entry) { return entry.tag == tag; });
  return it == entries_.end() ? range_.begin : it->at;
}

Result<const RpmIndex::Entry*> RpmIndex::find(std::uint32_t tag) const {
  const Entry* found = nullptr;
  for (const Entry& entry : entries_) {
    if (entry.tag != tag) {
      continue;
    }
    if (found != nullptr) {
      return corrupt_index("package header has an entry twice", entry.at, "one of each tag",
                           std::to_string(tag));
    }
    found = &entry;
  }
  return found;
}

namespace {

Error wrong_type(std::uint32_t tag, ByteOffset at, std::string expected, std::uint32_t type) {
  return corrupt_index("package header has an entry of another type", at,
                       "tag " + std::to_string(tag) + " with " + std::move(expected),
                       "type " + std::to_string(type));
}

/// The first of `all`, which are never empty.
template <class T>
std::optional<T> first_of(const std::optional<std::vector<T>>& all) {
  return all ? std::optional(all->front()) : std::nullopt;
}

}  // namespace

Result<std::optional<std::vector<std::string_view>>> RpmIndex::texts(std::uint32_t tag) const {
  using Texts = std::optional<std::vector<std::string_view>>;
  CP_TRY(const Entry* const entry, find(tag));
  if (entry == nullptr) {
    return Texts();
  }
  if (!is_string(entry->type)) {
    return wrong_type(tag, entry->at, "text", entry->type);
  }
  std::vector<std::string_view> all;
  for (std::string_view rest = as_text(entry->value); !rest.empty();) {
    const std::size_t end = rest.find('\0');
    all.push_back(rest.substr(0, end));
    rest.remove_prefix(end + 1);
  }
  return Texts(std::move(all));
}

Result<std::optional<std::string_view>> RpmIndex::text(std::uint32_t tag) const {
  CP_TRY(const auto all, texts(tag));
  return first_of(all);
}

Result<std::optional<std::vector<std::uint64_t>>> RpmIndex::numbers(std::uint32_t tag) const {
  using Numbers = std::optional<std::vector<std::uint64_t>>;
  CP_TRY(const Entry* const entry, find(tag));
  if (entry == nullptr) {
    return Numbers();
  }
  if (!is_number(entry->type)) {
    return wrong_type(tag, entry->at, "numbers", entry->type);
  }
  const std::size_t element = kElementSize.at(entry->type);
  std::vector<std::uint64_t> all;
  all.reserve(entry->count);
  for (std::size_t i = 0; i < entry->count; ++i) {
    all.push_back(big_endian(entry->value.subspan(i * element, element)));
  }
  return Numbers(std::move(all));
}

Result<std::optional<std::uint64_t>> RpmIndex::number(std::uint32_t tag) const {
  CP_TRY(const auto all, numbers(tag));
  return first_of(all);
}

Result<std::optional<std::span<const std::byte>>> RpmIndex::binary(std::uint32_t tag) const {
  CP_TRY(const Entry* const entry, find(tag));
  if (entry == nullptr) {
    return std::optional<std::span<const std::byte>>();
  }
  if (entry->type != kTypeBinary) {
    return wrong_type(tag, entry->at, "binary data", entry->type);
  }
  return std::optional(entry->value);
}

}  // namespace compatpack::formats
