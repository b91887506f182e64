// SPDX-License-Identifier: Apache-2.0
#include "compatpack/formats/archive.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "support/compress.hpp"
#include "support/tar_file.hpp"

using namespace compatpack;
using namespace compatpack::formats;
using namespace compatpack::test;
using namespace std::string_literals;

namespace {

struct Member {
  Entry entry;
  std::string content = {};
};

struct Unpacked {
  std::vector<Member> members;
  std::optional<Error> error;
};

Unpacked unpack_from(io::Source& source, const Limits& limits = {}, std::size_t block = 4096) {
  Unpacked unpacked;
  auto reader = ArchiveReader::open(source, limits);
  if (!reader) {
    unpacked.error = reader.error();
    return unpacked;
  }
  std::vector<std::byte> buffer(block);
  for (;;) {
    auto entry = (*reader)->next();
    if (!entry) {
      unpacked.error = entry.error();
      return unpacked;
    }
    if (!*entry) {
      return unpacked;
    }
    Member& member = unpacked.members.emplace_back(Member{**entry});
    EntryContent content(**reader);
    for (;;) {
      auto count = content.read(buffer);
      if (!count) {
        unpacked.error = count.error();
        return unpacked;
      }
      if (*count == 0) {
        break;
      }
      member.content += as_text(std::span(buffer).first(*count));
    }
  }
}

Unpacked unpack(std::string_view bytes, const Limits& limits = {}) {
  io::MemorySource source(as_bytes(bytes));
  return unpack_from(source, limits);
}

Unpacked unpack(const TarFile& tar, const Limits& limits = {}) {
  return unpack(tar.bytes(), limits);
}

/// The members of an archive in which nothing is wrong.
std::vector<Member> members_of(const TarFile& tar) {
  Unpacked unpacked = unpack(tar);
  const std::string why = unpacked.error ? render(*unpacked.error) : "";
  REQUIRE(why == "");
  return std::move(unpacked.members);
}

Error error_of(const TarFile& tar, const Limits& limits = {}) {
  Unpacked unpacked = unpack(tar, limits);
  REQUIRE(unpacked.error);
  return *std::move(unpacked.error);
}

/// A number as GNU tar writes those that octal digits cannot hold.
std::string base256(std::uint64_t value) {
  std::string field(12, '\0');
  field[0] = '\x80';
  for (std::size_t i = field.size(); i-- > 4; value >>= 8U) {
    field[i] = static_cast<char>(value & 0xFFU);
  }
  return field;
}

/// A file of `size` bytes with `text` at `offset` and holes around it, in pax format 1.0: the map
/// is the first block of the content.
TarFile sparse(std::uint64_t size, std::uint64_t offset, const std::string& text) {
  std::string map = "1\n" + std::to_string(offset) + "\n" + std::to_string(text.size()) + "\n";
  map.resize(512, '\0');
  return TarFile()
      .file("GNUSparseFile.1/x", map + text)
      .with_pax("GNU.sparse.major", "1")
      .with_pax("GNU.sparse.minor", "0")
      .with_pax("GNU.sparse.name", "holes")
      .with_pax("GNU.sparse.realsize", std::to_string(size));
}

/// Gives what it holds, then its own error.
class FailingSource final : public io::Source {
 public:
  explicit FailingSource(std::string_view bytes) : inner_(as_bytes(bytes)) {}
  Result<std::size_t> read(std::span<std::byte> into) override {
    CP_TRY(const std::size_t count, inner_.read(into));
    if (count == 0) {
      return Error{.code = Errc::mismatch, .what = "the decoder is unhappy", .at = ByteOffset{7}};
    }
    return count;
  }

 private:
  io::MemorySource inner_;
};

const std::string kUtf8 = "caf\xc3\xa9/\xe6\x97\xa5.so";
const std::string kLatin1 = "caf\xe9/\xff\xfe.so";

}  // namespace

