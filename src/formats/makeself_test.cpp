// SPDX-License-Identifier: Apache-2.0
#include "compatpack/formats/makeself.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "compatpack/base/limits.hpp"

#include "support/run_file.hpp"

using namespace compatpack;
using namespace compatpack::formats;
using namespace compatpack::test;
using namespace std::string_literals;

namespace {

constexpr MakeselfEra kUpstreamEras[] = {
    MakeselfEra::v2_1,   MakeselfEra::v2_3,   MakeselfEra::v2_4_0,
    MakeselfEra::v2_4_2, MakeselfEra::v2_4_3, MakeselfEra::v2_4_5,
    MakeselfEra::v2_5,   MakeselfEra::v2_6,   MakeselfEra::v2_7};

Result<MakeselfHeader> parse(std::string_view bytes) {
  return parse_makeself_header(as_bytes(bytes), {bytes.size()});
}

/// The header, or a test that fails with the reason.
MakeselfHeader header_of(std::string_view bytes) {
  auto header = parse(bytes);
  const std::string why = header ? "" : render(header.error());
  REQUIRE(why == "");
  return *std::move(header);
}

MakeselfHeader header_of(const RunFile& file) { return header_of(file.bytes); }

Error error_of(std::string_view bytes) {
  auto header = parse(bytes);
  REQUIRE_FALSE(header);
  return std::move(header).error();
}

std::string message_of(const RunFile& file) {
  Error error = error_of(file.bytes);
  error.subject = "driver.run";
  return render(error);
}

/// Where `text` first stands in the file.
std::string place_of(const RunFile& file, std::string_view text) {
  return std::to_string(file.bytes.find(text));
}

std::vector<ByteRange> one_chunk(const RunFile& file) {
  return {{file.payload_start, {file.payload_start.value + file.payload_size.value}}};
}

/// That a reader found what the builder put in.
void check_found(const MakeselfHeader& header, const RunFile& file) {
  CHECK(header.chunks == one_chunk(file));
  CHECK(header.claims == file.claims);
}

/// How many lines stand before the payload.
std::size_t lines_of_header(const RunFile& file) {
  const auto begin = file.bytes.begin();
  return static_cast<std::size_t>(
      std::count(begin, begin + static_cast<std::ptrdiff_t>(file.payload_start.value), '\n'));
}

std::size_t line_at(std::string_view bytes, std::size_t line) {
  std::size_t at = 0;
  for (; line > 1; --line) {
    at = bytes.find('\n', at) + 1;
  }
  return at;
}

/// Bytes as an embedded decompressor has them: lines, magic numbers, and text that looks like ours.
const std::string kProgram =
    "\x7f"
    "ELF\0\n\n\x28\xb5\x2f\xfd\n\xfd"
    "7zXZ\0\n\x1f\x8b\nskip=3\nfilesizes=\"1\"\n"
    "tail -n +2 $0 | cksum\noffset=`head -n 3 \"$0\" | wc -c`\nlabel=x\r\n"s;

}  // namespace

// NVIDIA ------------------------------------------------------------------------------------------

TEST_CASE("makeself: both layouts of NVIDIA are read") {
  for (const NvidiaLayout layout : {NvidiaLayout::a, NvidiaLayout::b}) {
    const bool oldest = layout == NvidiaLayout::a;
    CAPTURE(oldest);
    const RunFile file = NvidiaRun("payload", layout).with_version("304.137").build();

    const MakeselfHeader header = header_of(file);

    check_found(header, file);
    CHECK(header.family == MakeselfFamily::nvidia);
    CHECK(header.generator == (oldest ? "1.6.0-nv" : "1.6.0-nv9"));
    CHECK(header.label == "NVIDIA Accelerated Graphics Driver for Linux-x86_64 304.137");
    CHECK(header.version == "304.137");
    CHECK(header.target_arch == "x86_64");
    CHECK(header.checksums_from_line == (oldest ? 6 : 4));
    CHECK_FALSE(header.embedded_program);
    CHECK_FALSE(header.is_signed);
    CHECK_FALSE(header.is_base64);
    REQUIRE(header.claims.size() == 2);
    CHECK(header.claims[0].covers ==
          ByteRange{{line_at(file.bytes, oldest ? 6 : 4)}, {file.bytes.size()}});
  }
}

