// SPDX-License-Identifier: Apache-2.0
#include "support/rpm_file.hpp"

#include <algorithm>

#include "compatpack/base/bytes.hpp"
#include "compatpack/io/digest.hpp"

namespace compatpack::test {
namespace {

constexpr std::uint32_t kTypeInt16 = 3;
constexpr std::uint32_t kTypeInt32 = 4;
constexpr std::uint32_t kTypeInt64 = 5;
constexpr std::uint32_t kTypeString = 6;
constexpr std::uint32_t kTypeBinary = 7;
constexpr std::uint32_t kTypeStringArray = 8;

constexpr std::size_t kEntrySize = 16;
constexpr std::size_t kLeadSize = 96;

std::string big_endian(std::uint64_t value, std::size_t width) {
  std::string out(width, '\0');
  for (std::size_t i = width; i > 0; --i, value >>= 8U) {
    out[i - 1] = static_cast<char>(value & 0xFFU);
  }
  return out;
}

std::string entry_bytes(std::uint32_t tag, std::uint32_t type, std::uint64_t offset,
                        std::uint64_t count) {
  return big_endian(tag, 4) + big_endian(type, 4) + big_endian(offset, 4) + big_endian(count, 4);
}

void poke_field(std::string& entry, RpmField field, std::uint32_t value) {
  entry.replace(static_cast<std::size_t>(field) * 4, 4, big_endian(value, 4));
}

void pad(std::string& out, std::size_t alignment) {
  out.append((alignment - out.size() % alignment) % alignment, '\0');
}

std::uint64_t algorithm_id(DigestAlgorithm algorithm) {
  switch (algorithm) {
    case DigestAlgorithm::sha1:
      return 2;
    case DigestAlgorithm::sha256:
      return 8;
    case DigestAlgorithm::sha512:
      return 10;
    default:
      return 1;
  }
}

std::string raw_of(std::string_view hex) {
  std::string out;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    out += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  }
  return out;
}

}  // namespace

std::string digest_of(DigestAlgorithm algorithm, std::string_view bytes) {
  io::Digest digest(algorithm);
  digest.update(as_bytes(bytes));
  return digest.finish();
}

RpmTable& RpmTable::text(std::uint32_t tag, std::string_view value) {
  entries_[tag] = {kTypeString, 1, std::string(value) + '\0', 1};
  return *this;
}

RpmTable& RpmTable::texts(std::uint32_t tag, const std::vector<std::string>& values) {
  std::string all;
  for (const std::string& value : values) {
    all += value + '\0';
  }
  entries_[tag] = {kTypeStringArray, static_cast<std::uint32_t>(values.size()), all, 1};
  return *this;
}

RpmTable& RpmTable::numbers(std::uint32_t tag, std::uint32_t type, std::size_t width,
                            const std::vector<std::uint64_t>& values) {
  std::string all;
  for (const std::uint64_t value : values) {
    all += big_endian(value, width);
  }
  entries_[tag] = {type, static_cast<std::uint32_t>(values.size()), all, width};
  return *this;
}

RpmTable& RpmTable::int16s(std::uint32_t tag, const std::vector<std::uint64_t>& values) {
  return numbers(tag, kTypeInt16, 2, values);
}

RpmTable& RpmTable::int32s(std::uint32_t tag, const std::vector<std::uint64_t>& values) {
  return numbers(tag, kTypeInt32, 4, values);
}

RpmTable& RpmTable::int64s(std::uint32_t tag, const std::vector<std::uint64_t>& values) {
  return numbers(tag, kTypeInt64, 8, values);
}

RpmTable& RpmTable::binary(std::uint32_t tag, std::string_view value) {
  entries_[tag] = {kTypeBinary, static_cast<std::uint32_t>(value.size()), std::string(value), 1};
  return *this;
}

RpmTable& RpmTable::without(std::uint32_t tag) {
  removed_.insert(tag);
  return *this;
}

RpmTable& RpmTable::without_region() {
  region_tag_ = 0;
  return *this;
}

RpmTable& RpmTable::poke(std::uint32_t tag, RpmField field, std::uint32_t value) {
  pokes_.push_back({tag, field, value});
  return *this;
}

RpmTable& RpmTable::poke_trailer(RpmField field, std::uint32_t value) {
  trailer_pokes_.emplace_back(field, value);
  return *this;
}