TEST_CASE("archive: entries come in order, with content, modes and targets") {
  const auto members = members_of(TarFile()
                                      .folder("./lib/")
                                      .file("./lib/libcuda.so.1", "elf", 04755)
                                      .file("empty", "", 0600)
                                      .symlink("libcuda.so", "../lib/libcuda.so.1")
                                      .hardlink("again", "./lib/libcuda.so.1"));

  REQUIRE(members.size() == 5);
  CHECK(members[0].entry.path == "./lib/");
  CHECK(members[0].entry.type == EntryType::folder);
  CHECK(members[0].entry.mode_bits == 0755);
  CHECK(members[1].entry.path == "./lib/libcuda.so.1");
  CHECK(members[1].entry.type == EntryType::file);
  CHECK(members[1].entry.size == ByteCount{3});
  CHECK(members[1].entry.mode_bits == 04755);
  CHECK(members[1].content == "elf");
  CHECK(members[2].entry.size == ByteCount{0});
  CHECK(members[2].content.empty());
  CHECK(members[3].entry.type == EntryType::symlink);
  CHECK(members[3].entry.link_target == "../lib/libcuda.so.1");
  CHECK(members[3].entry.size == ByteCount{0});
  CHECK(members[4].entry.type == EntryType::hardlink);
  CHECK(members[4].entry.link_target == "./lib/libcuda.so.1");
  CHECK(members[4].content.empty());
}

TEST_CASE("archive: of a mode that does not fit, twelve bits are left") {
  for (const char* const mode : {"0322245", "7777777", "0102245"}) {
    CAPTURE(mode);
    const auto members = members_of(TarFile().file("a", "x").with_mode_field(mode));

    REQUIRE(members.size() == 1);
    CHECK(members[0].entry.mode_bits <= 07777);
    CHECK((members[0].entry.mode_bits & 0777) ==
          (std::string_view(mode) == "7777777" ? 0777 : 0245));
  }
}

