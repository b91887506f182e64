// SPDX-License-Identifier: Apache-2.0
#include "compatpack/formats/elf.hpp"

#include <doctest/doctest.h>

#include "compatpack/base/bytes.hpp"

#include "support/elf_file.hpp"

using namespace compatpack;
using namespace compatpack::formats;
using compatpack::test::ElfField;
using compatpack::test::ElfFile;
using compatpack::test::ElfTarget;
using compatpack::test::NotePlace;

namespace {

constexpr const char* kNote = R"({"format": 1, "CUDA version": "12.9", "driver": [535, 550]})";

ElfFile libcuda(ElfTarget target = test::kX86_64) {
  return ElfFile(target)
      .with_soname("libcuda.so.1")
      .with_needed("libc.so.6")
      .with_needed("libm.so.6")
      .with_version_need("libc.so.6", "GLIBC_2.2.5")
      .with_version_need("libc.so.6", "GLIBC_2.17")
      .with_version_need("libc.so.6", "GLIBC_2.4")
      .with_version_need("libm.so.6", "GLIBC_2.2.5")
      .with_note(kNote);
}

Result<ElfIdentity> parse(const ElfFile& file) {
  const std::string bytes = file.bytes();
  return parse_elf(as_bytes(bytes));
}

}  // namespace

TEST_CASE("elf: every width and byte order gives the same identity") {
  for (const ElfTarget target : {test::kX86_64, test::kI386, test::kAarch64, test::kPpc64le,
                                 test::kPpc64Big, test::kPpc32Big}) {
    CAPTURE(target.machine);
    CAPTURE(target.bits);

    const auto identity = parse(libcuda(target));

    REQUIRE(identity);
    CHECK(identity->head.bits == target.bits);
    CHECK(identity->head.machine == target.machine);
    CHECK((identity->head.order == ByteOrder::big) == target.big_endian);
    CHECK(identity->head.type == 3);
    CHECK(identity->soname == "libcuda.so.1");
    CHECK(identity->needed == std::vector<std::string>{"libc.so.6", "libm.so.6"});
    CHECK(identity->glibc_needed == "2.17");
    CHECK(identity->forward_compat_note == std::optional<std::string>(kNote));
  }
}

TEST_CASE("elf: architectures have the names that drivers use, others are other") {
  const auto name = [](ElfTarget target) {
    const std::string bytes = ElfFile(target).bytes();
    return name_of(*parse_elf_head(as_bytes(bytes).first(kElfHeadSize)));
  };

  CHECK(name(test::kX86_64) == "x86_64");
  CHECK(name(test::kI386) == "i386");
  CHECK(name(test::kAarch64) == "aarch64");
  CHECK(name(test::kPpc64le) == "ppc64le");
  CHECK(name(test::kPpc64Big) == "other");
  CHECK(name(test::kX32) == "other");
  CHECK(name({243, 64}) == "other");
}

TEST_CASE("elf: a file without section headers says the same") {
  const auto identity = parse(libcuda().without_sections());

  REQUIRE(identity);
  CHECK(identity->soname == "libcuda.so.1");
  CHECK(identity->forward_compat_note == std::optional<std::string>(kNote));
}

TEST_CASE("elf: a file without program headers still has its note") {
  const auto identity = parse(libcuda().without_segments());

  REQUIRE(identity);
  CHECK(identity->soname.empty());
  CHECK(identity->forward_compat_note == std::optional<std::string>(kNote));
}

TEST_CASE("elf: search paths are read as they stand, each from its own tag") {
  const auto both =
      parse(ElfFile().with_needed("libcuda.so.1").with_rpath("/a:$ORIGIN").with_runpath("/b"));
  const auto none = parse(ElfFile().with_needed("libcuda.so.1"));

  REQUIRE(both);
  CHECK(both->rpath == "/a:$ORIGIN");
  CHECK(both->runpath == "/b");
  REQUIRE(none);
  CHECK(none->rpath.empty());
  CHECK(none->runpath.empty());
}

TEST_CASE("elf: a static program has no soname and needs nothing") {
  const auto identity = parse(ElfFile().as_executable().without_dynamic());

  REQUIRE(identity);
  CHECK(identity->head.type == 2);
  CHECK(identity->soname.empty());
  CHECK(identity->needed.empty());
  CHECK(identity->glibc_needed.empty());
  CHECK_FALSE(identity->forward_compat_note);
}