TEST_CASE("makeself: NVIDIA's sums begin where its own check begins") {
  struct Case {
    const char* check;
    unsigned from_line;
  };
  const Case cases[] = {
      {"tail -n +5 $0 | cksum", 5},
      {"tail -n +7 \"$0\" | cksum", 7},
      {"    sum=`tail -n +6 $0 | md5sum | cut -b-32`", 6},
      {"tail +6 $0 | cksum", 6},
      {"tail +9 \"$0\" | md5", 9},
      {"tail -n +8 $0 | $MD5_PATH", 8},
      // No checks: what else calls tail, and what cannot be a line of the header.
      {"tail -n +5 $0 | gzip -d", 4},
      {"tail -n $N $0 | cksum", 4},
      {"tail -n +x $0 | cksum", 4},
      {"tail -n + $0 | cksum", 4},
      {"tail -n +1 $0 | cksum", 4},
      {"tail -n +100 $0 | cksum", 4},
      {"tail -n +18446744073709551617 $0 | cksum", 4},
      {"tail -n 5 $0 | cksum", 4},
      {"cksum $0 | tail -n +5", 4},
      {"cksum", 4},
  };
  for (const Case& c : cases) {
    CAPTURE(c.check);
    const RunFile file = NvidiaRun("payload")
                             .without_check_commands()
                             .with_line_before("label", c.check)
                             .with_summed_from(c.from_line)
                             .build();

    const MakeselfHeader header = header_of(file);

    CHECK(header.checksums_from_line == c.from_line);
    check_found(header, file);
  }
}

TEST_CASE("makeself: without a check in the script the layout says where NVIDIA's sums begin") {
  for (const NvidiaLayout layout : {NvidiaLayout::a, NvidiaLayout::b}) {
    const RunFile file = NvidiaRun("payload", layout).without_check_commands().build();

    check_found(header_of(file), file);
  }
  // As nv5 to nv8 may be, which nobody has seen: layout B, and sums from another line.
  const RunFile moved = NvidiaRun("payload").with_summed_from(6).build();
  check_found(header_of(moved), moved);
  CHECK(header_of(moved).checksums_from_line == 6);
}

TEST_CASE("makeself: an embedded program is counted in lines, whatever it holds") {
  const RunFile file = NvidiaRun("payload").with_program(kProgram).build();

  const MakeselfHeader header = header_of(file);

  check_found(header, file);
  CHECK(header.family == MakeselfFamily::nvidia);
  REQUIRE(header.embedded_program);
  CHECK(header.embedded_program->end == file.payload_start);
  CHECK((file.bytes.substr(header.embedded_program->begin.value,
                           header.embedded_program->size().value) == kProgram + "\n"));
}

TEST_CASE("makeself: no text of an embedded program is taken for the script's check") {
  const RunFile file = NvidiaRun("payload").with_program(kProgram).without_check_commands().build();

  CHECK(header_of(file).checksums_from_line == 4);
}

TEST_CASE("makeself: an embedded program that lies nowhere is none") {
  for (const char* const line : {"0", "1", "999999", "99999999999999999999", "x", "", "-3"}) {
    CAPTURE(line);
    const RunFile file = NvidiaRun("payload").with_field("skip_decompress", line).build();

    const MakeselfHeader header = header_of(file);

    CHECK_FALSE(header.embedded_program);
    check_found(header, file);
  }
}

TEST_CASE("makeself: a repacked driver has no program, and any version and label") {
  const RunFile file = NvidiaRun("payload")
                           .with_field("version_string", "0")
                           .with_field("targetdir", "merged")
                           .with_label("my driver")
                           .build();

  const MakeselfHeader header = header_of(file);

  CHECK(header.version == "0");
  CHECK(header.label == "my driver");
  check_found(header, file);
}

TEST_CASE("makeself: a header of 2004 has neither version_string= nor an architecture") {
  const RunFile file = NvidiaRun("payload", NvidiaLayout::a)
                           .with_field("add_this_kernel", "")
                           .without_field("version_string")
                           .without_field("TARGET_ARCH")
                           .with_line_before("pkg_version", "major_version=1.0")
                           .build();

  const MakeselfHeader header = header_of(file);

  CHECK(header.version.empty());
  CHECK(header.target_arch.empty());
  check_found(header, file);
}

TEST_CASE("makeself: skip_decompress= is not skip=") {
  const RunFile file =
      NvidiaRun("payload").with_line_before("skip", "skip_decompress=2\nskipped=3\nSKIP=4").build();

  check_found(header_of(file), file);
}

