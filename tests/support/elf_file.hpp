// SPDX-License-Identifier: Apache-2.0
#pragma once

// Composes shared objects for tests: what a loader looks at, and nothing that runs. A bad file is a
// good one with one field changed:
//
//   ElfFile().with_soname("libcuda.so.1").with(ElfField::dynamic_offset, 1U << 30U).bytes()
//
//   ELF header
//   program headers   PT_LOAD of all up to .dynamic, PT_LOAD of the rest, PT_DYNAMIC, PT_NOTE
//   note              .note.cuda.fwd_compatibility
//   strings           .dynstr
//   versions          .gnu.version_r
//   .dynamic
//   filler
//   .shstrtab, section headers
//
// Addresses differ from offsets, and differently in each PT_LOAD, as in real libraries: a reader
// that takes one for the other finds nothing.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace compatpack::test {

/// What a file is built for.
struct ElfTarget {
  std::uint16_t machine;  ///< e_machine
  int bits;               ///< 32 or 64
  bool big_endian = false;
};

inline constexpr ElfTarget kX86_64{62, 64};
inline constexpr ElfTarget kI386{3, 32};
inline constexpr ElfTarget kAarch64{183, 64};
inline constexpr ElfTarget kPpc64le{21, 64};
inline constexpr ElfTarget kPpc64Big{21, 64, true};
inline constexpr ElfTarget kPpc32Big{20, 32, true};
inline constexpr ElfTarget kX32{62, 32};

/// The fields that a test can overwrite, by the names of the ELF specification where it has one.
enum class ElfField {
  class_byte,               ///< EI_CLASS
  data_byte,                ///< EI_DATA
  type,                     ///< e_type
  program_headers_offset,   ///< e_phoff
  program_header_size,      ///< e_phentsize
  program_header_count,     ///< e_phnum
  section_headers_offset,   ///< e_shoff
  section_header_size,      ///< e_shentsize
  section_header_count,     ///< e_shnum
  section_names_index,      ///< e_shstrndx
  first_load_offset,        ///< p_offset of the first PT_LOAD
  first_load_size,          ///< p_filesz of the first PT_LOAD
  dynamic_offset,           ///< p_offset of PT_DYNAMIC
  dynamic_size,             ///< p_filesz of PT_DYNAMIC
  string_table_address,     ///< DT_STRTAB
  string_table_size,        ///< DT_STRSZ
  soname_offset,            ///< DT_SONAME, in the string table
  needed_offset,            ///< the first DT_NEEDED, in the string table
  version_needs_address,    ///< DT_VERNEED
  version_needs_count,      ///< DT_VERNEEDNUM
  version_need_next,        ///< vn_next of the first library
  version_need_names,       ///< vn_aux of the first library
  version_need_name_count,  ///< vn_cnt of the first library
  version_name_next,        ///< vna_next of the first version of the first library
  version_name_offset,      ///< vna_name of the same, in the string table
  note_name_size,           ///< namesz
  note_descriptor_size,     ///< descsz
  note_type,                ///< type
  note_section_offset,      ///< sh_offset of the note's section
  note_section_size,        ///< sh_size of the note's section
  note_segment_size,        ///< p_filesz of PT_NOTE
};

/// Where a note is to be found.
enum class NotePlace { section_and_segment, section, segment };

class ElfFile {
 public:
  explicit ElfFile(ElfTarget target = kX86_64) : target_(target) {}

  ElfFile& with_soname(std::string name);
  ElfFile& with_needed(std::string library);
  ElfFile& with_rpath(std::string path);
  ElfFile& with_runpath(std::string path);
  /// A symbol version: "GLIBC_2.17" of "libc.so.6".
  ElfFile& with_version_need(std::string library, std::string version);
  /// The note of NVIDIA's libcuda; `json` as it stands, right or wrong, and a NUL after it.
  ElfFile& with_note(std::string json, NotePlace place = NotePlace::section_and_segment);
  /// The name in the note, "NVIDIA Corporation" unless set.
  ElfFile& with_note_name(std::string name);
  /// Another note before it, in the same section and segment.
  ElfFile& with_foreign_note(std::string name, std::string descriptor);
  /// ET_EXEC instead of ET_DYN.
  ElfFile& as_executable();
  /// No section headers, as after `sstrip`.
  ElfFile& without_sections();
  /// No program headers, as in an object file.
  ElfFile& without_segments();
  /// No PT_DYNAMIC, as in a static program.
  ElfFile& without_dynamic();
  /// `bytes` bytes that look like code: they do not compress well and differ between seeds.
  ElfFile& with_filler(std::size_t bytes, std::uint32_t seed = 1);
  /// Overwrites one field of the finished file; one that the file lacks is left alone.
  ElfFile& with(ElfField field, std::uint64_t value);

  [[nodiscard]] std::string bytes() const;

 private:
  struct VersionNeed {
    std::string library;
    std::vector<std::string> versions;
  };
  struct Note {
    std::string json;
    NotePlace place;
  };
  friend class ElfWriter;

  ElfTarget target_;
  std::string soname_;
  std::string rpath_;
  std::string runpath_;
  std::vector<std::string> needed_;
  std::vector<VersionNeed> version_needs_;
  std::optional<Note> note_;
  std::string note_name_ = "NVIDIA Corporation";
  std::vector<std::pair<std::string, std::string>> foreign_notes_;
  std::uint16_t type_ = 3;  // ET_DYN
  bool sections_ = true;
  bool segments_ = true;
  bool dynamic_ = true;
  std::size_t filler_ = 0;
  std::uint32_t seed_ = 1;
  std::map<ElfField, std::uint64_t> changes_;
};

}  // namespace compatpack::test
