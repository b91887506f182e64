// SPDX-License-Identifier: Apache-2.0
#include "support/elf_file.hpp"

namespace compatpack::test {
namespace {

// Addresses are offsets plus this much, in the first PT_LOAD and in the second.
constexpr std::uint64_t kFirstBias = 0x1'0000;
constexpr std::uint64_t kSecondBias = 0x21'0000;

constexpr std::uint32_t kPtLoad = 1;
constexpr std::uint32_t kPtDynamic = 2;
constexpr std::uint32_t kPtNote = 4;
constexpr std::string_view kNoteSection = ".note.cuda.fwd_compatibility";

/// The hash that DT_VERNEED keeps of a version's name, from the System V ABI.
std::uint32_t sysv_hash(const std::string& name) {
  std::uint32_t hash = 0;
  for (const char c : name) {
    hash = (hash << 4U) + static_cast<unsigned char>(c);
    const std::uint32_t top = hash & 0xF000'0000U;
    hash = (hash ^ (top >> 24U)) & ~top;
  }
  return hash;
}

/// Texts one behind the other, each with its NUL, from a first empty one on.
class StringTable {
 public:
  std::uint32_t add(const std::string& text) {
    const auto at = static_cast<std::uint32_t>(bytes_.size());
    bytes_ += text;
    bytes_ += '\0';
    return at;
  }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_ = std::string(1, '\0');
};

}  // namespace

/// Writes one ElfFile, and remembers where each field went.
class ElfWriter {
 public:
  explicit ElfWriter(const ElfFile& file) : file_(file), wide_(file.target_.bits == 64) {}

  std::string write() {
    // Strings first, since their places are written in what comes before them.
    const std::uint32_t soname = file_.soname_.empty() ? 0 : strings_.add(file_.soname_);
    std::vector<std::uint32_t> needed;
    for (const std::string& library : file_.needed_) {
      needed.push_back(strings_.add(library));
    }
    rpath_ = file_.rpath_.empty() ? 0 : strings_.add(file_.rpath_);
    runpath_ = file_.runpath_.empty() ? 0 : strings_.add(file_.runpath_);
    write_identity();
    const std::size_t segments_at = out_.size();
    const std::size_t segments = file_.segments_ ? count_segments() : 0;
    out_.append(segments * (wide_ ? 56 : 32), '\0');
    align(8);
    write_notes();
    align(8);
    const std::string versions = version_needs();
    const std::size_t strings_at = out_.size();
    out_ += strings_.bytes();
    align(8);
    const std::size_t versions_at = out_.size();
    place_version_fields(versions_at);
    out_ += versions;
    versions_at_ = versions_at;
    versions_size_ = versions.size();
    align(16);
    const std::size_t dynamic_at = out_.size();
    if (file_.dynamic_) {
      write_dynamic(soname, needed, strings_at, versions_at, !versions.empty());
    }
    const std::size_t dynamic_size = out_.size() - dynamic_at;
    write_filler();
    write_segments(segments_at, dynamic_at, dynamic_size);
    if (file_.sections_) {
      write_sections(strings_at, dynamic_at, dynamic_size);
    }
    for (const auto& [field, value] : file_.changes_) {
      if (const auto place = places_.find(field); place != places_.end()) {
        set(place->second.at, value, place->second.width);
      }
    }
    return out_;
  }

 private:
  struct Place {
    std::size_t at;
    std::size_t width;  // in bytes
  };

  void align(std::size_t to) { out_.resize((out_.size() + to - 1) / to * to, '\0'); }

  /// Overwrites `width` bytes at `at` with a number in the file's byte order.
  void set(std::size_t at, std::uint64_t value, std::size_t width) {
    for (std::size_t i = 0; i < width; ++i) {
      const std::size_t byte = file_.target_.big_endian ? width - 1 - i : i;
      out_[at + i] = static_cast<char>(value >> (8 * byte) & 0xFFU);
    }
  }

  void put(std::uint64_t value, std::size_t width) {
    out_.append(width, '\0');
    set(out_.size() - width, value, width);
  }
  void put(ElfField field, std::uint64_t value, std::size_t width) {
    places_.insert_or_assign(field, Place{out_.size(), width});
    put(value, width);
  }
  void half(std::uint64_t value) { put(value, 2); }
  void word(std::uint64_t value) { put(value, 4); }
  void address(std::uint64_t value) { put(value, wide_ ? 8 : 4); }

