// SPDX-License-Identifier: Apache-2.0
#include "compatpack/formats/cpio.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compatpack/base/text.hpp"

namespace compatpack::formats {
namespace {

constexpr std::string_view kNewc = "070701";
constexpr std::string_view kCrc = "070702";
constexpr std::string_view kStripped = "07070X";
constexpr std::string_view kOldAscii = "070707";
constexpr std::string_view kTrailer = "TRAILER!!!";

constexpr std::size_t kMagicSize = 6;
constexpr std::size_t kFieldSize = 8;
constexpr std::size_t kFields = 13;
constexpr std::uint64_t kAlignment = 4;

// Among the fields of newc: inode, mode, uid, gid, nlink, mtime, filesize, four of devices,
// namesize, check.
constexpr std::size_t kModeField = 1;
constexpr std::size_t kFileSizeField = 6;
constexpr std::size_t kNameSizeField = 11;
constexpr std::size_t kCheckField = 12;

// Linux's PATH_MAX, with "./" before and a NUL behind.
constexpr std::uint64_t kNameMax = 4'096 + 3;

constexpr std::size_t kBlockSize = 16U << 10U;

/// The number in eight hexadecimal digits; nullopt for anything else.
std::optional<std::uint32_t> parse_field(std::string_view text) {
  const auto hex = parse_hex(text, kFieldSize);
  if (!hex) {
    return std::nullopt;
  }
  std::uint32_t value = 0;
  for (const char c : *hex) {
    value = value << 4U | static_cast<std::uint32_t>(c <= '9' ? c - '0' : c - 'a' + 10);
  }
  return value;
}

/// As rpm does: "./usr/x" of its own archives, "usr/x" and "/usr/x" of older ones.
std::string_view without_root(std::string_view name) {
  if (name.starts_with('.') && name.find('/') == 1) {
    name.remove_prefix(1);
  }
  if (name.starts_with('/')) {
    name.remove_prefix(1);
  }
  return name.empty() ? std::string_view(".") : name;
}

}  // namespace

class CpioReader::State {
 public:
  State(io::Source& source, std::span<const RpmFile> files, const Limits& limits, Spent* spent)
      : source_(source),
        files_(files),
        limits_(limits),
        spent_(spent == nullptr ? own_ : *spent),
        found_(files.size(), false) {
    for (std::size_t i = 0; i < files.size(); ++i) {
      places_.emplace(files[i].path.text(), i);
    }
  }

  Result<std::optional<Entry>> next() {
    if (failure_) {
      return *failure_;
    }
    auto entry = advance();
    if (!entry) {
      failure_ = entry.error();
    }
    return entry;
  }

  Result<std::size_t> read(std::span<std::byte> into) {
    if (failure_) {
      return *failure_;
    }
    auto count = read_content(into);
    if (!count) {
      failure_ = count.error();
    }
    return count;
  }

 private:
  /// A member as its own header has it; of the stripped form, as the list has it.
  struct Header {
    std::size_t index = 0;
    std::uint64_t size = 0;
    std::optional<std::uint32_t> sum = {};  // of 070702
    bool is_trailer = false;
  };

  Result<std::optional<Entry>> advance() {
    CP_CHECK(skip_content());
    while (!ended_) {
      if (auto link = take_link()) {
        return std::optional(std::move(*link));
      }
      header_at_ = position_;
      CP_TRY(const Header header, read_header());
      if (header.is_trailer) {
        CP_CHECK(finish());
        ended_ = true;
        break;
      }
      CP_TRY(auto entry, admit(header));
      if (entry) {
        return entry;
      }
    }
    return std::optional<Entry>();
  }

  /// The next of the names whose content has come, as a hard link to it.
  std::optional<Entry> take_link() {
    if (links_.empty()) {
      return std::nullopt;
    }
    const auto [name, target] = links_.front();
    links_.pop_front();
    return Entry{.path = files_[name].path.text(),
                 .type = EntryType::hardlink,
                 .size = {},
                 .mode_bits = files_[name].mode_bits,
                 .link_target = files_[target].path.text()};
  }

