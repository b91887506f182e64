// SPDX-License-Identifier: Apache-2.0
#include "compatpack/formats/elf.hpp"

#include <algorithm>
#include <array>

#include "compatpack/base/arch.hpp"
#include "compatpack/base/bytes.hpp"
#include "compatpack/base/text.hpp"

namespace compatpack::formats {
namespace {

constexpr std::string_view kMagic =
    "\x7F"
    "ELF";
constexpr std::string_view kNoteSection{".note.cuda.fwd_compatibility\0", 29};
constexpr std::string_view kNoteOwner{"NVIDIA Corporation\0", 19};

constexpr std::uint64_t kPtLoad = 1;
constexpr std::uint64_t kPtDynamic = 2;
constexpr std::uint64_t kPtNote = 4;

constexpr std::uint64_t kDtNull = 0;
constexpr std::uint64_t kDtNeeded = 1;
constexpr std::uint64_t kDtStrtab = 5;
constexpr std::uint64_t kDtStrsz = 10;
constexpr std::uint64_t kDtSoname = 14;
constexpr std::uint64_t kDtRpath = 15;
constexpr std::uint64_t kDtRunpath = 29;
constexpr std::uint64_t kDtVerneed = 0x6FFF'FFFE;
constexpr std::uint64_t kDtVerneednum = 0x6FFF'FFFF;

constexpr std::size_t kVersionRecord = 16;  // both of a library and of a version
constexpr std::size_t kNoteHeader = 12;

Error corrupt_elf(std::string what, std::uint64_t at, std::string expected, std::string found) {
  return Error{.code = Errc::corrupt,
               .what = std::move(what),
               .at = ByteOffset{at},
               .expected = std::move(expected),
               .found = std::move(found)};
}

Error too_many(std::string what, std::uint64_t at, std::size_t most) {
  return Error{.code = Errc::limit,
               .what = std::move(what),
               .at = ByteOffset{at},
               .expected = "at most " + std::to_string(most)};
}

/// Bytes that hold numbers in the file's byte order.
class Record {
 public:
  Record(std::span<const std::byte> bytes, ByteOrder order) : bytes_(bytes), order_(order) {}

  /// Requires: the number lies inside. Every caller asks for a constant place of a record whose
  /// size was checked when it was taken.
  [[nodiscard]] std::uint64_t number(std::size_t at, std::size_t width) const {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < width; ++i) {
      const std::size_t byte = order_ == ByteOrder::big ? i : width - 1 - i;
      value = value << 8U | std::to_integer<std::uint64_t>(bytes_[at + byte]);
    }
    return value;
  }

 private:
  std::span<const std::byte> bytes_;
  ByteOrder order_;
};

/// Where the fields stand in files of 32 and of 64 bits.
struct Layout {
  std::size_t address;  // width of addresses, offsets and sizes
  std::size_t header, phoff, shoff, phentsize, phnum, shentsize, shnum, shstrndx;
  std::size_t segment, p_offset, p_vaddr, p_filesz;
  std::size_t section, sh_offset, sh_size;
};
constexpr Layout kLayout32{4, 52, 28, 32, 42, 44, 46, 48, 50, 32, 4, 8, 16, 40, 16, 20};
constexpr Layout kLayout64{8, 64, 32, 40, 54, 56, 58, 60, 62, 56, 8, 16, 32, 64, 24, 32};

struct Segment {
  std::uint64_t type;
  std::uint64_t offset;   // in bytes from the start of the file
  std::uint64_t address;  // where it is loaded
  std::uint64_t size;     // bytes in the file
};

/// "2.17" of "GLIBC_2.17" as numbers; nullopt for GLIBC_PRIVATE and all that is not glibc's.
std::optional<std::array<std::uint64_t, 3>> glibc_version(std::string_view name) {
  constexpr std::string_view kPrefix = "GLIBC_";
  if (!name.starts_with(kPrefix)) {
    return std::nullopt;
  }
  const auto parts = split(name.substr(kPrefix.size()), '.');
  std::array<std::uint64_t, 3> version{};
  if (parts.size() < 2 || parts.size() > version.size()) {
    return std::nullopt;
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto number = parse_decimal(parts[i]);
    if (!number) {
      return std::nullopt;
    }
    version[i] = *number;
  }
  return version;
}

class Reader {
 public:
  Reader(std::span<const std::byte> file, const ElfHead& head)
      : file_(file), head_(head), layout_(head.bits == 64 ? kLayout64 : kLayout32) {}