  /// Sets a header field that was left 0 so far.
  void settle(ElfField field, std::uint64_t value) {
    const Place place = places_.at(field);
    set(place.at, value, place.width);
  }

  void write_identity() {
    out_ =
        "\x7F"
        "ELF";
    put(ElfField::class_byte, wide_ ? 2 : 1, 1);
    put(ElfField::data_byte, file_.target_.big_endian ? 2 : 1, 1);
    put(1, 1);  // EI_VERSION
    out_.append(9, '\0');
    put(ElfField::type, file_.type_, 2);
    half(file_.target_.machine);
    word(1);     // e_version
    address(0);  // e_entry
    const std::size_t width = wide_ ? 8 : 4;
    put(ElfField::program_headers_offset, 0, width);
    put(ElfField::section_headers_offset, 0, width);
    word(0);                // e_flags
    half(wide_ ? 64 : 52);  // e_ehsize
    put(ElfField::program_header_size, wide_ ? 56 : 32, 2);
    put(ElfField::program_header_count, 0, 2);
    put(ElfField::section_header_size, wide_ ? 64 : 40, 2);
    put(ElfField::section_header_count, 0, 2);
    put(ElfField::section_names_index, 0, 2);
  }

  [[nodiscard]] bool has_note_segment() const {
    return file_.note_ && file_.note_->place != NotePlace::section;
  }
  [[nodiscard]] bool has_note_section() const {
    return file_.note_ && file_.note_->place != NotePlace::segment;
  }
  [[nodiscard]] std::size_t count_segments() const {
    return 2U + (file_.dynamic_ ? 1U : 0U) + (has_note_segment() ? 1U : 0U);
  }

  void write_notes() {
    note_at_ = out_.size();
    if (!file_.note_) {
      return;
    }
    for (const auto& [name, descriptor] : file_.foreign_notes_) {
      word(name.size() + 1);
      word(descriptor.size());
      word(3);
      out_ += name + '\0';
      align(4);
      out_ += descriptor;
      align(4);
    }
    put(ElfField::note_name_size, file_.note_name_.size() + 1, 4);
    put(ElfField::note_descriptor_size, file_.note_->json.size() + 1, 4);
    put(ElfField::note_type, 0, 4);
    out_ += file_.note_name_ + '\0';
    align(4);
    out_ += file_.note_->json + '\0';
    align(4);
    note_size_ = out_.size() - note_at_;
  }

  /// .gnu.version_r, in file order: for each library its record and those of its versions.
  std::string version_needs() {
    std::string before = std::move(out_);
    out_.clear();
    for (std::size_t i = 0; i < file_.version_needs_.size(); ++i) {
      const auto& need = file_.version_needs_[i];
      const bool last = i + 1 == file_.version_needs_.size();
      const auto place = [&](ElfField field, std::uint64_t value, std::size_t width) {
        i == 0 ? put(field, value, width) : put(value, width);
      };
      half(1);  // vn_version
      place(ElfField::version_need_name_count, need.versions.size(), 2);
      word(strings_.add(need.library));
      place(ElfField::version_need_names, 16, 4);
      place(ElfField::version_need_next, last ? 0 : 16 + 16 * need.versions.size(), 4);
      for (std::size_t j = 0; j < need.versions.size(); ++j) {
        const auto place_first = [&](ElfField field, std::uint64_t value) {
          i == 0 && j == 0 ? put(field, value, 4) : put(value, 4);
        };
        word(sysv_hash(need.versions[j]));
        half(0);
        half(2 + j);  // vna_other
        place_first(ElfField::version_name_offset, strings_.add(need.versions[j]));
        place_first(ElfField::version_name_next, j + 1 == need.versions.size() ? 0 : 16);
      }
    }
    std::swap(before, out_);
    return before;
  }

  /// The fields of version_needs() were noted from its own start.
  void place_version_fields(std::size_t versions_at) {
    for (const ElfField field : {ElfField::version_need_name_count, ElfField::version_need_names,
                                 ElfField::version_need_next, ElfField::version_name_offset,
                                 ElfField::version_name_next}) {
      if (const auto place = places_.find(field); place != places_.end()) {
        place->second.at += versions_at;
      }
    }
  }