TEST_CASE("makeself: a payload in the clear cannot speak for the header") {
  // A driver holds a copy of makeself.sh, and with --nocomp it stands in the file as it is.
  const std::string copy =
      "\nskip=3\nfilesizes=\"1 2\"\noffset=`head -n 2 \"$0\" | wc -c`\ntotalsize=\"7\"\n"
      "SHA=\"abc\"\nSIGNATURE=\"x\"\ndecrypt_cmd=\"gpg -d\"\nversion_string=9\nTARGET_ARCH=arm\n"
      "# Generated by Makeself 9.9\n# This script was generated using Makeself 9.9\n";
  for (const NvidiaLayout layout : {NvidiaLayout::a, NvidiaLayout::b}) {
    const RunFile file = NvidiaRun(copy, layout).without_field("TARGET_ARCH").build();

    const MakeselfHeader header = header_of(file);

    check_found(header, file);
    CHECK(header.family == MakeselfFamily::nvidia);
    CHECK(header.version == "535.54.03");
    CHECK(header.target_arch.empty());
  }
  for (const MakeselfEra era : kUpstreamEras) {
    const RunFile file = UpstreamRun(copy, era).build();
    CAPTURE(file.bytes);

    const MakeselfHeader header = header_of(file);

    check_found(header, file);
    CHECK(header.family == MakeselfFamily::upstream);
    CHECK_FALSE(header.is_signed);
  }
}

// Upstream ----------------------------------------------------------------------------------------

TEST_CASE("makeself: every era of upstream is read") {
  struct Case {
    MakeselfEra era;
    const char* generator;
  };
  const Case cases[] = {
      {MakeselfEra::v2_1, "2.1.4"},   {MakeselfEra::v2_3, "2.3.1"},
      {MakeselfEra::v2_4_0, "2.4.0"}, {MakeselfEra::v2_4_2, "2.4.2"},
      {MakeselfEra::v2_4_3, "2.4.3"}, {MakeselfEra::v2_4_5, "2.4.5"},
      {MakeselfEra::v2_5, "2.5.0"},   {MakeselfEra::v2_6, "2.5.0"},
      {MakeselfEra::v2_7, "2.7.1"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.generator);
    const RunFile file = UpstreamRun("payload", c.era).with_sha256().build();

    const MakeselfHeader header = header_of(file);

    check_found(header, file);
    CHECK(header.claims.size() == (c.era >= MakeselfEra::v2_4_0 ? 3 : 2));
    CHECK(header.family == MakeselfFamily::upstream);
    CHECK(header.generator == c.generator);
    CHECK(header.label == "A bundle");
    CHECK(header.version.empty());
    CHECK(header.target_arch.empty());
    CHECK(header.checksums_from_line == 0);
    CHECK_FALSE(header.embedded_program);
    CHECK_FALSE(header.is_signed);
    CHECK_FALSE(header.is_base64);
  }
}

TEST_CASE("makeself: what upstream sums is the payload and nothing of the header") {
  const RunFile file = UpstreamRun("payload").build();

  for (const DigestClaim& claim : header_of(file).claims) {
    CHECK(claim.covers == one_chunk(file)[0]);
    CHECK(claim.origin == "its header");
  }
}

TEST_CASE("makeself: makeself 1.5 counts and sums as NVIDIA's oldest layout") {
  const RunFile file = UpstreamRun("payload", MakeselfEra::v1_5).build();

  const MakeselfHeader header = header_of(file);

  check_found(header, file);
  CHECK(header.family == MakeselfFamily::nvidia);
  CHECK(header.generator == "1.5.5");
  CHECK(header.checksums_from_line == 6);
}

TEST_CASE("makeself: makeself 2.0 does not say where its payload starts") {
  CHECK(message_of(UpstreamRun("payload", MakeselfEra::v2_0).build()) ==
        "driver.run: makeself header of a version that is not read\n"
        "  at:       byte 0\n"
        "  expected: a line skip=N or offset=`head -n N\n");
}

TEST_CASE("makeself: head is called with and without -n, indented or not") {
  for (const char* const call :
       {"offset=`head -n @N@ \"$0\" | wc -c`", "offset=`head -@N@ \"$0\" | wc -c`",
        "\toffset=`head -n @N@ \"$1\" | wc -c | tr -d \" \"`",
        "    offset=`head -@N@ $0 | wc -c`"}) {
    CAPTURE(call);
    std::string script =
        "#!/bin/sh\nCRCsum=\"0\"\nMD5=\"\"\nlabel=\"x\"\ntargetdir=\"y\"\nfilesizes=\"7\"\n" +
        std::string(call) + "\n";
    script.replace(script.find("@N@"), 3, "7");

    const MakeselfHeader header = header_of(script + "payload");

    CHECK(header.family == MakeselfFamily::upstream);
    CHECK(header.chunks == std::vector{ByteRange{{script.size()}, {script.size() + 7}}});
    CHECK(header.claims.empty());
  }
}

TEST_CASE("makeself: skip= is a line off between the families") {
  const std::string head = "#!/bin/sh\nCRCsum=0\nMD5=\nlabel=x\ntargetdir=y\n";
  const std::string lines = "7\n8\n9\n";

  const auto nvidia = header_of(head + "skip=8\n" + lines);
  const auto upstream = header_of(head + "filesizes=\"4\"\nskip=\"8\"\n" + lines);

  CHECK(nvidia.chunks[0].begin.value == head.size() + 9);
  CHECK(upstream.chunks[0].begin.value == head.size() + 14 + 9 + 2);
}