  Result<Header> read_header() {
    std::string magic(kMagicSize, '\0');
    CP_CHECK(read_exactly(magic));
    if (magic == kStripped) {
      return read_stripped();
    }
    if (magic == kNewc || magic == kCrc) {
      return read_newc(magic == kCrc);
    }
    const bool old = magic == kOldAscii;
    return refused(old ? Errc::unsupported : Errc::corrupt,
                   old ? "cpio archive of a form that is not read" : "cpio archive is damaged",
                   "070701, 070702 or 07070X", magic);
  }

  Result<Header> read_stripped() {
    std::string field(kFieldSize, '\0');
    CP_CHECK(read_exactly(field));
    CP_CHECK(skip_padding());
    const auto index = parse_field(field);
    if (!index || *index >= files_.size()) {
      return refused(Errc::corrupt, "payload holds a file that the header does not list",
                     "an index below " + std::to_string(files_.size()), field);
    }
    const RpmFile& file = files_[*index];
    Header header{.index = *index};
    const bool has_content =
        file.type == EntryType::symlink ||
        (file.type == EntryType::file && file.last_link.value_or(*index) == *index);
    header.size = has_content ? file.size.value : 0;
    return header;
  }

  Result<Header> read_newc(bool has_sum) {
    std::string text(kFields * kFieldSize, '\0');
    CP_CHECK(read_exactly(text));
    std::array<std::uint32_t, kFields> fields{};
    for (std::size_t i = 0; i < kFields; ++i) {
      const auto value = parse_field(std::string_view(text).substr(i * kFieldSize, kFieldSize));
      if (!value) {
        return refused(Errc::corrupt, "cpio archive has a malformed number", "8 hexadecimal digits",
                       text.substr(i * kFieldSize, kFieldSize));
      }
      fields.at(i) = *value;
    }
    CP_TRY(const std::string name, read_name(fields[kNameSizeField]));
    if (name == kTrailer) {
      if (fields[kFileSizeField] != 0) {
        return refused(Errc::corrupt, "cpio archive has a trailer with content", "0 bytes",
                       std::to_string(fields[kFileSizeField]));
      }
      return Header{.is_trailer = true};
    }
    const auto place = places_.find(without_root(name));
    if (place == places_.end()) {
      return refused(Errc::corrupt, "payload holds a file that the header does not list",
                     "only files that it lists", name);
    }
    if (type_of_mode(fields[kModeField]) != files_[place->second].type) {
      return refused(Errc::corrupt, "payload holds a file of another type than the header lists",
                     "the type that the header lists", name);
    }
    Header header{.index = place->second, .size = fields[kFileSizeField]};
    if (has_sum) {
      header.sum = fields[kCheckField];
    }
    return header;
  }

  /// A name of `size` bytes with its NUL, and the padding behind it.
  Result<std::string> read_name(std::uint32_t size) {
    if (size < 2 || size > kNameMax) {
      return refused(Errc::corrupt, "cpio archive has a malformed name",
                     "1 to " + std::to_string(kNameMax - 1) + " bytes and a NUL",
                     std::to_string(size) + " bytes");
    }
    std::string name(size, '\0');
    CP_CHECK(read_exactly(name));
    CP_CHECK(skip_padding());
    const std::size_t end = name.find('\0');
    if (end != name.size() - 1) {
      return refused(Errc::corrupt, "cpio archive has a malformed name", "one NUL, at its end",
                     name);
    }
    name.pop_back();
    return name;
  }

