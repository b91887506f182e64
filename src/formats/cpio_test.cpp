// SPDX-License-Identifier: Apache-2.0
#include "compatpack/formats/cpio.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "support/compress.hpp"
#include "support/cpio_file.hpp"
#include "support/rpm_file.hpp"

using namespace compatpack;
using namespace compatpack::formats;
using compatpack::test::CpioField;
using compatpack::test::CpioFile;
using compatpack::test::CpioForm;
using compatpack::test::RpmEra;
using RpmBuilder = compatpack::test::RpmFile;

namespace {

/// Files as a header lists them.
class Listed {
 public:
  Listed& add(const char* path, EntryType type, std::uint64_t size, std::string target = "") {
    files.push_back({.path = *RelPath::parse(path),
                     .type = type,
                     .size = {size},
                     .mode_bits = 0640,
                     .link_target = std::move(target)});
    return *this;
  }
  Listed& file(const char* path, std::uint64_t size) { return add(path, EntryType::file, size); }
  Listed& folder(const char* path) { return add(path, EntryType::folder, 4096); }
  Listed& symlink(const char* path, const std::string& target) {
    return add(path, EntryType::symlink, target.size(), target);
  }
  Listed& ghost(const char* path) {
    file(path, 0);
    files.back().is_ghost = true;
    return *this;
  }
  /// A file with `names`, all of one size.
  Listed& links(const std::vector<const char*>& names, std::uint64_t size) {
    const std::size_t last = files.size() + names.size() - 1;
    for (const char* const name : names) {
      file(name, size);
      files.back().last_link = last;
    }
    return *this;
  }

  std::vector<RpmFile> files;
};

/// All entries as text, one a line: "file a 3 abc", "hardlink b -> a".
Result<std::string> read_all(io::Source& source, const std::vector<RpmFile>& files,
                             const Limits& limits = {}) {
  CpioReader reader(source, files, limits);
  std::string out;
  for (;;) {
    CP_TRY(const auto entry, reader.next());
    if (!entry) {
      return out;
    }
    constexpr std::array<const char*, 5> kNames = {"file", "folder", "symlink", "hardlink",
                                                   "special"};
    out += std::string(kNames.at(static_cast<std::size_t>(entry->type))) + " " + entry->path;
    if (!entry->link_target.empty()) {
      out += " -> " + entry->link_target;
    }
    if (entry->type == EntryType::file) {
      out += " " + std::to_string(entry->size.value) + " ";
    }
    std::array<std::byte, 3> block{};
    for (;;) {
      CP_TRY(const std::size_t count, reader.read(block));
      if (count == 0) {
        break;
      }
      out += as_text(std::span(block).first(count));
    }
    out += '\n';
  }
}

Result<std::string> read_all(const std::string& bytes, const std::vector<RpmFile>& files,
                             const Limits& limits = {}) {
  io::MemorySource source(as_bytes(bytes));
  return read_all(source, files, limits);
}

Result<std::string> read_all(const CpioFile& file, const Listed& listed,
                             const Limits& limits = {}) {
  return read_all(file.bytes(), listed.files, limits);
}

Listed sample_list() {
  return Listed().folder("d").file("d/a", 3).symlink("d/l", "a").ghost("g").file("d/empty", 0);
}

CpioFile sample(CpioForm form = CpioForm::newc) {
  return CpioFile(form)
      .folder("./d")
      .file("./d/a", "abc")
      .symlink("./d/l", "a")
      .file("./d/empty", "");
}

constexpr const char* kSample =
    "folder d\n"
    "file d/a 3 abc\n"
    "symlink d/l -> a\n"
    "file d/empty 0 \n";

}  // namespace

TEST_CASE("cpio: entries of each form come out with their content") {
  CHECK(*read_all(sample(), sample_list()) == kSample);
  CHECK(*read_all(sample(CpioForm::crc), sample_list()) == kSample);
  CHECK(*read_all(CpioFile(CpioForm::stripped)
                      .indexed(0, "")
                      .indexed(1, "abc")
                      .indexed(2, "a")
                      .indexed(4, ""),
                  sample_list()) == kSample);
}

TEST_CASE("cpio: a source that gives a byte at a time is read the same") {
  const std::string bytes = sample().bytes();
  const Listed listed = sample_list();
  io::MemorySource all(as_bytes(bytes));
  test::SlowSource source(all, 1);

  CHECK(*read_all(source, listed.files) == kSample);
}

TEST_CASE("cpio: content that nobody reads is skipped") {
  const std::string bytes = sample().bytes();
  const Listed listed = sample_list();
  io::MemorySource source(as_bytes(bytes));
  CpioReader reader(source, listed.files, {});

  std::size_t count = 0;
  for (auto entry = reader.next(); entry && *entry; entry = reader.next()) {
    ++count;
  }

  CHECK(count == 4);
  CHECK_FALSE(*reader.next());
}