TEST_CASE("makeself: no free text before or after the real lines is taken for them") {
  const std::string forged =
      "You may\nskip=5\nfilesizes=\"1\"\ntotalsize=\"1\"\nMD5=abc\nCRCsum=1\nSHA=1\n"
      "offset=`head -n 3 \"$0\" | wc -c`\n  offset=`head -5 \"$0\" | wc -c`\nlabel=forged\n"
      "decrypt_cmd=\"gpg\"\nSIGNATURE=\"x\"\nsay \"no\" \\ $HOME\n";
  const std::string raw =  // as it can stand between quotes without an escape
      "You may\nskip=5\nfilesizes=1\nMD5=abc\noffset=`head -n 3 $0 | wc -c`\nlabel=forged\n";
  for (const MakeselfEra era : kUpstreamEras) {
    CAPTURE(static_cast<int>(era));
    const bool double_quotes = era >= MakeselfEra::v2_5;
    const std::vector<RunFile> files = {
        UpstreamRun("payload", era).with_licence(forged).build(),
        UpstreamRun("payload", era).with_raw_licence(raw).build(),
        UpstreamRun("payload", era)
            .with_field("helpheader", double_quotes ? "\"" + raw + "\"" : "'" + raw + "'")
            .build(),
        UpstreamRun("payload", era).with_line_before("label", "preextract=\"" + raw + "\"").build(),
    };
    for (const RunFile& file : files) {
      const MakeselfHeader header = header_of(file);

      check_found(header, file);
      CHECK(header.label == "A bundle");
      CHECK_FALSE(header.is_signed);
    }
  }
}

TEST_CASE("makeself: an LSM text behind the real lines is not taken for them") {
  const std::string lsm =
      "cat << EOLSM\nskip=5\nfilesizes=\"1\"\nMD5=abc\noffset=`head -n 3 \"$0\"`\nEOLSM";
  const RunFile upstream = UpstreamRun("payload").with_line_before("skip", "x=1").build();
  REQUIRE(upstream.bytes.find("print_cmd_arg") != std::string::npos);
  std::string bytes = upstream.bytes;
  // Count its lines in: the builder puts lines only before fields.
  const std::string skip = "skip=\"";
  const auto at = bytes.find(skip) + skip.size();
  const auto lines = std::stoul(bytes.substr(at));
  bytes.replace(at, bytes.find('"', at) - at, std::to_string(lines + 6));
  bytes.insert(bytes.find("print_cmd_arg"), lsm + "\n");

  const MakeselfHeader header = header_of(bytes);

  CHECK(header.chunks[0].begin.value == bytes.size() - 7);
  CHECK(header.claims.size() == 2);
}

TEST_CASE("makeself: a label may hold quotes and line ends") {
  struct Case {
    const char* raw;
    const char* label;
  };
  const Case cases[] = {
      {"A \"quoted\" label", "A quoted label"},
      {"two\nlines\nskip=3", "two\nlines\nskip=3"},
      {"\\\"x\\\"", "\"x\""},
      {"", ""},
      {"\xff\x1b[31m", "\xff\x1b[31m"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.raw);
    const RunFile file = UpstreamRun("payload").with_label(c.raw).build();

    const MakeselfHeader header = header_of(file);

    CHECK(header.label == c.label);
    check_found(header, file);
  }
}

TEST_CASE("makeself: the banner may be missing or lie") {
  CHECK(header_of(UpstreamRun("payload").with_banner("").build()).generator.empty());
  const RunFile file = UpstreamRun("payload", MakeselfEra::v2_1).with_banner("2.7.1").build();
  check_found(header_of(file), file);
  CHECK(header_of(file).generator == "2.7.1");
}

TEST_CASE("makeself: several chunks lie one behind the other, each with its sums") {
  const RunFile file = UpstreamRun("first", MakeselfEra::v2_4_0)
                           .with_sha256()
                           .with_chunk("second one")
                           .with_chunk("3")
                           .build();

  const MakeselfHeader header = header_of(file);

  const auto at = file.payload_start.value;
  CHECK(header.chunks ==
        std::vector<ByteRange>{{{at}, {at + 5}}, {{at + 5}, {at + 15}}, {{at + 15}, {at + 16}}});
  REQUIRE(header.claims.size() == 9);
  for (const DigestClaim& claim : file.claims) {
    CHECK(std::find(header.claims.begin(), header.claims.end(), claim) != header.claims.end());
  }
}