TEST_CASE("elf: of glibc's versions the highest by number counts, and private ones do not") {
  const auto highest = [](std::vector<const char*> versions) {
    ElfFile file;
    for (const char* const version : versions) {
      file.with_version_need("libc.so.6", version);
    }
    return parse(file)->glibc_needed;
  };

  CHECK(highest({"GLIBC_2.9", "GLIBC_2.28", "GLIBC_2.3.4"}) == "2.28");
  CHECK(highest({"GLIBC_2.3.4", "GLIBC_2.3"}) == "2.3.4");
  CHECK(highest({"GLIBC_PRIVATE", "GLIBC_ABI_DT_RELR", "GLIBCXX_3.4.30", "GCC_3.0"}).empty());
  CHECK(highest({"GLIBC_2.x", "GLIBC_2", "GLIBC_2.17.1.1"}).empty());
}

TEST_CASE("elf: a note is found past others, in a section or in a segment alone") {
  for (const NotePlace place :
       {NotePlace::section_and_segment, NotePlace::section, NotePlace::segment}) {
    const auto identity = parse(ElfFile()
                                    .with_foreign_note("GNU", "abcde")
                                    .with_foreign_note("NVIDIA", "")
                                    .with_note(kNote, place));

    REQUIRE(identity);
    CHECK(identity->forward_compat_note == std::optional<std::string>(kNote));
  }
}