  Result<ElfIdentity> read() {
    const auto header = record(0, layout_.header);
    if (!header) {
      return corrupt_elf("ELF file ends in its header", file_.size(),
                         std::to_string(layout_.header) + " bytes", "end of file");
    }
    CP_CHECK(read_segments(*header));
    ElfIdentity identity{.head = head_};
    CP_CHECK(read_dynamic(identity));
    CP_TRY(identity.forward_compat_note, find_note(*header));
    return identity;
  }

 private:
  struct Dynamic {
    std::uint64_t strings = 0;  // address of the string table
    std::uint64_t strings_size = 0;
    std::optional<std::uint64_t> soname;
    std::optional<std::uint64_t> rpath;
    std::optional<std::uint64_t> runpath;
    std::vector<std::uint64_t> needed;
    std::optional<std::uint64_t> versions;  // address
    std::uint64_t libraries = 0;            // that have versions
  };

  /// The bytes from `at` on, if all `size` of them are in the file.
  [[nodiscard]] std::optional<std::span<const std::byte>> bytes(std::uint64_t at,
                                                                std::uint64_t size) const {
    if (at > file_.size() || size > file_.size() - at) {
      return std::nullopt;
    }
    return file_.subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(size));
  }

  [[nodiscard]] std::optional<Record> record(std::uint64_t at, std::uint64_t size) const {
    const auto found = bytes(at, size);
    return found ? std::optional(Record(*found, head_.order)) : std::nullopt;
  }

  [[nodiscard]] std::uint64_t address(const Record& from, std::size_t at) const {
    return from.number(at, layout_.address);
  }