TEST_CASE("makeself: chunks have a limit") {
  std::string sizes = "\"";
  std::string payload;
  for (int i = 0; i < 1'000; ++i) {
    sizes += "1 ";
    payload += "x";
  }
  const auto file = [&](const std::string& last) {
    return UpstreamRun(payload + last, MakeselfEra::v2_1)
        .with_field("filesizes", sizes + last + "\"")
        .with_field("CRCsum", "\"\"")
        .with_field("MD5", "\"\"")
        .with_crc("\"\"")
        .with_md5("\"\"")
        .build();
  };
  CHECK(header_of(file("")).chunks.size() == 1'000);
  CHECK(error_of(file("1").bytes).code == Errc::limit);
  CHECK(error_of(file("1").bytes).what == "bundle holds too many archives");
}

TEST_CASE("makeself: up to 2.4.2 bytes may follow the payload, and no sum covers them") {
  for (const MakeselfEra era : {MakeselfEra::v2_1, MakeselfEra::v2_3, MakeselfEra::v2_4_2}) {
    const RunFile file = UpstreamRun("payload", era).with_trailing("PK\x03\x04").build();

    check_found(header_of(file), file);
  }
}

TEST_CASE("makeself: from 2.4.3 on nothing may follow the payload") {
  const RunFile file = UpstreamRun("payload", MakeselfEra::v2_4_3).with_trailing("PK").build();

  CHECK(message_of(file) ==
        "driver.run: bundle is longer than its header says\n"
        "  at:       byte " +
            place_of(file, "totalsize=") +
            "\n"
            "  expected: totalsize=7\n"
            "  found:    9 bytes behind the header\n"
            "  hint:     something was appended to it, or it was changed in transit\n");
}

TEST_CASE("makeself: what follows NVIDIA's payload is under its sums") {
  const RunFile file = NvidiaRun("payload").with_trailing("more").build();

  CHECK(header_of(file).claims[0].covers.end == ByteOffset{file.bytes.size()});
  CHECK(header_of(file).chunks[0].end == ByteOffset{file.bytes.size()});
}

TEST_CASE("makeself: base64 is told where the header tells it") {
  CHECK(header_of(UpstreamRun("payload", MakeselfEra::v2_7).with_base64().build()).is_base64);
  for (const MakeselfEra era : {MakeselfEra::v2_1, MakeselfEra::v2_4_5}) {
    const RunFile file = UpstreamRun("payload", era).with_base64().build();

    CHECK_FALSE(header_of(file).is_base64);
    check_found(header_of(file), file);
  }
}

TEST_CASE("makeself: an encrypted payload is refused by name") {
  for (const char* const command :
       {"openssl enc -aes-256-cbc -d", "gpg -d", "base64 -d | openssl enc -d", "base64x -d"}) {
    CAPTURE(command);
    const RunFile file = UpstreamRun("payload")
                             .with_field("decrypt_cmd", "\"" + std::string(command) + "\"")
                             .build();

    CHECK(message_of(file) ==
          "driver.run: bundle is encrypted\n"
          "  at:       byte " +
              place_of(file, "decrypt_cmd=") +
              "\n"
              "  expected: a payload that needs no password\n"
              "  found:    " +
              std::string(command) +
              "\n"
              "  hint:     ask whoever made it for one that is not encrypted\n");
    CHECK(error_of(file.bytes).code == Errc::unsupported);
  }
  const RunFile blank = UpstreamRun("payload").with_field("decrypt_cmd", "\" \"").build();
  check_found(header_of(blank), blank);
}

TEST_CASE("makeself: a signature is said to be there") {
  CHECK(header_of(UpstreamRun("payload").with_field("SIGNATURE", "\"iQEz\"").build()).is_signed);
}

// Checksums ---------------------------------------------------------------------------------------

TEST_CASE("makeself: zeros, or nothing, are no claim") {
  const std::string zeros(64, '0');
  for (const char* const crc : {"0000000000", "0", "\"\"", "\"0000000000\""}) {
    CAPTURE(crc);
    const RunFile file = NvidiaRun("payload").with_crc(crc).with_md5(zeros.substr(0, 32)).build();

    CHECK(header_of(file).claims.empty());
  }
  const RunFile upstream = UpstreamRun("payload")
                               .with_crc("\"0000000000\"")
                               .with_md5("\"" + zeros.substr(0, 32) + "\"")
                               .with_sha("\"" + zeros + "\"")
                               .build();
  CHECK(header_of(upstream).claims.empty());
  // One of several chunks may have a sum where another has none.
  const RunFile mixed = UpstreamRun("a", MakeselfEra::v2_4_0)
                            .with_chunk("b")
                            .with_crc("\"0000000000 12\"")
                            .with_md5("\"\"")
                            .build();
  const auto claims = header_of(mixed).claims;
  REQUIRE(claims.size() == 1);
  CHECK(claims[0].digest == "12");
  CHECK(claims[0].covers.begin.value == mixed.payload_start.value + 1);
}

TEST_CASE("makeself: sums are kept in one form, whatever theirs") {
  const RunFile file = UpstreamRun("payload")
                           .with_crc("\"0000000012\"")
                           .with_md5("\"" + std::string(32, 'A') + "\"")
                           .with_sha("\"  " + std::string(64, 'F') + " \"")
                           .build();

  const auto claims = header_of(file).claims;

  REQUIRE(claims.size() == 3);
  CHECK(claims[0].digest == "12");
  CHECK(claims[1].digest == std::string(32, 'a'));
  CHECK(claims[2].digest == std::string(64, 'f'));
  CHECK(claims[2].algorithm == DigestAlgorithm::sha256);
}

TEST_CASE("makeself: a malformed sum is no missing one") {
  struct Case {
    const char* field;
    std::string text;
    const char* expected;
  };
  const std::string md5 = "MD5= with 32 hexadecimal digits";
  const Case cases[] = {
      {"CRCsum", "4294967296", "CRCsum= with a number of 32 bits"},
      {"CRCsum", "-1", "CRCsum= with a number of 32 bits"},
      {"CRCsum", "12ab", "CRCsum= with a number of 32 bits"},
      {"MD5", "abc", md5.c_str()},
      {"MD5", std::string(31, 'a'), md5.c_str()},
      {"MD5", std::string(33, 'a'), md5.c_str()},
      {"MD5", std::string(31, 'a') + "g", md5.c_str()},
      {"SHA", std::string(32, 'a'), "SHA= with 64 hexadecimal digits"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.text);
    UpstreamRun run("payload");
    const std::string quoted = "\"" + c.text + "\"";
    if (c.field == "CRCsum"s) {
      run.with_crc(quoted);
    } else if (c.field == "MD5"s) {
      run.with_md5(quoted);
    } else {
      run.with_sha(quoted);
    }
    const RunFile file = run.build();

    CHECK(message_of(file) ==
          "driver.run: makeself header has a malformed checksum\n"
          "  at:       byte " +
              place_of(file, c.field) +
              "\n"
              "  expected: " +
              c.expected +
              "\n"
              "  found:    " +
              c.text + "\n");
    CHECK(error_of(file.bytes).code == Errc::corrupt);
  }
  const RunFile nvidia = NvidiaRun("payload").with_md5("abc").build();
  CHECK(error_of(nvidia.bytes).code == Errc::corrupt);
}

TEST_CASE("makeself: fewer sums than chunks are an error") {
  const RunFile file =
      UpstreamRun("a", MakeselfEra::v2_1).with_chunk("b").with_crc("\"1\"").build();

  const Error error = error_of(file.bytes);

  CHECK(error.code == Errc::corrupt);
  CHECK(error.expected == "CRCsum= with one for each of 2 chunks");
  CHECK(error.found == "1");
}

// Damage ------------------------------------------------------------------------------------------

TEST_CASE("makeself: a cut-off download says where and what to do") {
  const RunFile file = NvidiaRun("payload").build();
  RunFile cut = file;
  cut.bytes.resize(file.payload_start.value - 3);

  CHECK(message_of(cut) ==
        "driver.run: bundle ends before its payload\n"
        "  at:       byte " +
            std::to_string(cut.bytes.size()) +
            "\n"
            "  expected: the payload, at line " +
            std::to_string(lines_of_header(file) + 1) +
            "\n"
            "  found:    end of file\n"
            "  hint:     the download is incomplete; fetch it again\n");
}

TEST_CASE("makeself: a bundle without a byte of payload is cut off") {
  for (const RunFile& whole : {NvidiaRun("p").build(), UpstreamRun("p").build(),
                               UpstreamRun("p", MakeselfEra::v2_1).build()}) {
    const std::string header = whole.bytes.substr(0, whole.payload_start.value);

    CHECK(error_of(header).what == "bundle ends before its payload");
    CHECK(error_of(header.substr(0, header.size() - 1)).code == Errc::corrupt);
  }
}

TEST_CASE("makeself: a bundle cut at any byte is refused, or is NVIDIA's with less payload") {
  for (const RunFile& file : {NvidiaRun("payload").with_program(kProgram).build(),
                              UpstreamRun("payload").with_sha256().build(),
                              UpstreamRun("payload", MakeselfEra::v2_1).build()}) {
    for (std::size_t size = 0; size < file.bytes.size(); ++size) {
      const auto header = parse(std::string_view(file.bytes).substr(0, size));
      if (header) {
        CHECK(header->family == MakeselfFamily::nvidia);
        CHECK(header->chunks == std::vector{ByteRange{file.payload_start, {size}}});
      }
    }
  }
}

TEST_CASE("makeself: upstream's sizes show what is missing") {
  RunFile file = UpstreamRun("payload").build();
  file.bytes.pop_back();

  CHECK(message_of(file) ==
        "driver.run: bundle is shorter than its header says\n"
        "  at:       byte " +
            place_of(file, "filesizes=") +
            "\n"
            "  expected: filesizes= of at most 6 bytes together\n"
            "  found:    7\n"
            "  hint:     the download is incomplete; fetch it again\n");
}

TEST_CASE("makeself: totalsize= must be the size, and a size") {
  struct Case {
    const char* total;
    const char* what;
  };
  const Case cases[] = {
      {"\"8\"", "bundle is shorter than its header says"},
      {"\"6\"", "bundle is longer than its header says"},
      {"\"\"", "makeself header has a malformed size"},
      {"\"many\"", "makeself header has a malformed size"},
      {"\"-7\"", "makeself header has a malformed size"},
      {"\"18446744073709551623\"", "makeself header has a malformed size"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.total);
    const RunFile file = UpstreamRun("payload").with_field("totalsize", c.total).build();

    const Error error = error_of(file.bytes);

    CHECK(error.code == Errc::corrupt);
    CHECK(error.what == c.what);
    CHECK(error.at == ByteOffset{file.bytes.find("totalsize=")});
  }
}

TEST_CASE("makeself: filesizes= must hold sizes that fit") {
  struct Case {
    const char* sizes;
    const char* what;
    const char* found;
  };
  const char* const malformed = "makeself header has a malformed size";
  const char* const shorter = "bundle is shorter than its header says";
  const Case cases[] = {
      {"\"\"", malformed, ""},
      {"\" \"", malformed, " "},
      {"\"-7\"", malformed, "-7"},
      {"\"7x\"", malformed, "7x"},
      {"\"$(id)\"", malformed, "$(id)"},
      {"\"18446744073709551616\"", malformed, "18446744073709551616"},
      {"\"18446744073709551615\"", shorter, "18446744073709551615"},
      {"\"8\"", shorter, "8"},
      {"\"1 18446744073709551615\"", shorter, "1 18446744073709551615"},
      {"\"4 4\"", shorter, "4 4"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.sizes);
    const RunFile file = UpstreamRun("payload").with_field("filesizes", c.sizes).build();

    const Error error = error_of(file.bytes);

    CHECK(error.code == Errc::corrupt);
    CHECK(error.what == c.what);
    CHECK(error.found == c.found);
    CHECK(error.at == ByteOffset{file.bytes.find("filesizes=")});
  }
}

TEST_CASE("makeself: skip= must be a line that a payload can start at") {
  struct Case {
    const char* skip;
    const char* what;
  };
  const char* const nowhere = "makeself header does not say where its payload starts";
  const char* const beyond = "bundle ends before its payload";
  const Case cases[] = {
      {"", nowhere},
      {"many", nowhere},
      {"-3", nowhere},
      {"+8", nowhere},
      {"0", nowhere},
      {"1", nowhere},
      {"18446744073709551616", nowhere},
      {"18446744073709551615", beyond},
      {"9999", beyond},
  };
  for (const Case& c : cases) {
    CAPTURE(c.skip);
    const std::string quoted = "\"" + std::string(c.skip) + "\"";
    for (const RunFile& file : {NvidiaRun("payload").with_field("skip", c.skip).build(),
                                UpstreamRun("payload").with_field("skip", quoted).build()}) {
      const Error error = error_of(file.bytes);

      CHECK(error.code == Errc::corrupt);
      CHECK(error.what == c.what);
      CHECK(error.at ==
            ByteOffset{c.what == beyond ? file.bytes.size() : file.bytes.find("\nskip=") + 1});
    }
  }
}

TEST_CASE("makeself: the message for a header without a place says what is wanted") {
  const RunFile file = NvidiaRun("payload").with_field("skip", "many").build();

  CHECK(message_of(file) ==
        "driver.run: makeself header does not say where its payload starts\n"
        "  at:       byte " +
            place_of(file, "skip=") +
            "\n"
            "  expected: the number of a line\n"
            "  found:    many\n");
}

TEST_CASE("makeself: a payload cannot start before the line that says where") {
  for (const char* const lines : {"1", "2", "3", "4", "9"}) {
    CAPTURE(lines);
    for (const RunFile& file :
         {NvidiaRun("payload").with_field("skip", lines == "9"s ? "3" : lines).build(),
          UpstreamRun("payload").with_field("skip", "\"" + std::string(lines) + "\"").build()}) {
      const Error error = error_of(file.bytes);

      CHECK(error.code == Errc::corrupt);
      CHECK(error.expected == "the number of a line behind this one");
      CHECK(error.at == ByteOffset{file.bytes.find("\nskip=") + 1});
    }
  }
}

TEST_CASE("makeself: sums cannot begin behind the header") {
  const RunFile file = NvidiaRun("payload")
                           .without_check_commands()
                           .with_line_before("label", "tail -n +99 $0 | cksum")
                           .build();

  const Error error = error_of(file.bytes);

  CHECK(error.code == Errc::corrupt);
  CHECK(error.what == "makeself header is too short");
  CHECK(error.expected == "at least 99 lines");
  CHECK(error.at == file.payload_start);
}

TEST_CASE("makeself: a header may fill what is read of the file, and no more") {
  constexpr auto kLimit = static_cast<std::size_t>(Limits{}.header.value);
  const auto with_program = [](std::size_t size) {
    return NvidiaRun("payload").with_program(std::string(size, 'x')).build();
  };
  const std::size_t rest = with_program(1).payload_start.value - 1;
  const RunFile fits = with_program(kLimit - rest - 1);
  const RunFile large = with_program(kLimit - rest);
  const auto head = [](const RunFile& file) {
    return as_bytes(std::string_view(file.bytes).substr(0, kLimit));
  };

  const auto header = parse_makeself_header(head(fits), fits.size());
  const auto refused = parse_makeself_header(head(large), large.size());

  REQUIRE(header);
  CHECK(header->chunks == one_chunk(fits));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == Errc::limit);
  CHECK(refused.error().what == "makeself header is too long");
  CHECK(refused.error().at == ByteOffset{kLimit});
}