TEST_CASE("archive: small blocks on both sides change nothing") {
  const std::string text = sample_text(3000);
  const std::string bytes = TarFile().file("a", text).file("b", "b").bytes();
  for (const std::size_t step : {1U, 511U, 513U, 100'000U}) {
    CAPTURE(step);
    io::MemorySource memory(as_bytes(bytes));
    SlowSource slow(memory, step);

    const Unpacked unpacked = unpack_from(slow, {}, 7);

    CHECK_FALSE(unpacked.error);
    REQUIRE(unpacked.members.size() == 2);
    CHECK((unpacked.members[0].content == text));
    CHECK(unpacked.members[1].content == "b");
  }
}

TEST_CASE("archive: content that is not read is skipped") {
  const std::string bytes = TarFile().file("a", sample_text(5000)).file("b", "b").bytes();
  io::MemorySource source(as_bytes(bytes));
  auto reader = ArchiveReader::open(source, {});
  REQUIRE(reader);

  REQUIRE((*reader)->next());
  std::array<std::byte, 10> into{};
  CHECK(*(*reader)->read(into) == 10);
  const auto second = (*reader)->next();

  REQUIRE(second);
  CHECK((*second)->path == "b");
  CHECK(*(*reader)->read(into) == 1);
  CHECK(into[0] == std::byte{'b'});
}

TEST_CASE("archive: after the end it goes on saying so") {
  const std::string bytes = TarFile().file("a", "a").bytes();
  io::MemorySource source(as_bytes(bytes));
  auto reader = ArchiveReader::open(source, {});
  REQUIRE(reader);
  REQUIRE((*reader)->next());

  for (int i = 0; i < 3; ++i) {
    const auto end = (*reader)->next();
    REQUIRE(end);
    CHECK_FALSE(*end);
  }
}

// Names -------------------------------------------------------------------------------------------

TEST_CASE("archive: long names and targets are read in every way they are stored") {
  const std::string folder(90, 'd');
  const std::string name = folder + "/" + std::string(60, 'n');
  const std::string very_long = "x/" + std::string(3000, 'n');
  for (const LongNames how : {LongNames::gnu, LongNames::pax, LongNames::ustar_prefix}) {
    CAPTURE(static_cast<int>(how));
    const auto members =
        members_of(TarFile().with_long_names(how).file(name, "content").file("b", "b"));

    REQUIRE(members.size() == 2);
    CHECK(members[0].entry.path == name);
    CHECK(members[0].content == "content");
    CHECK(members[1].entry.path == "b");
  }
  for (const LongNames how : {LongNames::gnu, LongNames::pax}) {
    CAPTURE(static_cast<int>(how));
    const auto members = members_of(TarFile(TarFile::Flavour::gnu)
                                        .with_long_names(how)
                                        .symlink(very_long, very_long + "t")
                                        .hardlink("h" + very_long, very_long));

    REQUIRE(members.size() == 2);
    CHECK(members[0].entry.path == very_long);
    CHECK(members[0].entry.link_target == very_long + "t");
    CHECK(members[1].entry.path == "h" + very_long);
    CHECK(members[1].entry.link_target == very_long);
  }
}

TEST_CASE("archive: names and targets are bytes, UTF-8 or not") {
  for (const std::string& name : {kUtf8, kLatin1, "a\nb\x1b[31m"s, "back\\slash"s}) {
    CAPTURE(name);
    const std::string longer = name + std::string(200, 'x');
    const auto members = members_of(TarFile()
                                        .file(name, "1")
                                        .symlink("s", name)
                                        .hardlink("h", name)
                                        .file(longer, "2")
                                        .with_long_names(LongNames::pax)
                                        .file(longer, "3")
                                        .symlink("t", longer));

    REQUIRE(members.size() == 6);
    CHECK(members[0].entry.path == name);
    CHECK(members[0].content == "1");
    CHECK(members[1].entry.link_target == name);
    CHECK(members[2].entry.link_target == name);
    CHECK(members[3].entry.path == longer);
    CHECK(members[4].entry.path == longer);
    CHECK(members[4].content == "3");
    CHECK(members[5].entry.link_target == longer);
  }
}

TEST_CASE("archive: names that lead outside come out as they are") {
  for (const char* const name : {"/etc/passwd", "../x", "a/../../b", "//x", "."}) {
    CAPTURE(name);
    const auto members = members_of(TarFile().file(name, "x").symlink("l", name));

    REQUIRE(members.size() == 2);
    CHECK(members[0].entry.path == name);
    CHECK(members[1].entry.link_target == name);
  }
}

TEST_CASE("archive: a member without a name is refused") {
  CHECK(render(error_of(TarFile().file("ok", "x").file("", "x"))) ==
        "archive member has no name\n"
        "  at:       byte 1024 of the extracted archive\n"
        "  expected: a name\n"
        "  found:    none\n");
  // An empty record of pax takes back what an earlier one said.
  CHECK(members_of(TarFile().file("x", "x").with_pax("path", ""))[0].entry.path == "x");
}

TEST_CASE("archive: devices, FIFOs and what it does not know are special") {
  const auto members =
      members_of(TarFile().character_device("c").block_device("b").fifo("f").file("x", "x"));

  REQUIRE(members.size() == 4);
  for (int i = 0; i < 3; ++i) {
    CHECK(members[static_cast<std::size_t>(i)].entry.type == EntryType::special);
    CHECK(members[static_cast<std::size_t>(i)].entry.size == ByteCount{0});
  }
  CHECK(members[3].entry.type == EntryType::file);
}

// Sizes -------------------------------------------------------------------------------------------

TEST_CASE("archive: a size may stand in base 256") {
  const auto members = members_of(TarFile(TarFile::Flavour::gnu)
                                      .file("a", "content")
                                      .with_size_field(base256(7))
                                      .file("b", "b"));

  REQUIRE(members.size() == 2);
  CHECK(members[0].entry.size == ByteCount{7});
  CHECK(members[0].content == "content");
}

TEST_CASE("archive: the size of pax counts, not that of the header after it") {
  // A reader that goes by the header would find the smuggled member within the content.
  const std::string inner = TarFile().file("smuggled", "!").without_end().bytes();
  const auto members = members_of(TarFile()
                                      .file("outer", inner)
                                      .with_pax("size", std::to_string(inner.size()))
                                      .with_size_field("00000000000")
                                      .file("next", "n"));

  REQUIRE(members.size() == 2);
  CHECK(members[0].entry.path == "outer");
  CHECK(members[0].entry.size == ByteCount{inner.size()});
  CHECK((members[0].content == inner));
  CHECK(members[1].entry.path == "next");
}

TEST_CASE("archive: the size of pax counts behind a long name of GNU too") {
  const std::string inner = TarFile().file("smuggled", "!").without_end().bytes();
  const std::string name(150, 'n');
  const auto members = members_of(TarFile()
                                      .file(name, inner)
                                      .with_pax("size", std::to_string(inner.size()))
                                      .with_size_field("00000000000")
                                      .file("next", "n"));

  REQUIRE(members.size() == 2);
  CHECK(members[0].entry.path == name);
  CHECK((members[0].content == inner));
}

TEST_CASE("archive: a record of pax that cannot be read is damage, not a warning") {
  for (const char* const size : {"many", "-5", "99999999999999999999"}) {
    CAPTURE(size);
    CHECK(error_of(TarFile().file("a", "a").with_pax("size", size).file("b", "b")).code !=
          Errc::io);
  }
  // The record's own length is wrong: its key would be lost without a word.
  std::string bytes = TarFile().file("a", "a").with_pax("path", "real").bytes();
  const std::size_t at = bytes.find("13 path=real\n");
  REQUIRE(at != std::string::npos);
  bytes.replace(at, 2, "x3");
  const Unpacked unpacked = unpack(bytes);
  REQUIRE(unpacked.error);
  CHECK(unpacked.error->code == Errc::corrupt);
  CHECK(unpacked.error->what == "tar archive is damaged");
}

TEST_CASE("archive: sizes that are negative or beyond 63 bits are refused") {
  const std::string negative(12, '\xff');
  for (const std::string& field :
       {negative, base256(~0ULL), base256(1ULL << 63U), "77777777777"s, "-0000000005"s}) {
    CAPTURE(field);
    const Unpacked unpacked =
        unpack(TarFile(TarFile::Flavour::gnu).file("a", "a").with_size_field(field));

    for (const Member& member : unpacked.members) {
      CHECK(member.entry.size <= Limits{}.member);
    }
    CHECK(unpacked.error);
  }
}

TEST_CASE("archive: holes read as zeros") {
  const auto members = members_of(sparse(20'000, 8'192, std::string(512, 'x')).file("next", "n"));

  REQUIRE(members.size() == 2);
  CHECK(members[0].entry.path == "holes");
  CHECK(members[0].entry.size == ByteCount{20'000});
  CHECK((members[0].content == std::string(8'192, '\0') + std::string(512, 'x') +
                                   std::string(20'000 - 8'192 - 512, '\0')));
  CHECK(members[1].content == "n");
}

TEST_CASE("archive: a hole at the end of a file, or instead of it, reads as zeros") {
  const auto with_map = [](std::string map) {
    map.resize(512, '\0');
    return TarFile()
        .file("x", map)
        .with_pax("GNU.sparse.major", "1")
        .with_pax("GNU.sparse.minor", "0")
        .with_pax("GNU.sparse.realsize", "1000");
  };
  for (const char* const map : {"1\n1000\n0\n", "0\n"}) {
    CHECK((members_of(with_map(map))[0].content == std::string(1'000, '\0')));
  }
}

TEST_CASE("archive: holes count against the limits") {
  CHECK(error_of(sparse(8ULL << 40U, 8'192, "x")).what == "archive member is too large");
}

TEST_CASE("archive: holes that are read have a limit of their own, over all members") {
  Limits limits;
  limits.holes = {20'000};
  const auto two = [](std::uint64_t size) {
    return sparse(size, 8'192, std::string(512, 'x')).file("next", std::string(30'000, 'n'));
  };

  CHECK_FALSE(unpack(two(20'000), limits).error);
  const Error error = error_of(two(40'000), limits);
  CHECK(error.code == Errc::limit);
  CHECK(error.what == "the archive's sparse members are too large");
  CHECK(error.expected == "holes of at most 20000 bytes");
}

TEST_CASE("archive: content is as long as its entry says, or it is damage") {
  // What lies behind the file's end, and a map that promises more than there is.
  for (const TarFile& tar :
       {sparse(100, 8'192, std::string(512, 'x')), sparse(8'400, 8'192, std::string(512, 'x'))}) {
    const Unpacked unpacked = unpack(tar);

    REQUIRE(unpacked.error);
    CHECK(unpacked.error->code == Errc::corrupt);
    for (const Member& member : unpacked.members) {
      CHECK(member.content.size() <= member.entry.size.value);
    }
  }
}

// Damage ------------------------------------------------------------------------------------------

TEST_CASE("archive: what is no tar is refused") {
  for (const std::string& bytes : {""s, "x"s, std::string(511, 'x'), std::string(5000, 'x'),
                                   "PK\x03\x04"s, "\x1f\x8b\x08"s + std::string(600, 'x')}) {
    CAPTURE(bytes.size());
    const Unpacked unpacked = unpack(bytes);

    CHECK(unpacked.members.empty());
    REQUIRE(unpacked.error);
    CHECK(unpacked.error->code == Errc::corrupt);
  }
  CHECK(render(*unpack(std::string(5000, 'x')).error) ==
        "tar archive is damaged\n"
        "  at:       byte 0 of the extracted archive\n"
        "  expected: a tar archive\n"
        "  found:    Unrecognized archive format\n");
  CHECK(render(*unpack("").error) ==
        "tar archive ends early\n"
        "  at:       byte 0 of the extracted archive\n"
        "  found:    end of file\n"
        "  hint:     the download is incomplete; fetch it again\n");
}

TEST_CASE("archive: a damaged header is refused where it stands") {
  const TarFile tar = TarFile().file("a", "a").file("b", "b").with_checksum_field("000000");

  const Unpacked unpacked = unpack(tar);

  CHECK(unpacked.members.size() == 1);
  REQUIRE(unpacked.error);
  CHECK(render(*unpacked.error) ==
        "tar archive is damaged\n"
        "  at:       byte 1024 of the extracted archive\n"
        "  expected: a tar archive\n"
        "  found:    Damaged tar archive\n");
}

TEST_CASE("archive: an archive cut at any byte is refused, or ends between two members") {
  const std::string content = sample_text(700);
  const std::string bytes = TarFile()
                                .with_long_names(LongNames::pax)
                                .file("a", content)
                                .file(std::string(150, 'n'), "second")
                                .symlink("s", "a")
                                .bytes();
  const Unpacked whole = unpack(bytes);
  REQUIRE(whole.members.size() == 3);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const Unpacked unpacked = unpack(std::string_view(bytes).substr(0, size));
    if (unpacked.error) {
      CHECK(unpacked.error->code == Errc::corrupt);
      continue;
    }
    CAPTURE(size);
    // tar(1) takes an archive without its end marker; a stream's own check finds what is missing.
    const bool between = size == 1536 || size >= bytes.size() - 1536;
    CHECK(between);
    for (std::size_t i = 0; i < unpacked.members.size(); ++i) {
      CHECK((unpacked.members[i].content == whole.members[i].content));
    }
  }
}

TEST_CASE("archive: a missing end marker is no error, and what follows one is not looked at") {
  CHECK(members_of(TarFile().file("a", "a").without_end()).size() == 1);
  CHECK(members_of(TarFile().file("a", "a").with_trailing("PK\x03\x04 and more")).size() == 1);
  const std::string second = TarFile().file("b", "b").bytes();
  CHECK(members_of(TarFile().file("a", "a").with_trailing(second)).size() == 1);
  CHECK(members_of(TarFile()).empty());
}

TEST_CASE("archive: an error of the source comes through as it is, wherever it comes") {
  const std::string bytes =
      TarFile().file("a", sample_text(2000)).file("b", "b").without_end().bytes();
  for (std::size_t size = 0; size <= bytes.size(); size += 128) {
    CAPTURE(size);
    FailingSource source(std::string_view(bytes).substr(0, size));

    const Unpacked unpacked = unpack_from(source);

    REQUIRE(unpacked.error);
    CHECK(render(*unpacked.error) == "the decoder is unhappy\n  at:       byte 7\n");
    CHECK(unpacked.error->code == Errc::mismatch);
  }
}

TEST_CASE("archive: an error comes again") {
  const std::string damaged =
      TarFile().file("a", "a").file("b", "b").with_checksum_field("000000").bytes();
  const std::string large = TarFile().file("a", "a").file("b", "long").file("c", "c").bytes();
  for (const std::string& bytes : {damaged, large}) {
    io::MemorySource source(as_bytes(bytes));
    Limits limits;
    limits.member = {3};
    auto reader = ArchiveReader::open(source, limits);
    REQUIRE(reader);
    REQUIRE((*reader)->next());
    const auto first = (*reader)->next();
    REQUIRE_FALSE(first);

    std::array<std::byte, 10> into{};
    const auto content = (*reader)->read(into);
    const auto second = (*reader)->next();

    REQUIRE_FALSE(content);
    REQUIRE_FALSE(second);
    CHECK(render(content.error()) == render(first.error()));
    CHECK(render(second.error()) == render(first.error()));
  }
}

// Limits ------------------------------------------------------------------------------------------

TEST_CASE("archive: the limits are kept, and what reaches them is read") {
  const TarFile tar = TarFile().file("a", "four").folder("d").file("b", "seven!!");
  struct Case {
    const char* name;
    Limits limits;
    const char* what;
  };
  const auto limits = [](std::uint64_t members, std::uint64_t member, std::uint64_t unpacked) {
    Limits all;
    all.members = members;
    all.member = {member};
    all.unpacked = {unpacked};
    return all;
  };
  CHECK_FALSE(unpack(tar, limits(3, 7, 11)).error);
  const Case cases[] = {
      {"members", limits(2, 7, 11), "archive has too many members"},
      {"member", limits(3, 6, 11), "archive member is too large"},
      {"unpacked", limits(3, 7, 10), "archive is too large"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    const Error error = error_of(tar, c.limits);

    CHECK(error.code == Errc::limit);
    CHECK(error.what == c.what);
    CHECK(error.at == ByteOffset{1536});
  }
  CHECK(render(error_of(tar, limits(3, 6, 11))) ==
        "archive member is too large\n"
        "  at:       byte 1536 of the extracted archive\n"
        "  expected: at most 6 bytes\n"
        "  found:    b, 7 bytes\n");
  CHECK(error_of(tar, limits(3, 7, 10)).expected == "at most 10 bytes");
  CHECK(error_of(tar, limits(2, 7, 11)).expected == "at most 2");
}

TEST_CASE("archive: long names and headers of pax in a row do no harm, and many are refused") {
  struct Case {
    const char* name;
    char flag;
    std::string content;
  };
  const Case cases[] = {{"GNU's long name", 'L', "long\0"s},
                        {"GNU's long target", 'K', "long\0"s},
                        {"a header of pax", 'x', "13 path=long\n"},
                        {"a global header of pax", 'g', "10 a=long\n"}};
  for (const Case& c : cases) {
    CAPTURE(c.name);
    const auto chain = [&c](int length) {
      TarFile tar;
      for (int i = 0; i < length; ++i) {
        tar.file("header", c.content).with_type_flag(c.flag);
      }
      return tar.file("short", "x");
    };
    const Unpacked few = unpack(chain(3));
    if (few.error) {
      CHECK(few.error->code == Errc::corrupt);
    } else {
      REQUIRE(few.members.size() == 1);
      CHECK(few.members[0].content == "x");
    }
    // Each is a call within a call for libarchive, which has to end it before the stack does.
    CHECK(error_of(chain(20'000)).code == Errc::corrupt);
  }
}