  /// The entry that a member is, or nullopt for a hard link whose content is still to come.
  Result<std::optional<Entry>> admit(const Header& header) {
    const RpmFile& file = files_[header.index];
    const std::string& path = file.path.text();
    if (found_[header.index]) {
      return refused(Errc::corrupt, "payload holds a file twice", "each file once", path);
    }
    found_[header.index] = true;
    const bool waits = file.last_link && header.size == 0 && file.size.value != 0;
    const bool has_size = file.type == EntryType::file || file.type == EntryType::symlink;
    const std::uint64_t listed = has_size && !waits ? file.size.value : 0;
    if (header.size != listed) {
      return refused(Errc::corrupt, "payload holds a file of another size than the header lists",
                     std::to_string(listed) + " bytes",
                     path + ", " + std::to_string(header.size) + " bytes");
    }
    if (++spent_.members > limits_.members) {
      return refused(Errc::limit, "archive has too many members",
                     "at most " + std::to_string(limits_.members), path);
    }
    Entry entry{.path = path, .type = file.type, .size = {}, .mode_bits = file.mode_bits};
    if (file.type == EntryType::symlink) {
      CP_TRY(entry.link_target, read_link_target(file));
      return std::optional(std::move(entry));
    }
    if (file.last_link) {
      if (const auto known = carriers_.find(*file.last_link);
          header.size == 0 && known != carriers_.end()) {
        entry.type = EntryType::hardlink;
        entry.link_target = files_[known->second].path.text();
        return std::optional(std::move(entry));
      }
      if (waits) {
        waiting_[*file.last_link].push_back(header.index);
        return std::optional<Entry>();
      }
      begin_set(*file.last_link, header.index);
    }
    CP_CHECK(begin_content(header, path));
    entry.size = {header.size};
    return std::optional(std::move(entry));
  }

  /// The content of a set of hard links comes, with the name `carrier`.
  void begin_set(std::size_t set, std::size_t carrier) {
    carriers_[set] = carrier;
    for (const std::size_t name : waiting_[set]) {
      links_.emplace_back(name, carrier);
    }
    waiting_.erase(set);
  }

  Result<Done> begin_content(const Header& header, const std::string& path) {
    const bool one = header.size > limits_.member.value;
    if (one || header.size > limits_.unpacked.value - spent_.unpacked.value) {
      return refused(Errc::limit, one ? "archive member is too large" : "archive is too large",
                     "at most " +
                         std::to_string(one ? limits_.member.value : limits_.unpacked.value) +
                         " bytes",
                     path + ", " + std::to_string(header.size) + " bytes");
    }
    spent_.unpacked.value += header.size;
    left_ = header.size;
    sum_ = 0;
    expected_sum_ = header.size > 0 ? header.sum : std::nullopt;
    return Done{};
  }

  Result<std::string> read_link_target(const RpmFile& file) {
    if (file.size.value == 0 || file.size.value > kNameMax) {
      return refused(Errc::corrupt, "payload holds a symbolic link without a proper target",
                     "1 to " + std::to_string(kNameMax) + " bytes", file.path.text());
    }
    std::string target(static_cast<std::size_t>(file.size.value), '\0');
    CP_CHECK(read_exactly(target));
    CP_CHECK(skip_padding());
    if (target != file.link_target) {
      return refused(Errc::corrupt, "payload holds another symbolic link than the header lists",
                     file.link_target, target);
    }
    return target;
  }

  Result<std::size_t> read_content(std::span<std::byte> into) {
    if (left_ == 0) {
      CP_CHECK(check_sum());
      return std::size_t{0};
    }
    const auto most = static_cast<std::size_t>(std::min<std::uint64_t>(into.size(), left_));
    CP_TRY(const std::size_t count, read_some(into.first(most)));
    left_ -= count;
    if (expected_sum_) {
      for (const std::byte byte : into.first(count)) {
        sum_ += std::to_integer<std::uint32_t>(byte);
      }
    }
    if (left_ == 0) {
      CP_CHECK(check_sum());
    }
    return count;
  }

  Result<Done> check_sum() {
    if (expected_sum_ && *expected_sum_ != sum_) {
      return refused(Errc::corrupt, "cpio archive has a sum that its content does not have",
                     std::to_string(*expected_sum_), std::to_string(sum_));
    }
    return Done{};
  }

  /// To the end of the current entry's content and its padding.
  Result<Done> skip_content() {
    std::array<std::byte, kBlockSize> block{};
    while (left_ > 0) {
      CP_CHECK(read_content(block));
    }
    return skip_padding();
  }