TEST_CASE("makeself: a script that is no makeself bundle is not recognized") {
  const std::string gzexe =
      "#!/bin/sh\nskip=44\n\ntab='\t'\nnl='\n'\nIFS=\" $tab$nl\"\n\numask=`umask`\n";
  const char* const fields[] = {"CRCsum", "MD5", "label", "targetdir"};
  std::vector<std::string> scripts = {
      "", "#!", "#!/bin/sh\n", gzexe, "MZ\x1b[31mhello", "\n" + NvidiaRun("payload").build().bytes};
  for (const char* const field : fields) {
    scripts.push_back(NvidiaRun("payload").without_field(field).build().bytes);
    scripts.push_back(UpstreamRun("payload").without_field(field).build().bytes);
  }
  for (const std::string& script : scripts) {
    CAPTURE(script);
    const Error error = error_of(script);

    CHECK(error.code == Errc::not_recognized);
    CHECK(error.at == ByteOffset{0});
    CHECK(error.found == script.substr(0, 16));
  }
  Error error = error_of("MZ\x1b[31mhello");
  error.subject = "x.run";
  CHECK(render(error) ==
        "x.run: not a makeself bundle\n"
        "  at:       byte 0\n"
        "  expected: \"#!\", and lines CRCsum=, MD5=, label=, targetdir=\n"
        "  found:    MZ\\x1b[31mhello\n");
}

