// SPDX-License-Identifier: Apache-2.0
#include "compatpack/formats/ar.hpp"

#include <algorithm>
#include <vector>

#include <doctest/doctest.h>

#include "support/deb_file.hpp"

using namespace compatpack;
using namespace compatpack::formats;
using compatpack::test::ArNames;
using compatpack::test::DebFile;
using compatpack::test::make_deb;

namespace {

ReadAt reader_of(const std::string& file) {
  return [&file](ByteOffset at, std::span<std::byte> into) -> Result<std::size_t> {
    CHECK_FALSE(into.empty());  // no Source takes that
    const auto rest = as_bytes(file).subspan(std::min<std::size_t>(at.value, file.size()));
    const std::size_t count = std::min(rest.size(), into.size());
    std::copy_n(rest.begin(), count, into.begin());
    return count;
  };
}

Result<DebLayout> plan(const std::string& file) { return plan_deb({file.size()}, reader_of(file)); }
Result<DebLayout> plan(const DebFile& file) { return plan(file.bytes()); }

std::string content(const std::string& file, const ArMember& member) {
  return file.substr(member.content.begin.value, member.content.size().value);
}

DebFile start() { return DebFile().member("debian-binary", "2.0\n"); }
DebFile control_only() { return start().member("control.tar", "control"); }

}  // namespace

TEST_CASE("ar: the parts of a Debian package are found, odd sizes and all") {
  for (const ArNames names : {ArNames::plain, ArNames::gnu, ArNames::bsd}) {
    CAPTURE(static_cast<int>(names));
    const std::string file = DebFile(names)
                                 .member("debian-binary", "2.0\n")
                                 .member("control.tar.gz", "odd")
                                 .member("data.tar.zst", "even")
                                 .bytes();

    const auto layout = plan(file);

    REQUIRE(layout);
    CHECK(layout->format == "2.0");
    CHECK(layout->control.name == "control.tar.gz");
    CHECK(content(file, layout->control) == "odd");
    CHECK(layout->data.name == "data.tar.zst");
    CHECK(content(file, layout->data) == "even");
    CHECK(layout->others.empty());
    CHECK(layout->signatures.empty());
  }
}

TEST_CASE("ar: each compression that dpkg knows is taken, for each member by itself") {
  for (const char* const suffix : {"", ".gz", ".xz", ".zst", ".bz2", ".lzma"}) {
    CAPTURE(suffix);
    CHECK(plan(start().member(std::string("control.tar") + suffix, "").member("data.tar", "")));
    CHECK(plan(start().member("control.tar", "").member(std::string("data.tar") + suffix, "")));
  }
}

TEST_CASE("ar: minor versions and further lines of debian-binary do not matter") {
  const auto layout = plan(DebFile()
                               .member("debian-binary", "2.17\nmore\n")
                               .member("control.tar", "")
                               .member("data.tar", ""));

  REQUIRE(layout);
  CHECK(layout->format == "2.17");
}

TEST_CASE("ar: members with an underscore are ignored, and a signature is named") {
  const auto layout = plan(start()
                               .member("_first", "x")
                               .member("control.tar", "")
                               .member("_second", "x")
                               .member("data.tar", "")
                               .member("_gpgorigin", "signature")
                               .member("later", "x"));

  REQUIRE(layout);
  REQUIRE(layout->others.size() == 4);
  CHECK(layout->others[3].name == "later");
  REQUIRE(layout->signatures.size() == 1);
  CHECK(layout->signatures[0].name == "_gpgorigin");
}