TEST_CASE("elf: a note whose size runs past its section is what there is") {
  // The libcuda of Orin, CUDA 13.2.1, claims 41 bytes where 39 are left.
  const auto identity = parse(ElfFile()
                                  .with_note(kNote, NotePlace::section)
                                  .with(ElfField::note_descriptor_size, 4'000'000'000));

  REQUIRE(identity);
  CHECK(identity->forward_compat_note == std::optional<std::string>(kNote));
}

TEST_CASE("elf: a note that is no JSON comes back as it stands, from its own section") {
  CHECK(parse(ElfFile().with_note("not json", NotePlace::section))->forward_compat_note ==
        std::optional<std::string>("not json"));
  CHECK(parse(ElfFile().with_note("", NotePlace::section))->forward_compat_note ==
        std::optional<std::string>(""));
  CHECK_FALSE(parse(ElfFile().with_note("not json", NotePlace::segment))->forward_compat_note);
}

TEST_CASE("elf: a note that cannot be read is no note, and no error") {
  const auto note = [](ElfField field, std::uint64_t value) {
    const auto identity = parse(libcuda().with_note(kNote, NotePlace::section).with(field, value));
    REQUIRE(identity);
    CHECK(identity->soname == "libcuda.so.1");
    return identity->forward_compat_note;
  };

  CHECK_FALSE(note(ElfField::note_name_size, 0xFFFF'FFFF));
  CHECK_FALSE(note(ElfField::note_name_size, 18));
  CHECK_FALSE(note(ElfField::note_type, 1));
  CHECK_FALSE(note(ElfField::note_section_offset, 1ULL << 60U));
  CHECK_FALSE(note(ElfField::note_section_size, 11));
  CHECK_FALSE(note(ElfField::section_headers_offset, 0xFFFF'FFFF'FFFF'FFFF));
  CHECK_FALSE(note(ElfField::section_header_size, 63));
  CHECK_FALSE(note(ElfField::section_header_count, 0));
  CHECK_FALSE(note(ElfField::section_names_index, 0xFFFF));
  CHECK_FALSE(parse(ElfFile().with_note(kNote).with_note_name("GNU"))->forward_compat_note);
}

TEST_CASE("elf: what leaves the file is an error that says where") {
  struct Case {
    const char* name;
    ElfField field;
    std::uint64_t value;
    Errc code;
    const char* what;
  };
  const Case cases[] = {
      {"class", ElfField::class_byte, 3, Errc::corrupt, "ELF class does not exist"},
      {"order", ElfField::data_byte, 0, Errc::corrupt, "ELF byte order does not exist"},
      {"phoff", ElfField::program_headers_offset, 1ULL << 63U, Errc::corrupt,
       "ELF program headers leave the file"},
      {"phentsize", ElfField::program_header_size, 55, Errc::corrupt,
       "ELF program headers leave the file"},
      {"phnum", ElfField::program_header_count, 4096, Errc::corrupt,
       "ELF program headers leave the file"},
      {"PN_XNUM", ElfField::program_header_count, 0xFFFF, Errc::limit,
       "ELF file has too many segments"},
      {"load offset", ElfField::first_load_offset, ~0ULL, Errc::corrupt,
       "ELF segment leaves the file"},
      {"load size", ElfField::first_load_size, ~0ULL, Errc::corrupt, "ELF segment leaves the file"},
      {"load ends early", ElfField::first_load_size, 64, Errc::corrupt,
       "ELF string table is not in a loaded segment"},
      {"dynamic offset", ElfField::dynamic_offset, 1U << 30U, Errc::corrupt,
       "ELF segment leaves the file"},
      {"dynamic size", ElfField::dynamic_size, 1U << 30U, Errc::corrupt,
       "ELF segment leaves the file"},
      {"strtab", ElfField::string_table_address, 0, Errc::corrupt,
       "ELF string table is not in a loaded segment"},
      {"strsz", ElfField::string_table_size, 1U << 30U, Errc::corrupt,
       "ELF string table is not in a loaded segment"},
      {"soname", ElfField::soname_offset, 1U << 20U, Errc::corrupt,
       "ELF name lies outside of its string table"},
      {"needed", ElfField::needed_offset, ~0ULL, Errc::corrupt,
       "ELF name lies outside of its string table"},
      {"unended", ElfField::string_table_size, 5, Errc::corrupt, "ELF name has no end"},
      {"verneed", ElfField::version_needs_address, 3, Errc::corrupt,
       "ELF symbol versions are not in a loaded segment"},
      {"vn_next", ElfField::version_need_next, 0xFFFF'FFFF, Errc::corrupt,
       "ELF symbol versions leave their segment"},
      {"vn_aux", ElfField::version_need_names, 0xFFFF'FFFF, Errc::corrupt,
       "ELF symbol versions leave their segment"},
      {"vna_next", ElfField::version_name_next, 0x7FFF'FFFF, Errc::corrupt,
       "ELF symbol versions leave their segment"},
      {"vna_name", ElfField::version_name_offset, 0xFFFF, Errc::corrupt,
       "ELF name lies outside of its string table"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);

    const auto identity = parse(libcuda().with(c.field, c.value));

    REQUIRE_FALSE(identity);
    CHECK(identity.error().code == c.code);
    CHECK(identity.error().what == c.what);
    CHECK(identity.error().at);
  }
}

TEST_CASE("elf: the error of a table outside of the file has its numbers") {
  auto identity = parse(libcuda().with(ElfField::dynamic_offset, 1U << 30U));

  REQUIRE_FALSE(identity);
  identity.error().subject = "libcuda.so.1";
  CHECK(render(identity.error()) ==
        "libcuda.so.1: ELF segment leaves the file\n"
        "  at:       byte 176\n"
        "  expected: a segment within 1176 bytes\n"
        "  found:    128 bytes, from byte 1073741824\n");
}

TEST_CASE("elf: a file cut anywhere in its segments is an error") {
  const std::string whole = libcuda().without_sections().with_filler(1000).bytes();

  for (std::size_t size = 0; size < whole.size(); size += 7) {
    CAPTURE(size);
    const auto identity = parse_elf(as_bytes(whole).first(size));
    REQUIRE_FALSE(identity);
    CHECK((identity.error().code == (size < 4 ? Errc::not_recognized : Errc::corrupt)));
  }
}

TEST_CASE("elf: what is not ELF is not recognized") {
  for (const char* const text : {"",
                                 "\x7F"
                                 "EL",
                                 "#!/bin/sh\n", "!<arch>\n"}) {
    CAPTURE(text);
    const auto head = parse_elf_head(as_bytes(text));
    REQUIRE_FALSE(head);
    CHECK(head.error().code == Errc::not_recognized);
  }
}

TEST_CASE("elf: tables over their limits are refused") {
  ElfFile many_needed;
  for (std::size_t i = 0; i <= kElfNeededMax; ++i) {
    many_needed.with_needed("a");
  }
  ElfFile many_versions;
  for (std::size_t i = 0; i <= kElfVersionsMax; ++i) {
    many_versions.with_version_need("libc.so.6", "GLIBC_2.1");
  }
  const ElfFile long_note =
      ElfFile().with_note("{" + std::string(kElfNoteTextMax, ' ') + "}", NotePlace::section);

  for (const ElfFile& file : {many_needed, many_versions, long_note}) {
    const auto identity = parse(file);
    REQUIRE_FALSE(identity);
    CHECK(identity.error().code == Errc::limit);
  }
  const auto long_name = parse(ElfFile().with_soname(std::string(kElfStringMax + 1, 'x')));
  REQUIRE_FALSE(long_name);
  CHECK(long_name.error().what == "ELF name has no end");
  CHECK(parse(ElfFile().with_soname(std::string(kElfStringMax, 'x'))));
}

TEST_CASE("elf: a chain of versions that stays in place comes to an end") {
  // Each library record leads one byte on, and claims more libraries than there are.
  const auto identity = parse(libcuda()
                                  .with_filler(10'000)
                                  .with(ElfField::version_need_next, 1)
                                  .with(ElfField::version_needs_count, ~0ULL));

  REQUIRE_FALSE(identity);
}