TEST_CASE("makeself: line ends of DOS are named, not blamed on the sums") {
  for (const RunFile& file :
       {NvidiaRun("payload").with_crlf().build(), UpstreamRun("payload").with_crlf().build()}) {
    CHECK(error_of(file.bytes).code == Errc::corrupt);
  }
  CHECK(message_of(NvidiaRun("payload").with_crlf().build()) ==
        "driver.run: makeself header has CR LF line ends\n"
        "  at:       byte 10\n"
        "  expected: LF line ends\n"
        "  found:    CR LF: the file was converted as if it were text\n"
        "  hint:     fetch it again, in binary mode\n");
}

TEST_CASE("makeself: a hostile header takes no more time than its size") {
  // Four MiB each: a search from every place to the end of the line would take minutes.
  const std::string head = "#!/bin/sh\nCRCsum=0\nMD5=\nlabel=x\ntargetdir=y\n";
  for (const std::string part : {"tail ", "tail -n +x cksum ", "offset=`head -",
                                 "\noffset=`head -5", "a=\n", "a=\"", "\n"}) {
    CAPTURE(part);
    std::string bytes = head;
    while (bytes.size() < Limits{}.header.value) {
      bytes += part;
    }
    static_cast<void>(parse(bytes + "\nskip=3\n"));
    static_cast<void>(parse(head + "skip=7\n" + bytes));
    static_cast<void>(parse(head + "licensetxt=\"" + bytes + "\"\nskip=3\n"));
  }
}