RpmTable& RpmTable::with_magic(std::string magic) {
  magic_ = std::move(magic);
  return *this;
}

RpmTable& RpmTable::with_count(std::uint32_t count) {
  count_ = count;
  return *this;
}

RpmTable& RpmTable::with_data_size(std::uint32_t size) {
  data_size_ = size;
  return *this;
}

RpmTable RpmTable::over(const RpmTable& defaults) const {
  RpmTable both = *this;
  both.entries_.insert(defaults.entries_.begin(), defaults.entries_.end());
  return both;
}

std::string RpmTable::bytes() const {
  std::string index;
  std::string data;
  std::uint32_t count = region_tag_ == 0 ? 0 : 1;
  const auto poked = [this](std::uint32_t tag, std::string entry) {
    for (const Poke& poke : pokes_) {
      if (poke.tag == tag) {
        poke_field(entry, poke.field, poke.value);
      }
    }
    return entry;
  };
  for (const auto& [tag, entry] : entries_) {
    if (removed_.contains(tag)) {
      continue;
    }
    pad(data, entry.alignment);
    index += poked(tag, entry_bytes(tag, entry.type, data.size(), entry.count));
    data += entry.value;
    ++count;
  }
  if (region_tag_ != 0) {
    index.insert(
        0, poked(region_tag_, entry_bytes(region_tag_, kTypeBinary, data.size(), kEntrySize)));
    std::string trailer =
        entry_bytes(region_tag_, kTypeBinary, 0U - std::uint64_t{count} * kEntrySize, kEntrySize);
    for (const auto& [field, value] : trailer_pokes_) {
      poke_field(trailer, field, value);
    }
    data += trailer;
  }
  return magic_ + big_endian(count_.value_or(count), 4) +
         big_endian(data_size_.value_or(static_cast<std::uint32_t>(data.size())), 4) + index + data;
}

RpmFile& RpmFile::add(std::string path, std::string content, std::uint32_t mode) {
  members_.push_back({.path = std::move(path),
                      .content = std::move(content),
                      .mode = mode,
                      .inode = static_cast<std::uint32_t>(members_.size() + 1)});
  return *this;
}

RpmFile& RpmFile::file(std::string path, std::string content, std::uint32_t mode) {
  return add(std::move(path), std::move(content), mode);
}

RpmFile& RpmFile::folder(std::string path) { return add(std::move(path), "", 0040755); }

RpmFile& RpmFile::symlink(std::string path, std::string target) {
  return add(std::move(path), std::move(target), 0120777);
}

RpmFile& RpmFile::ghost(std::string path) {
  add(std::move(path), "", 0100644);
  members_.back().ghost = true;
  return *this;
}

RpmFile& RpmFile::hardlink(std::string path) {
  Member member = members_.back();
  member.path = std::move(path);
  members_.push_back(std::move(member));
  return *this;
}

RpmFile& RpmFile::with_file_digests(DigestAlgorithm algorithm) {
  file_digests_ = algorithm;
  return *this;
}

RpmFile& RpmFile::with_compression(formats::Compression compression) {
  compression_ = compression;
  return *this;
}

RpmFile& RpmFile::with_payload(const CpioFile& payload) {
  payload_ = payload.bytes();
  return *this;
}

RpmFile& RpmFile::with_lead_byte(std::size_t at, char value) {
  lead_.emplace_back(at, value);
  return *this;
}

RpmFile& RpmFile::with_trailing(std::string bytes) {
  trailing_ = std::move(bytes);
  return *this;
}

/// Of hard links, the last has.
bool RpmFile::has_content(std::size_t index) const {
  return std::none_of(
      members_.begin() + static_cast<std::ptrdiff_t>(index) + 1, members_.end(),
      [inode = members_[index].inode](const Member& later) { return later.inode == inode; });
}

std::string RpmFile::make_payload() const {
  const bool stripped = era_ == RpmEra::format6;
  CpioFile archive(stripped ? CpioForm::stripped : CpioForm::newc);
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const Member& member = members_[i];
    if (member.ghost) {
      continue;
    }
    const std::string content = has_content(i) ? member.content : "";
    if (stripped) {
      archive.indexed(static_cast<std::uint32_t>(i), content);
    } else {
      archive.member("." + member.path, content, member.mode);
    }
  }
  return archive.bytes();
}