  Result<Done> read_segments(const Record& header) {
    const std::uint64_t at = address(header, layout_.phoff);
    const std::uint64_t each = header.number(layout_.phentsize, 2);
    const std::uint64_t count = header.number(layout_.phnum, 2);
    if (count > kElfSegmentsMax) {
      return too_many("ELF file has too many segments", layout_.phnum, kElfSegmentsMax);
    }
    if (count != 0 && (each < layout_.segment || !bytes(at, each * count))) {
      return corrupt_elf(
          "ELF program headers leave the file", layout_.phoff,
          std::to_string(count) + " headers within " + std::to_string(file_.size()) + " bytes",
          std::to_string(each) + " bytes each, from byte " + std::to_string(at));
    }
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto one = record(at + i * each, layout_.segment);
      const Segment segment{one->number(0, 4), address(*one, layout_.p_offset),
                            address(*one, layout_.p_vaddr), address(*one, layout_.p_filesz)};
      const bool used = segment.type == kPtLoad || segment.type == kPtDynamic;
      if (used && !bytes(segment.offset, segment.size)) {
        return corrupt_elf(
            "ELF segment leaves the file", at + i * each,
            "a segment within " + std::to_string(file_.size()) + " bytes",
            std::to_string(segment.size) + " bytes, from byte " + std::to_string(segment.offset));
      }
      segments_.push_back(segment);
    }
    return Done{};
  }

  /// The bytes from `at` to the end of the PT_LOAD that holds that address; empty if none does.
  [[nodiscard]] std::span<const std::byte> loaded(std::uint64_t at) const {
    for (const Segment& segment : segments_) {
      if (segment.type == kPtLoad && at >= segment.address && at - segment.address < segment.size) {
        const std::uint64_t skipped = at - segment.address;
        return *bytes(segment.offset + skipped, segment.size - skipped);
      }
    }
    return {};
  }

  [[nodiscard]] std::uint64_t offset_of(std::span<const std::byte> part) const {
    return static_cast<std::uint64_t>(part.data() - file_.data());
  }

  Result<Done> read_dynamic(ElfIdentity& identity) {
    const auto segment = std::find_if(segments_.begin(), segments_.end(),
                                      [](const Segment& one) { return one.type == kPtDynamic; });
    if (segment == segments_.end()) {
      return Done{};
    }
    CP_TRY(const Dynamic dynamic, collect_dynamic(*segment));
    if (dynamic.soname || dynamic.rpath || dynamic.runpath || !dynamic.needed.empty() ||
        dynamic.versions) {
      strings_ = loaded(dynamic.strings);
      if (strings_.size() < dynamic.strings_size || strings_.empty()) {
        return corrupt_elf("ELF string table is not in a loaded segment", segment->offset,
                           std::to_string(dynamic.strings_size) + " bytes at a loaded address",
                           "address " + std::to_string(dynamic.strings));
      }
      strings_ = strings_.first(static_cast<std::size_t>(dynamic.strings_size));
    }
    if (dynamic.soname) {
      CP_TRY(identity.soname, string_at(*dynamic.soname));
    }
    if (dynamic.rpath) {
      CP_TRY(identity.rpath, string_at(*dynamic.rpath));
    }
    if (dynamic.runpath) {
      CP_TRY(identity.runpath, string_at(*dynamic.runpath));
    }
    for (const std::uint64_t offset : dynamic.needed) {
      CP_TRY(std::string name, string_at(offset));
      identity.needed.push_back(std::move(name));
    }
    if (dynamic.versions) {
      CP_TRY(identity.glibc_needed, highest_glibc(*dynamic.versions, dynamic.libraries));
    }
    return Done{};
  }

  /// Where a tag comes twice, the last one holds, as in glibc's loader; DT_NEEDED adds up.
  Result<Dynamic> collect_dynamic(const Segment& segment) const {
    Dynamic dynamic;
    const std::size_t each = 2 * layout_.address;
    const std::uint64_t count = segment.size / each;
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t at = segment.offset + i * each;
      const auto entry = record(at, each);
      const std::uint64_t tag = address(*entry, 0);
      const std::uint64_t value = address(*entry, layout_.address);
      if (tag == kDtNull) {
        break;
      }
      if (i == kElfDynamicEntriesMax) {
        return too_many("ELF file has too many dynamic entries", at, kElfDynamicEntriesMax);
      }
      if (tag == kDtNeeded && dynamic.needed.size() == kElfNeededMax) {
        return too_many("ELF file needs too many libraries", at, kElfNeededMax);
      }
      if (tag == kDtNeeded) {
        dynamic.needed.push_back(value);
      } else if (tag == kDtSoname) {
        dynamic.soname = value;
      } else if (tag == kDtRpath) {
        dynamic.rpath = value;
      } else if (tag == kDtRunpath) {
        dynamic.runpath = value;
      } else if (tag == kDtStrtab) {
        dynamic.strings = value;
      } else if (tag == kDtStrsz) {
        dynamic.strings_size = value;
      } else if (tag == kDtVerneed) {
        dynamic.versions = value;
      } else if (tag == kDtVerneednum) {
        dynamic.libraries = value;
      }
    }
    return dynamic;
  }

  Result<std::string> string_at(std::uint64_t offset) const {
    if (offset >= strings_.size()) {
      return corrupt_elf("ELF name lies outside of its string table", offset_of(strings_),
                         "an offset below " + std::to_string(strings_.size()),
                         std::to_string(offset));
    }
    const std::string_view rest =
        as_text(strings_.subspan(static_cast<std::size_t>(offset))).substr(0, kElfStringMax + 1);
    const std::size_t end = rest.find('\0');
    if (end == std::string_view::npos) {
      return corrupt_elf("ELF name has no end", offset_of(strings_) + offset,
                         "a NUL within " + std::to_string(kElfStringMax) + " bytes",
                         std::string(rest.substr(0, 32)));
    }
    return std::string(rest.substr(0, end));
  }

  /// Walks the libraries, and the versions of each. Both chains lead forward only, and all records
  /// together are counted, so that no table takes long.
  Result<std::string> highest_glibc(std::uint64_t table, std::uint64_t libraries) const {
    const auto bad = [this](std::span<const std::byte> where) {
      return corrupt_elf("ELF symbol versions leave their segment", offset_of(where),
                         std::to_string(kVersionRecord) + " bytes of a record",
                         std::to_string(where.size()) + " bytes");
    };
    std::array<std::uint64_t, 3> highest{};
    std::string text;
    std::size_t seen = 0;
    std::span<const std::byte> rest = loaded(table);
    if (rest.empty() && libraries != 0) {
      return corrupt_elf("ELF symbol versions are not in a loaded segment", 0, "a loaded address",
                         "address " + std::to_string(table));
    }
    for (std::uint64_t i = 0; i < libraries; ++i) {
      if (rest.size() < kVersionRecord) {
        return bad(rest);
      }
      const Record library(rest, head_.order);
      const std::uint64_t names = library.number(2, 2);
      const std::uint64_t next = library.number(12, 4);
      std::uint64_t step = library.number(8, 4);
      std::span<const std::byte> name_rest = rest;
      for (std::uint64_t j = 0; j < names; ++j) {
        if (++seen > kElfVersionsMax) {
          return too_many("ELF file needs too many symbol versions", offset_of(rest),
                          kElfVersionsMax);
        }
        if (step > name_rest.size() || name_rest.size() - step < kVersionRecord) {
          return bad(name_rest);
        }
        name_rest = name_rest.subspan(static_cast<std::size_t>(step));
        const Record version(name_rest, head_.order);
        CP_TRY(const std::string name, string_at(version.number(8, 4)));
        if (const auto parsed = glibc_version(name); parsed && *parsed > highest) {
          highest = *parsed;
          text = name.substr(name.find('_') + 1);
        }
        step = version.number(12, 4);
        if (step == 0) {
          break;
        }
      }
      if (next == 0) {
        break;
      }
      if (++seen > kElfVersionsMax) {
        return too_many("ELF file needs too many symbol versions", offset_of(rest),
                        kElfVersionsMax);
      }
      if (next > rest.size()) {
        return bad(rest);
      }
      rest = rest.subspan(static_cast<std::size_t>(next));
    }
    return text;
  }

  /// As much of a range as is in the file.
  [[nodiscard]] std::span<const std::byte> clamped(std::uint64_t at, std::uint64_t size) const {
    if (at > file_.size()) {
      return {};
    }
    return *bytes(at, std::min<std::uint64_t>(size, file_.size() - at));
  }

  /// By the section's name first. Files stripped of section headers are looked at through PT_NOTE,
  /// where a note must look like JSON: a later driver may put another note there.
  Result<std::optional<std::string>> find_note(const Record& header) {
    if (const auto section = note_section(header)) {
      CP_TRY(auto note, note_in(*section, ""));
      if (note) {
        return note;
      }
    }
    for (const Segment& segment : segments_) {
      if (segment.type == kPtNote) {
        CP_TRY(auto note, note_in(clamped(segment.offset, segment.size), "{"));
        if (note) {
          return note;
        }
      }
    }
    return std::optional<std::string>();
  }

  [[nodiscard]] std::optional<std::span<const std::byte>> note_section(const Record& header) const {
    const std::uint64_t at = address(header, layout_.shoff);
    const std::uint64_t each = header.number(layout_.shentsize, 2);
    const std::uint64_t count = header.number(layout_.shnum, 2);
    const std::uint64_t names_index = header.number(layout_.shstrndx, 2);
    if (each < layout_.section || names_index >= count || !bytes(at, each * count)) {
      return std::nullopt;
    }
    const auto content = [&](std::uint64_t index) {
      const auto section = record(at + index * each, layout_.section);
      return clamped(address(*section, layout_.sh_offset), address(*section, layout_.sh_size));
    };
    const std::string_view names = as_text(content(names_index));
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t name = record(at + i * each, layout_.section)->number(0, 4);
      if (name < names.size() &&
          names.substr(static_cast<std::size_t>(name)).starts_with(kNoteSection)) {
        return content(i);
      }
    }
    return std::nullopt;
  }

  /// NVIDIA's note among those in `rest`, if its text begins with `start`. A descriptor that claims
  /// more than there is, as that of one published libcuda does, is what there is.
  Result<std::optional<std::string>> note_in(std::span<const std::byte> rest,
                                             std::string_view start) {
    const auto padded = [](std::uint64_t size) { return (size + 3) / 4 * 4; };
    while (rest.size() >= kNoteHeader && ++notes_seen_ <= kElfNotesMax) {
      const Record note(rest, head_.order);
      const std::uint64_t name_size = note.number(0, 4);
      const std::uint64_t text_size = note.number(4, 4);
      const std::uint64_t type = note.number(8, 4);
      const std::uint64_t text_at = kNoteHeader + padded(name_size);
      if (text_at > rest.size()) {
        break;
      }
      const std::string_view all = as_text(rest);
      const std::string_view owner = all.substr(kNoteHeader, static_cast<std::size_t>(name_size));
      std::string_view text =
          all.substr(static_cast<std::size_t>(text_at), static_cast<std::size_t>(text_size));
      if (owner == kNoteOwner && type == 0 && text.starts_with(start)) {
        if (text.size() > kElfNoteTextMax) {
          return too_many("forward-compatibility note is too long", offset_of(rest),
                          kElfNoteTextMax);
        }
        const std::size_t last = text.find_last_not_of('\0');
        return std::optional(std::string(text.substr(0, last + 1)));
      }
      rest = rest.subspan(static_cast<std::size_t>(
          std::min<std::uint64_t>(text_at + padded(text_size), rest.size())));
    }
    return std::optional<std::string>();
  }

  std::span<const std::byte> file_;
  ElfHead head_;
  const Layout& layout_;
  std::vector<Segment> segments_;
  std::span<const std::byte> strings_;
  std::size_t notes_seen_ = 0;
};

}  // namespace