TEST_CASE("ar: a signature covers the contents of the three members, in order") {
  const std::string bytes = start()
                                .member("_gpgmaint", "sig\n")
                                .member("control.tar", "control")
                                .member("_other", "x")
                                .member("data.tar", "data!")
                                .member("_gpgorigin", "signature")
                                .bytes();

  const auto layout = plan(bytes);

  REQUIRE(layout);
  REQUIRE(layout->signatures.size() == 2);
  CHECK(layout->signatures[0].name == "_gpgmaint");
  CHECK(layout->signatures[0].bytes == "sig\n");
  CHECK(layout->signatures[1].bytes == "signature");
  for (const Signature& signature : layout->signatures) {
    std::string covered;
    for (const ByteRange& range : signature.covers) {
      covered += bytes.substr(range.begin.value, range.size().value);
    }
    CHECK(covered == "2.0\ncontroldata!");
    CHECK(signature.unfit.empty());
  }
}

TEST_CASE("ar: a signature that cannot be checked is there, and says why") {
  for (const std::string& content :
       {std::string(), std::string(kSignatureMax + 1, 'x'),
        std::string("\n-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n")}) {
    CAPTURE(content.substr(0, 40));

    const auto layout = plan(
        start().member("control.tar", "").member("data.tar", "").member("_gpgbuilder", content));

    REQUIRE(layout);
    REQUIRE(layout->signatures.size() == 1);
    CHECK_FALSE(layout->signatures[0].unfit.empty());
  }
}

TEST_CASE("ar: the last member's padding may be missing, and padding may be anything") {
  CHECK(plan(make_deb("odd", "odd").with_padding("X").without_last_padding()));
}

TEST_CASE("ar: a package that ends early says where and what to do") {
  const std::string file = make_deb("control", "data").bytes();
  const std::string cut = file.substr(0, file.size() - 3);

  auto layout = plan(cut);

  REQUIRE_FALSE(layout);
  layout.error().subject = "driver.deb";
  CHECK(render(layout.error()) ==
        "driver.deb: ar archive ends within a member\n"
        "  at:       byte 188\n"
        "  expected: a member of 4 bytes\n"
        "  found:    end of file at byte 201\n"
        "  hint:     the download is incomplete; fetch it again\n");
}