void RpmFile::list_names(RpmTable& table) const {
  std::vector<std::string> paths;
  std::vector<std::string> names;
  std::vector<std::string> folders;
  std::vector<std::uint64_t> places;
  for (const Member& member : members_) {
    const std::size_t slash = member.path.rfind('/') + 1;
    const std::string folder = member.path.substr(0, slash);
    const auto known = std::find(folders.begin(), folders.end(), folder);
    places.push_back(static_cast<std::uint64_t>(known - folders.begin()));
    if (known == folders.end()) {
      folders.push_back(folder);
    }
    paths.push_back(member.path);
    names.push_back(member.path.substr(slash));
  }
  if (era_ == RpmEra::v3) {
    table.texts(1027, paths);
  } else {
    table.texts(1117, names).texts(1118, folders).int32s(1116, places);
  }
}

RpmTable RpmFile::default_header(const std::string& unpacked, const std::string& stored) const {
  RpmTable table(63);
  table.text(1000, "cuda-compat-12-4").text(1001, "550.54.15").text(1002, "1.el9");
  table.text(1021, "linux").text(1022, "x86_64").text(1124, "cpio");
  const bool sha256 = era_ != RpmEra::v3;
  if (sha256) {
    table.texts(5092, {digest_of(DigestAlgorithm::sha256, stored)}).int32s(5093, {8});
    table.texts(5097, {digest_of(DigestAlgorithm::sha256, unpacked)});
  }
  if (era_ == RpmEra::format6) {
    table.int64s(5112, {stored.size()}).text(5121, digest_of(DigestAlgorithm::sha512, stored));
  }
  if (members_.empty()) {
    return table;
  }
  list_names(table);
  const DigestAlgorithm algorithm = sha256 ? file_digests_ : DigestAlgorithm::md5;
  if (algorithm != DigestAlgorithm::md5) {
    table.int32s(5011, {algorithm_id(algorithm)});
  }
  std::vector<std::string> digests;
  std::vector<std::string> targets;
  std::vector<std::uint64_t> sizes;
  std::vector<std::uint64_t> modes;
  std::vector<std::uint64_t> flags;
  std::vector<std::uint64_t> inodes;
  for (const Member& member : members_) {
    const bool is_link = (member.mode & 0170000U) == 0120000U;
    const bool is_file = (member.mode & 0170000U) == 0100000U;
    digests.push_back(is_file && !member.ghost ? digest_of(algorithm, member.content) : "");
    targets.push_back(is_link ? member.content : "");
    sizes.push_back(member.content.size());
    modes.push_back(member.mode);
    flags.push_back(member.ghost ? 64 : 0);
    inodes.push_back(member.inode);
  }
  table.texts(1035, digests).texts(1036, targets).int16s(1030, modes).int32s(1037, flags);
  table.int32s(1096, inodes);
  table.int32s(1095, std::vector<std::uint64_t>(members_.size(), 1));
  return era_ == RpmEra::format6 ? table.int64s(5008, sizes) : table.int32s(1028, sizes);
}

RpmTable RpmFile::default_signature(const std::string& header, const std::string& stored) const {
  RpmTable table(62);
  if (era_ != RpmEra::format6) {
    table.int32s(1000, {header.size() + stored.size()});
    table.binary(1004, raw_of(digest_of(DigestAlgorithm::md5, header + stored)));
    table.text(269, digest_of(DigestAlgorithm::sha1, header));
  }
  if (era_ != RpmEra::v3) {
    table.text(273, digest_of(DigestAlgorithm::sha256, header));
  }
  return table;
}

std::string RpmFile::bytes() const {
  const std::string unpacked = payload_ ? *payload_ : make_payload();
  const std::string stored = compress(compression_, unpacked);
  RpmTable header_table = header_.over(default_header(unpacked, stored));
  if (era_ == RpmEra::v3) {
    header_table.without_region();
  }
  const std::string header = header_table.bytes();

  std::string out("\xed\xab\xee\xdb\x03\0\0\0\0\x01", 10);
  out.resize(kLeadSize, '\0');
  out[79] = 5;  // signature type: a header
  for (const auto& [at, value] : lead_) {
    out[at] = value;
  }
  RpmTable signature = signature_.over(default_signature(header, stored));
  if (era_ == RpmEra::v3) {
    signature.without_region();
  }
  out += signature.bytes();
  pad(out, 8);
  return out + header + stored + trailing_;
}

}  // namespace compatpack::test