  /// Behind the trailer: every file has come, and nothing else does.
  Result<Done> finish() {
    for (std::size_t i = 0; i < files_.size(); ++i) {
      if (!found_[i] && !files_[i].is_ghost) {
        return refused(Errc::corrupt, "payload lacks a file that the header lists",
                       files_[i].path.text(), "the archive's end");
      }
    }
    if (!waiting_.empty()) {
      return refused(Errc::corrupt, "payload lacks the content of hard links",
                     files_[waiting_.begin()->second.front()].path.text(), "the archive's end");
    }
    std::array<std::byte, kBlockSize> block{};
    for (;;) {
      CP_TRY(const std::size_t count, source_.read(block));
      if (count == 0) {
        return Done{};
      }
      const auto used =
          std::find_if(block.begin(), block.begin() + static_cast<std::ptrdiff_t>(count),
                       [](std::byte byte) { return byte != std::byte{0}; });
      if (used != block.begin() + static_cast<std::ptrdiff_t>(count)) {
        header_at_ = position_ + static_cast<std::uint64_t>(used - block.begin());
        return refused(Errc::corrupt, "payload goes on behind the end of its archive",
                       "zeros, if anything", "other bytes");
      }
      position_ += count;
    }
  }

  /// At least one byte.
  Result<std::size_t> read_some(std::span<std::byte> into) {
    CP_TRY(const std::size_t count, source_.read(into));
    if (count == 0) {
      return Error{.code = Errc::corrupt,
                   .what = "cpio archive ends early",
                   .at = ByteOffset{position_},
                   .stream = "the extracted archive",
                   .found = "end of file",
                   .hint = "the download is incomplete; fetch it again"};
    }
    position_ += count;
    return count;
  }

  Result<Done> read_exactly(std::span<std::byte> into) {
    while (!into.empty()) {
      CP_TRY(const std::size_t count, read_some(into));
      into = into.subspan(count);
    }
    return Done{};
  }

  Result<Done> read_exactly(std::string& into) {
    return read_exactly(std::as_writable_bytes(std::span(into)));
  }

  Result<Done> skip_padding() {
    std::array<std::byte, kAlignment> padding{};
    const auto size = static_cast<std::size_t>((kAlignment - position_ % kAlignment) % kAlignment);
    return read_exactly(std::span(padding).first(size));
  }

  [[nodiscard]] Error refused(Errc code, std::string what, std::string expected,
                              std::string found) const {
    return Error{.code = code,
                 .what = std::move(what),
                 .at = ByteOffset{header_at_},
                 .stream = "the extracted archive",
                 .expected = std::move(expected),
                 .found = std::move(found)};
  }

  io::Source& source_;
  std::span<const RpmFile> files_;
  Limits limits_;
  Spent own_;  // where nobody else counts
  Spent& spent_;
  std::map<std::string, std::size_t, std::less<>> places_;  // in files_, by path
  std::vector<bool> found_;

  // Sets of hard links, by the index of the last name.
  std::map<std::size_t, std::vector<std::size_t>> waiting_;  // names before the content
  std::map<std::size_t, std::size_t> carriers_;              // the name that had the content
  std::deque<std::pair<std::size_t, std::size_t>> links_;    // to come out: name, carrier

  std::uint64_t position_ = 0;
  std::uint64_t header_at_ = 0;

  std::uint64_t left_ = 0;  // of the current entry's content
  std::uint32_t sum_ = 0;
  std::optional<std::uint32_t> expected_sum_;

  bool ended_ = false;
  std::optional<Error> failure_;
};

CpioReader::CpioReader(io::Source& source, std::span<const RpmFile> files, const Limits& limits,
                       Spent* spent)
    : state_(std::make_unique<State>(source, files, limits, spent)) {}
CpioReader::~CpioReader() = default;

Result<std::optional<Entry>> CpioReader::next() { return state_->next(); }
Result<std::size_t> CpioReader::read(std::span<std::byte> into) { return state_->read(into); }

}  // namespace compatpack::formats