std::string_view name_of(const ElfHead& head) {
  for (const ArchRow& row : archs()) {
    if (head.order == ByteOrder::little && head.machine == row.machine && head.bits == row.bits) {
      return row.name;
    }
  }
  return "other";
}

Result<ElfHead> parse_elf_head(std::span<const std::byte> first) {
  const std::string_view text = as_text(first);
  if (!text.starts_with(kMagic)) {
    return Error{.code = Errc::not_recognized,
                 .what = "not an ELF file",
                 .at = ByteOffset{0},
                 .expected = "7f 45 4c 46",
                 .found = std::string(text.substr(0, 16))};
  }
  if (first.size() < kElfHeadSize) {
    return corrupt_elf("ELF file ends in its header", first.size(),
                       std::to_string(kElfHeadSize) + " bytes", "end of file");
  }
  const auto wide = std::to_integer<unsigned>(first[4]);
  const auto order = std::to_integer<unsigned>(first[5]);
  if (wide != 1 && wide != 2) {
    return corrupt_elf("ELF class does not exist", 4, "1 or 2", std::to_string(wide));
  }
  if (order != 1 && order != 2) {
    return corrupt_elf("ELF byte order does not exist", 5, "1 or 2", std::to_string(order));
  }
  ElfHead head{.bits = wide == 2 ? 64 : 32,
               .order = order == 2 ? ByteOrder::big : ByteOrder::little,
               .machine = 0,
               .type = 0};
  const Record record(first, head.order);
  head.type = static_cast<std::uint16_t>(record.number(16, 2));
  head.machine = static_cast<std::uint16_t>(record.number(18, 2));
  return head;
}

Result<ElfIdentity> parse_elf(std::span<const std::byte> file) {
  CP_TRY(const ElfHead head, parse_elf_head(file));
  return Reader(file, head).read();
}

}  // namespace compatpack::formats