  void tag(std::uint64_t name, std::uint64_t value) {
    address(name);
    address(value);
  }
  void tag(std::uint64_t name, ElfField field, std::uint64_t value) {
    address(name);
    put(field, value, wide_ ? 8 : 4);
  }

  void write_dynamic(std::uint32_t soname, const std::vector<std::uint32_t>& needed,
                     std::size_t strings_at, std::size_t versions_at, bool has_versions) {
    for (std::size_t i = 0; i < needed.size(); ++i) {
      i == 0 ? tag(1, ElfField::needed_offset, needed[i]) : tag(1, needed[i]);
    }
    if (soname != 0) {
      tag(14, ElfField::soname_offset, soname);
    }
    if (rpath_ != 0) {
      tag(15, rpath_);
    }
    if (runpath_ != 0) {
      tag(29, runpath_);
    }
    tag(5, ElfField::string_table_address, strings_at + kFirstBias);
    tag(10, ElfField::string_table_size, strings_.bytes().size());
    if (has_versions) {
      tag(0x6FFF'FFFE, ElfField::version_needs_address, versions_at + kFirstBias);
      tag(0x6FFF'FFFF, ElfField::version_needs_count, file_.version_needs_.size());
    }
    tag(0, 0);
  }

  void write_filler() {
    std::uint32_t state = file_.seed_;
    for (std::size_t i = 0; i < file_.filler_; ++i) {
      state = state * 1664525U + 1013904223U;
      // Half of the bytes repeat, so that compressors find something, as they do in code.
      out_ += i % 2 == 0 ? static_cast<char>(state >> 24U) : '\x48';
    }
  }

  void segment(std::uint32_t type, std::uint32_t flags, std::size_t at, std::size_t size,
               std::uint64_t bias, std::optional<ElfField> offset_field,
               std::optional<ElfField> size_field) {
    const std::size_t width = wide_ ? 8 : 4;
    const auto put_field = [&](std::optional<ElfField> field, std::uint64_t value) {
      field ? put(*field, value, width) : put(value, width);
    };
    word(type);
    if (wide_) {
      word(flags);
    }
    put_field(offset_field, at);
    address(at + bias);
    address(at + bias);
    put_field(size_field, size);
    address(size);
    if (!wide_) {
      word(flags);
    }
    address(8);
  }

  void write_segments(std::size_t segments_at, std::size_t dynamic_at, std::size_t dynamic_size) {
    if (!file_.segments_) {
      return;
    }
    settle(ElfField::program_headers_offset, segments_at);
    settle(ElfField::program_header_count, count_segments());
    std::string after = out_.substr(segments_at + count_segments() * (wide_ ? 56U : 32U));
    const std::size_t end = out_.size();
    out_.resize(segments_at);
    segment(kPtLoad, 5, 0, dynamic_at, kFirstBias, ElfField::first_load_offset,
            ElfField::first_load_size);
    segment(kPtLoad, 6, dynamic_at, end - dynamic_at, kSecondBias, {}, {});
    if (file_.dynamic_) {
      segment(kPtDynamic, 6, dynamic_at, dynamic_size, kSecondBias, ElfField::dynamic_offset,
              ElfField::dynamic_size);
    }
    if (has_note_segment()) {
      segment(kPtNote, 4, note_at_, note_size_, kFirstBias, {}, ElfField::note_segment_size);
    }
    out_ += after;
  }

  void section(std::uint32_t name, std::uint32_t type, std::size_t at, std::size_t size,
               std::uint64_t bias, std::uint32_t link, std::size_t entry, std::uint64_t extra = 0) {
    word(name);
    word(type);
    address(2);  // SHF_ALLOC
    address(bias == 0 ? 0 : at + bias);
    if (type == 7) {
      put(ElfField::note_section_offset, at, wide_ ? 8 : 4);
      put(ElfField::note_section_size, size, wide_ ? 8 : 4);
    } else {
      address(at);
      address(size);
    }
    word(link);
    word(extra);
    address(4);
    address(entry);
  }

  void write_sections(std::size_t strings_at, std::size_t dynamic_at, std::size_t dynamic_size) {
    StringTable names;
    const std::uint32_t dynstr = names.add(".dynstr");
    const std::uint32_t dynamic = names.add(".dynamic");
    const std::uint32_t note = has_note_section() ? names.add(std::string(kNoteSection)) : 0;
    const std::uint32_t versions = versions_size_ != 0 ? names.add(".gnu.version_r") : 0;
    const std::uint32_t shstrtab = names.add(".shstrtab");
    const std::size_t names_at = out_.size();
    out_ += names.bytes();
    align(8);
    settle(ElfField::section_headers_offset, out_.size());
    std::uint64_t count = 0;
    const auto add = [&](auto... fields) {
      section(fields...);
      ++count;
    };
    out_.append(wide_ ? 64 : 40, '\0');
    ++count;
    add(dynstr, 3U, strings_at, strings_.bytes().size(), kFirstBias, 0U, std::size_t{0});
    if (file_.dynamic_) {
      add(dynamic, 6U, dynamic_at, dynamic_size, kSecondBias, 1U, std::size_t{wide_ ? 16U : 8U});
    }
    if (has_note_section()) {
      add(note, 7U, note_at_, note_size_, kFirstBias, 0U, std::size_t{0});
    }
    if (versions_size_ != 0) {
      add(versions, 0x6FFF'FFFEU, versions_at_, versions_size_, kFirstBias, 1U, std::size_t{0},
          std::uint64_t{file_.version_needs_.size()});
    }
    settle(ElfField::section_names_index, count);
    add(shstrtab, 3U, names_at, names.bytes().size(), std::uint64_t{0}, 0U, std::size_t{0});
    settle(ElfField::section_header_count, count);
  }

  const ElfFile& file_;
  bool wide_;
  std::string out_;
  StringTable strings_;
  std::map<ElfField, Place> places_;
  std::size_t note_at_ = 0;
  std::size_t note_size_ = 0;
  std::uint32_t rpath_ = 0;  // in the string table
  std::uint32_t runpath_ = 0;
  std::size_t versions_at_ = 0;
  std::size_t versions_size_ = 0;
};

ElfFile& ElfFile::with_soname(std::string name) {
  soname_ = std::move(name);
  return *this;
}

ElfFile& ElfFile::with_needed(std::string library) {
  needed_.push_back(std::move(library));
  return *this;
}

ElfFile& ElfFile::with_rpath(std::string path) {
  rpath_ = std::move(path);
  return *this;
}

ElfFile& ElfFile::with_runpath(std::string path) {
  runpath_ = std::move(path);
  return *this;
}

ElfFile& ElfFile::with_version_need(std::string library, std::string version) {
  for (VersionNeed& need : version_needs_) {
    if (need.library == library) {
      need.versions.push_back(std::move(version));
      return *this;
    }
  }
  version_needs_.push_back({std::move(library), {std::move(version)}});
  return *this;
}

ElfFile& ElfFile::with_note(std::string json, NotePlace place) {
  note_ = Note{std::move(json), place};
  return *this;
}

ElfFile& ElfFile::with_note_name(std::string name) {
  note_name_ = std::move(name);
  return *this;
}

ElfFile& ElfFile::with_foreign_note(std::string name, std::string descriptor) {
  foreign_notes_.emplace_back(std::move(name), std::move(descriptor));
  return *this;
}

ElfFile& ElfFile::as_executable() {
  type_ = 2;  // ET_EXEC
  return *this;
}

ElfFile& ElfFile::without_sections() {
  sections_ = false;
  return *this;
}

ElfFile& ElfFile::without_segments() {
  segments_ = false;
  return *this;
}

ElfFile& ElfFile::without_dynamic() {
  dynamic_ = false;
  return *this;
}

ElfFile& ElfFile::with_filler(std::size_t bytes, std::uint32_t seed) {
  filler_ = bytes;
  seed_ = seed;
  return *this;
}

ElfFile& ElfFile::with(ElfField field, std::uint64_t value) {
  changes_.insert_or_assign(field, value);
  return *this;
}

std::string ElfFile::bytes() const { return ElfWriter(*this).write(); }

}  // namespace compatpack::test