TEST_CASE("cpio: names may begin with ./ or / or neither, and the root is one") {
  const Listed listed = Listed().folder(".").file("a/b", 1);
  for (const auto& names : {std::pair{".", "./a/b"}, {"./", "/a/b"}, {"/", "a/b"}}) {
    CAPTURE(names.first);
    CHECK(*read_all(CpioFile().folder(names.first).file(names.second, "x"), listed) ==
          "folder .\nfile a/b 1 x\n");
  }
}

TEST_CASE("cpio: zeros behind the end are padding") {
  CHECK(*read_all(sample().with_trailing(std::string(50'000, '\0')), sample_list()) == kSample);
}

TEST_CASE("cpio: hard links come out behind the name that has the content") {
  const Listed listed = Listed().links({"a", "b", "c"}, 3).file("d", 1);
  const char* const expected =
      "file c 3 xyz\n"
      "hardlink a -> c\n"
      "hardlink b -> c\n"
      "file d 1 d\n";

  CHECK(*read_all(CpioFile().file("a", "").file("b", "").file("c", "xyz").file("d", "d"), listed) ==
        expected);
  CHECK(*read_all(CpioFile(CpioForm::stripped)
                      .indexed(0, "")
                      .indexed(1, "")
                      .indexed(2, "xyz")
                      .indexed(3, "d"),
                  listed) == expected);
}

TEST_CASE("cpio: hard links may lie apart, and come before or behind the content") {
  const Listed listed = Listed().links({"a", "b", "c"}, 3).file("d", 1);

  CHECK(*read_all(CpioFile().file("a", "").file("d", "d").file("b", "xyz").file("c", ""), listed) ==
        "file d 1 d\n"
        "file b 3 xyz\n"
        "hardlink a -> b\n"
        "hardlink c -> b\n");
}

TEST_CASE("cpio: hard links of which each has the content are files of their own") {
  const Listed listed = Listed().links({"a", "b"}, 3);

  CHECK(*read_all(CpioFile().file("a", "xyz").file("b", "xyz"), listed) ==
        "file a 3 xyz\nfile b 3 xyz\n");
}

TEST_CASE("cpio: of empty hard links the first is the file") {
  const Listed listed = Listed().links({"a", "b"}, 0);

  CHECK(*read_all(CpioFile().file("a", "").file("b", ""), listed) ==
        "file a 0 \nhardlink b -> a\n");
}

TEST_CASE("cpio: the payload of a package of each era fits its list") {
  for (const RpmEra era : {RpmEra::v3, RpmEra::v4, RpmEra::format6}) {
    CAPTURE(static_cast<int>(era));
    const std::string file = RpmBuilder(era)
                                 .folder("/opt")
                                 .file("/opt/a", "content")
                                 .hardlink("/opt/b")
                                 .symlink("/opt/l", "a")
                                 .ghost("/g")
                                 .bytes();
    const auto header = parse_rpm_header(as_bytes(file), {file.size()});
    REQUIRE(header);

    const auto entries = read_all(file.substr(header->payload.begin.value), header->files);

    REQUIRE(entries);
    CHECK(*entries ==
          "folder opt\n"
          "file opt/b 7 content\n"
          "hardlink opt/a -> opt/b\n"
          "symlink opt/l -> a\n");
  }
}

TEST_CASE("cpio: sizes of 4 GiB and more come from the list") {
  const Listed listed = Listed().file("a", 5'000'000'000);
  const std::string bytes = CpioFile(CpioForm::stripped).indexed(0, "start").bytes();
  io::MemorySource source(as_bytes(bytes));
  Limits limits;
  limits.member = {6'000'000'000};
  CpioReader reader(source, listed.files, limits);

  const auto entry = reader.next();

  REQUIRE(entry);
  CHECK((*entry)->size.value == 5'000'000'000);
  const auto next = reader.next();
  REQUIRE_FALSE(next);
  CHECK(next.error().what == "cpio archive ends early");
}

TEST_CASE("cpio: what is wrong with an archive is in the error") {
  struct Case {
    const char* name;
    CpioFile file;
    Errc code;
    const char* what;
    std::uint64_t at;
  };
  const char* const number = "cpio archive has a malformed number";
  const char* const name = "cpio archive has a malformed name";
  const char* const listed = "payload holds a file that the header does not list";
  const char* const type = "payload holds a file of another type than the header lists";
  const char* const size = "payload holds a file of another size than the header lists";
  const char* const lacks = "payload lacks a file that the header lists";
  const CpioFile d = CpioFile().folder("./d");  // ends at byte 116
  auto add = [&d](const std::function<void(CpioFile&)>& change) {
    CpioFile file = d;
    change(file);
    return file;
  };
  const std::vector<Case> cases = {
      {"another magic", add([](CpioFile& f) { f.file("d/a", "abc").with_magic("070703"); }),
       Errc::corrupt, "cpio archive is damaged", 116},
      {"odc", add([](CpioFile& f) { f.file("d/a", "abc").with_magic("070707"); }),
       Errc::unsupported, "cpio archive of a form that is not read", 116},
      {"sign in a number",
       add([](CpioFile& f) { f.file("d/a", "abc").with_field(CpioField::size, "-0000001"); }),
       Errc::corrupt, number, 116},
      {"no hexadecimal digit",
       add([](CpioFile& f) { f.file("d/a", "abc").with_field(CpioField::check, "0000000g"); }),
       Errc::corrupt, number, 116},
      {"blank name",
       add([](CpioFile& f) { f.file("d/a", "abc").with_field(CpioField::name_size, "00000001"); }),
       Errc::corrupt, name, 116},
      {"no name",
       add([](CpioFile& f) { f.file("d/a", "abc").with_field(CpioField::name_size, "00000000"); }),
       Errc::corrupt, name, 116},
      {"longest name",
       add([](CpioFile& f) { f.file("d/a", "abc").with_field(CpioField::name_size, "ffffffff"); }),
       Errc::corrupt, name, 116},
      {"name without its NUL",
       add([](CpioFile& f) { f.file("d/a", "abc").with_field(CpioField::name_size, "00000003"); }),
       Errc::corrupt, name, 116},
      {"NUL in a name", add([](CpioFile& f) { f.file(std::string("d/a\0b", 5), "abc"); }),
       Errc::corrupt, name, 116},
      {"not listed", add([](CpioFile& f) { f.file("d/x", "abc"); }), Errc::corrupt, listed, 116},
      {"leaves", add([](CpioFile& f) { f.file("./../d/a", "abc"); }), Errc::corrupt, listed, 116},
      {"two slashes", add([](CpioFile& f) { f.file(".//d/a", "abc"); }), Errc::corrupt, listed,
       116},
      {"folder for a file", add([](CpioFile& f) { f.folder("d/a"); }), Errc::corrupt, type, 116},
      {"link for a file", add([](CpioFile& f) { f.symlink("d/a", "abc"); }), Errc::corrupt, type,
       116},
      {"file for a link", add([](CpioFile& f) { f.file("d/l", "a"); }), Errc::corrupt, type, 116},
      {"device for a file", add([](CpioFile& f) { f.member("d/a", "", 0020644); }), Errc::corrupt,
       type, 116},
      {"shorter", add([](CpioFile& f) { f.file("d/a", "ab"); }), Errc::corrupt, size, 116},
      {"longer", add([](CpioFile& f) { f.file("d/a", "abcd"); }), Errc::corrupt, size, 116},
      {"empty", add([](CpioFile& f) { f.file("d/a", ""); }), Errc::corrupt, size, 116},
      {"folder with content", CpioFile().member("d", "x", 0040755), Errc::corrupt, size, 0},
      {"another link", add([](CpioFile& f) { f.symlink("d/l", "b"); }), Errc::corrupt,
       "payload holds another symbolic link than the header lists", 116},
      {"longer link", add([](CpioFile& f) { f.symlink("d/l", "ab"); }), Errc::corrupt, size, 116},
      {"twice", add([](CpioFile& f) { f.folder("./d"); }), Errc::corrupt,
       "payload holds a file twice", 116},
      {"trailer with content", add([](CpioFile& f) {
         f.file("TRAILER!!!", "").with_field(CpioField::size, "00000001").without_trailer();
       }),
       Errc::corrupt, "cpio archive has a trailer with content", 116},
      {"files missing", d, Errc::corrupt, lacks, 116},
      {"no file at all", CpioFile(), Errc::corrupt, lacks, 0},
      {"more behind the end", sample().with_trailing(std::string("\0\0x", 3)), Errc::corrupt,
       "payload goes on behind the end of its archive", 602},
      {"another archive behind the end", sample().with_trailing("070701"), Errc::corrupt,
       "payload goes on behind the end of its archive", 600},
      {"index beyond the list", CpioFile(CpioForm::stripped).indexed(5, ""), Errc::corrupt, listed,
       0},
      {"largest index", CpioFile(CpioForm::stripped).indexed(0xFFFF'FFFF, ""), Errc::corrupt,
       listed, 0},
      {"index of no number", CpioFile(CpioForm::stripped).indexed(0, "").with_index("0000000x"),
       Errc::corrupt, listed, 0},
      {"another link, stripped", CpioFile(CpioForm::stripped).indexed(2, "b"), Errc::corrupt,
       "payload holds another symbolic link than the header lists", 0},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);

    const auto entries = read_all(c.file, sample_list());

    REQUIRE_FALSE(entries);
    CHECK(entries.error().code == c.code);
    CHECK(entries.error().what == c.what);
    CHECK(entries.error().stream == "the extracted archive");
    REQUIRE(entries.error().at);
    CHECK(entries.error().at->value == c.at);
  }
}

TEST_CASE("cpio: a sum that does not match is found, and an Error stays") {
  const std::string bytes =
      CpioFile(CpioForm::crc).file("a", "abc").with_field(CpioField::check, "00000127").bytes();
  const Listed listed = Listed().file("a", 3);
  io::MemorySource source(as_bytes(bytes));
  CpioReader reader(source, listed.files, {});
  REQUIRE(reader.next());

  const auto next = reader.next();

  REQUIRE_FALSE(next);
  CHECK(next.error().what == "cpio archive has a sum that its content does not have");
  CHECK(next.error().expected == "295");
  CHECK(next.error().found == "294");
  CHECK_FALSE(reader.next());
  std::array<std::byte, 4> block{};
  CHECK_FALSE(reader.read(block));
}

TEST_CASE("cpio: hard links without their content are refused") {
  const Listed listed = Listed().links({"a", "b"}, 3);

  const auto entries = read_all(CpioFile().file("a", "").file("b", ""), listed);

  REQUIRE_FALSE(entries);
  CHECK(entries.error().what == "payload lacks the content of hard links");
  CHECK(entries.error().expected == "a");
}

TEST_CASE("cpio: what is too large or too many is refused") {
  const Listed listed = Listed().file("a", 6).file("b", 6);
  const CpioFile file = CpioFile().file("a", "123456").file("b", "123456");
  Limits limits;
  limits.members = 2;
  limits.member = {6};
  limits.unpacked = {12};
  CHECK(read_all(file, listed, limits));

  const auto what_with = [&](const Limits& changed) {
    const auto entries = read_all(file, listed, changed);
    REQUIRE_FALSE(entries);
    CHECK(entries.error().code == Errc::limit);
    return entries.error().what;
  };
  Limits members = limits;
  members.members = 1;
  CHECK(what_with(members) == "archive has too many members");
  Limits member = limits;
  member.member = {5};
  CHECK(what_with(member) == "archive member is too large");
  Limits unpacked = limits;
  unpacked.unpacked = {11};
  CHECK(what_with(unpacked) == "archive is too large");
}

TEST_CASE("cpio: a link target is not read into memory beyond what a path can be") {
  const Listed listed = Listed().symlink("l", std::string(5'000, 'x'));

  const auto entries = read_all(CpioFile().symlink("l", std::string(5'000, 'x')), listed);

  REQUIRE_FALSE(entries);
  CHECK(entries.error().what == "payload holds a symbolic link without a proper target");
}

TEST_CASE("cpio: an archive cut anywhere is refused") {
  for (const CpioForm form : {CpioForm::newc, CpioForm::crc}) {
    const std::string bytes = sample(form).bytes();
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      CAPTURE(size);
      const auto entries = read_all(bytes.substr(0, size), sample_list().files);

      REQUIRE_FALSE(entries);
      CHECK(entries.error().what == "cpio archive ends early");
      CHECK(entries.error().at->value == size);
    }
  }
}

TEST_CASE("cpio: a flipped byte never gives more or other names than the list has") {
  const std::string good = sample().bytes();
  const Listed listed = sample_list();
  std::size_t refused = 0;
  for (std::size_t at = 0; at < good.size(); ++at) {
    std::string bytes = good;
    bytes[at] = static_cast<char>(bytes[at] ^ '\x01');

    const auto entries = read_all(bytes, listed.files);

    refused += entries ? 0U : 1U;
    if (entries) {
      CAPTURE(at);
      CHECK(std::count(entries->begin(), entries->end(), '\n') == 4);
    }
  }
  CHECK(refused > good.size() / 4);  // fields of time and owner say nothing here
}

TEST_CASE("cpio: an Error of the source is passed on") {
  class Failing final : public io::Source {
   public:
    Result<std::size_t> read(std::span<std::byte>) override {
      return Error{.code = Errc::mismatch, .what = "the stream's check does not match"};
    }
  };
  Failing source;
  const Listed listed = sample_list();

  const auto entries = read_all(source, listed.files);

  REQUIRE_FALSE(entries);
  CHECK(entries.error().code == Errc::mismatch);
}