TEST_CASE("ar: what is wrong with a package is in the error") {
  struct Case {
    const char* name;
    DebFile file;
    Errc code;
    std::uint64_t at;
    const char* found;
  };
  const std::vector<Case> cases = {
      {"no ar archive", start().with_magic("!<thin>\n"), Errc::not_recognized, 0, "!<thin>\n"},
      {"another ar archive", DebFile().member("libx.o", ""), Errc::not_recognized, 8, "libx.o"},
      {"an underscore first", DebFile().member("_x", "").member("debian-binary", "2.0\n"),
       Errc::not_recognized, 8, "_x"},
      {"no version", DebFile().member("debian-binary", ""), Errc::corrupt, 68, ""},
      {"version without a dot", DebFile().member("debian-binary", "2\n"), Errc::corrupt, 68, "2\n"},
      {"version without an end", DebFile().member("debian-binary", "2.0"), Errc::corrupt, 68,
       "2.0"},
      {"version and a blank", DebFile().member("debian-binary", "2.0 \n"), Errc::corrupt, 68,
       "2.0 \n"},
      {"version 3", DebFile().member("debian-binary", "3.0\n"), Errc::unsupported, 68, "3.0"},
      {"version 0.939", DebFile().member("debian-binary", "0.939000\n"), Errc::unsupported, 68,
       "0.939000"},
      {"two versions", start().member("debian-binary", "2.0\n"), Errc::corrupt, 72,
       "debian-binary"},
      {"two controls", control_only().member("control.tar.gz", ""), Errc::corrupt, 140,
       "control.tar.gz"},
      {"two data", make_deb("", "").member("data.tar.gz", ""), Errc::corrupt, 192, "data.tar.gz"},
      {"control behind data", make_deb("", "").member("control.tar", ""), Errc::corrupt, 192,
       "control.tar"},
      {"data before control", start().member("data.tar", ""), Errc::corrupt, 72, "data.tar"},
      {"another member first", start().member("other", ""), Errc::corrupt, 72, "other"},
      {"another member within", control_only().member("other", ""), Errc::corrupt, 140, "other"},
      {"no data", control_only(), Errc::corrupt, 140, "end of file at byte 140"},
      {"no control", start(), Errc::corrupt, 72, "end of file at byte 72"},
      {"no member", DebFile(), Errc::corrupt, 8, "end of file at byte 8"},
      {"unknown compression", control_only().member("data.tar.lz", ""), Errc::unsupported, 140,
       "data.tar.lz"},
      {"compression without a dot", control_only().member("data.tarxz", ""), Errc::unsupported, 140,
       "data.tarxz"},
      {"negative size", start().with_size_field("-1"), Errc::corrupt, 56, "-1        "},
      {"no size", start().with_size_field(""), Errc::corrupt, 56, "          "},
      {"size in hexadecimal", start().with_size_field("0x4"), Errc::corrupt, 56, "0x4       "},
      {"size and junk", start().with_size_field("4 x"), Errc::corrupt, 56, "4 x       "},
      {"size beyond the file", start().with_size_field("9999999999"), Errc::corrupt, 56,
       "end of file at byte 72"},
      {"header's end", start().with_end_field("`x"), Errc::corrupt, 66, "`x"},
      {"no name", start().with_name_field(""), Errc::corrupt, 8, "                "},
      {"only a slash", start().with_name_field("/"), Errc::not_recognized, 8, "/"},
      {"table of names", start().with_name_field("//"), Errc::not_recognized, 8, "/"},
      {"place in the table", start().with_name_field("/0"), Errc::unsupported, 8, "/0"},
      {"name longer than content", start().with_name_field("#1/5"), Errc::corrupt, 8, "#1/5"},
      {"name of no number", start().with_name_field("#1/x"), Errc::corrupt, 8, "#1/x"},
      {"name too long", DebFile().member("x", std::string(300, 'n')).with_name_field("#1/257"),
       Errc::limit, 8, "#1/257"},
      {"garbage", make_deb("", "").with_trailing("x"), Errc::corrupt, 192,
       "end of file at byte 193"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);

    const auto layout = plan(c.file);

    REQUIRE_FALSE(layout);
    CHECK(layout.error().code == c.code);
    CHECK(layout.error().found == c.found);
    REQUIRE(layout.error().at);
    CHECK(layout.error().at->value == c.at);
  }
}

TEST_CASE("ar: a package has a limited number of members") {
  DebFile file = make_deb("", "");
  for (std::size_t i = 3; i < kArMembersMax; ++i) {
    file.member("_x", "");
  }
  CHECK(plan(file));

  const auto layout = plan(file.member("_x", ""));

  REQUIRE_FALSE(layout);
  CHECK(layout.error().code == Errc::limit);
}

TEST_CASE("ar: a package cut anywhere is refused") {
  const std::string file = make_deb("control", "data").bytes();
  for (std::size_t size = 0; size < file.size(); ++size) {
    CAPTURE(size);
    CHECK_FALSE(plan(file.substr(0, size)));
  }
}

TEST_CASE("ar: a flipped byte never leads out of the file") {
  const std::string good = make_deb("control", "data").bytes();
  for (std::size_t at = 0; at < good.size(); ++at) {
    for (const char flip : {'\x01', '\x80', '\xff'}) {
      std::string file = good;
      file[at] = static_cast<char>(file[at] ^ flip);

      const auto layout = plan(file);

      if (layout) {
        CAPTURE(at);
        CHECK(layout->data.content.end.value <= file.size());
        CHECK(layout->control.content.end <= layout->data.content.begin);
      }
    }
  }
}

TEST_CASE("ar: what the file's reader says is passed on") {
  const auto layout = plan_deb({100}, [](ByteOffset, std::span<std::byte>) -> Result<std::size_t> {
    return io_error("cannot read", "driver.deb", 5);
  });

  REQUIRE_FALSE(layout);
  CHECK(layout.error().code == Errc::io);
}
