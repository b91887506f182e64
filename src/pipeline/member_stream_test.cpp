// SPDX-License-Identifier: Apache-2.0
#include "compatpack/pipeline/member_stream.hpp"

#include <filesystem>
#include <fstream>
#include <utility>

#include <doctest/doctest.h>

#include "support/compress.hpp"
#include "support/rpm_file.hpp"
#include "support/run_file.hpp"
#include "support/tar_file.hpp"
#include "support/temp_dir.hpp"

using namespace compatpack;
using namespace compatpack::pipeline;
using compatpack::formats::Compression;
using compatpack::test::NvidiaRun;
using compatpack::test::RunFile;
using compatpack::test::TarFile;
using compatpack::test::TempDir;
using compatpack::test::UpstreamRun;

namespace {

/// Writes down the members, and can fail at one.
class Recorder final : public MemberVisitor {
 public:
  Result<Done> visit(const Member& member, MemberContent& content) override {
    std::string text(100, '\0');
    CP_TRY(const std::size_t count,
           io::read_full(content, std::as_writable_bytes(std::span(text.data(), text.size()))));
    text.resize(count);
    if (reads_all) {
      CP_CHECK(io::drain(content));
    }
    members.push_back(member.path.text() + "=" + text + member.link_target);
    if (fails_at && member.path.text() == fails_at->subject) {
      return *fails_at;
    }
    return Done{};
  }
  std::vector<std::string> members = {};
  std::optional<Error> fails_at = {};
  bool reads_all = false;  // of a member, not only its beginning
};

/// A bundle on disk, and one pass over it.
class Pass {
 public:
  explicit Pass(const RunFile& run) : Pass(run.bytes) {}
  explicit Pass(const std::string& bytes) {
    std::ofstream(path(), std::ios::binary) << bytes;
    auto opened = Bundle::open(path(), nullptr, Limits{});
    REQUIRE(opened);
    bundle_ = *std::move(opened);
  }

  [[nodiscard]] std::string path() const { return (temp_.path() / "x.run").string(); }
  Result<Verification> read(const ReadOptions& options = {}) {
    return read_members(*bundle_, options, recorder);
  }

  Recorder recorder = {};

 private:
  TempDir temp_;
  std::unique_ptr<Bundle> bundle_;
};

RunFile run_of(const TarFile& tar, const char* compression = "gzip") {
  const auto how = test::compression_named(compression);
  REQUIRE(how);
  return NvidiaRun(test::compress(how->compression, tar.bytes(), how->options)).build();
}

/// The Error of a pass over a bundle of this archive.
Error error_of(const TarFile& tar) {
  Pass pass(run_of(tar));
  const auto read = pass.read();
  REQUIRE_FALSE(read);
  return read.error();
}

}  // namespace

TEST_CASE(
    "member_stream: every member is shown once, in the archive's order, and all is verified") {
  for (const char* const name : {"none", "gzip", "bzip2", "xz", "xz-nocheck", "zstd", "lz4"}) {
    CAPTURE(name);
    const RunFile run = run_of(TarFile()
                                   .folder("./lib/")
                                   .file("./lib/a", "text")
                                   .symlink("./lib/b", "a")
                                   .hardlink("./c", "./lib/a"),
                               name);
    Pass pass(run);

    const auto read = pass.read();

    REQUIRE(read);
    CHECK(pass.recorder.members ==
          std::vector<std::string>{"lib=", "lib/a=text", "lib/b=a", "c=lib/a"});
    CHECK(read->sha256 == test::reference_sha256(run.bytes));
    CHECK(read->claims.size() == 2);
    CHECK(read->warnings.empty());
  }
}

TEST_CASE(
    "member_stream: NVIDIA's bundles with a program before the payload, and layout A, are read") {
  const std::string payload =
      test::compress(Compression::gzip, TarFile().file("a", "text").bytes());
  for (const RunFile& run : {NvidiaRun(payload)
                                 .with_program("\x7f"
                                               "ELF\n\n\xfd"
                                               "7zXZ\n")
                                 .build(),
                             NvidiaRun(payload, test::NvidiaLayout::a).build()}) {
    Pass pass(run);
    REQUIRE(pass.read());
    CHECK(pass.recorder.members == std::vector<std::string>{"a=text"});
  }
}

TEST_CASE("member_stream: chunks are read one after the other, and base64 is undone") {
  const std::string first = test::compress(Compression::gzip, TarFile().file("a", "1").bytes());
  const std::string second = test::compress(Compression::bzip2, TarFile().file("b", "2").bytes());
  Pass chunks(UpstreamRun(first, test::MakeselfEra::v2_3).with_chunk(second).build());
  REQUIRE(chunks.read());
  CHECK(chunks.recorder.members == std::vector<std::string>{"a=1", "b=2"});

  Pass base64(UpstreamRun(TarFile().file("a", "1").bytes()).with_base64().build());
  REQUIRE(base64.read());
  CHECK(base64.recorder.members == std::vector<std::string>{"a=1"});
}

TEST_CASE("member_stream: names that leave the folder refuse the bundle") {
  for (const char* const name : {"../x", "a/../../x", "/etc/passwd", "a//b", "a/./b", ".."}) {
    CAPTURE(name);
    const Error error = error_of(TarFile().file("ok", "1").file(name, "evil"));
    CHECK(error.code == Errc::unsafe_path);
    CHECK(error.subject.ends_with("x.run"));
    CHECK(error.found == name);
  }
}

TEST_CASE(
    "member_stream: what a header of pax puts in place of a name is looked at, not the name") {
  const Error path = error_of(TarFile().file("ok", "1").with_pax("path", "../x"));
  CHECK(path.code == Errc::unsafe_path);
  CHECK(path.found == "../x");

  const Error link = error_of(
      TarFile().file("ok", "1").hardlink("also", "ok").with_pax("linkpath", "/etc/passwd"));
  CHECK(link.code == Errc::unsafe_path);
}

TEST_CASE("member_stream: devices, FIFOs and sockets refuse the bundle") {
  for (const TarFile& tar :
       {TarFile().fifo("x"), TarFile().character_device("x"), TarFile().block_device("x")}) {
    const Error error = error_of(tar);
    CHECK(error.code == Errc::unsafe_path);
    CHECK(error.subject.ends_with("x.run: x"));
    CHECK(error.what == "archive holds a device, FIFO or socket");
  }
}

TEST_CASE("member_stream: a member behind a symbolic link refuses the bundle") {
  const Error error = error_of(TarFile().symlink("lib", "/etc").file("lib/passwd", "evil"));

  CHECK(error.code == Errc::unsafe_path);
  CHECK(error.subject.ends_with("x.run: lib/passwd"));
  CHECK(error.found == "lib is a link");
  CHECK(error.hint == "do not use this bundle; nothing was written");

  CHECK(error_of(TarFile().symlink("./a/b", "/etc").file("./a/b/c/d", "evil")).code ==
        Errc::unsafe_path);
  CHECK(error_of(TarFile().symlink("a", "b").symlink("a/x", "/etc")).code == Errc::unsafe_path);
  CHECK(error_of(TarFile().symlink("a", "b").folder("a/x/")).code == Errc::unsafe_path);
}

TEST_CASE("member_stream: a link of an earlier chunk leads no file of a later one astray") {
  const std::string first = TarFile().symlink("lib", "/etc").bytes();
  const std::string second = TarFile().file("lib/passwd", "evil").bytes();
  Pass pass(UpstreamRun(test::compress(Compression::gzip, first), test::MakeselfEra::v2_3)
                .with_chunk(test::compress(Compression::gzip, second))
                .build());

  const auto read = pass.read();

  REQUIRE_FALSE(read);
  CHECK(read.error().code == Errc::unsafe_path);
}

TEST_CASE("member_stream: a folder or file that replaces a link makes the way free again") {
  Pass pass(run_of(TarFile().symlink("lib", "/etc").folder("lib/").file("lib/a", "1")));

  CHECK(pass.read());
}

TEST_CASE("member_stream: a hard link out of the archive refuses the bundle") {
  for (const char* const target : {"/etc/passwd", "../x", "a/../../x"}) {
    CAPTURE(target);
    const Error error = error_of(TarFile().hardlink("x", target));
    CHECK(error.code == Errc::unsafe_path);
    CHECK(error.what == "hard link leaves the output directory");
    CHECK(error.found == target);
  }
}

TEST_CASE("member_stream: a symbolic link may say anything: it is only a text") {
  Pass pass(run_of(TarFile().symlink("x", "/etc/passwd")));

  REQUIRE(pass.read());
  CHECK(pass.recorder.members == std::vector<std::string>{"x=/etc/passwd"});
}

TEST_CASE("member_stream: a checksum that does not match goes before what the decoder says") {
  const std::string payload =
      test::compress(Compression::gzip, TarFile().file("a", std::string(5'000, 'x')).bytes());
  for (const std::size_t at : {std::size_t{0}, payload.size() / 2, payload.size() - 1}) {
    CAPTURE(at);
    Pass pass(NvidiaRun(payload).with_flipped_byte(at).build());

    const auto read = pass.read();

    REQUIRE_FALSE(read);
    CHECK(read.error().code == Errc::mismatch);
    CHECK(read.error().subject == pass.path());
    CHECK(exit_status(read.error().code) == 4);
  }
}

TEST_CASE("member_stream: a checksum that does not match goes before what damage did to a member") {
  // Nothing in the payload notices: it is stored as it is. The visitor does, and is right.
  const std::string payload = TarFile().file("a", "text").bytes();
  Pass pass(NvidiaRun(payload).with_flipped_byte(512).build());
  pass.recorder.fails_at = Error{.code = Errc::corrupt, .what = "no library", .subject = "a"};

  const auto read = pass.read();

  REQUIRE_FALSE(read);
  CHECK(read.error().code == Errc::mismatch);
}

TEST_CASE("member_stream: a name that damage made unsafe is a mismatch first") {
  std::string payload = TarFile().file("./a", "text").bytes();
  Pass pass(NvidiaRun(payload).with_flipped_byte(600).with_md5(std::string(32, '1')).build());
  CHECK(pass.read().error().code == Errc::mismatch);

  // Where all sums hold it is what it seems.
  Pass hostile(run_of(TarFile().file("../a", "text")));
  CHECK(hostile.read().error().code == Errc::unsafe_path);
}

TEST_CASE("member_stream: a bundle that ends early is said to be incomplete") {
  RunFile run = run_of(TarFile().file("a", test::base64_lines(std::string(9'000, 'x'))));
  run.bytes.resize(run.bytes.size() - 20);
  Pass pass(run);

  const auto read = pass.read();

  REQUIRE_FALSE(read);
  CHECK(read.error().code == Errc::mismatch);
  CHECK(read.error().hint ==
        "the payload ends early too: the download is incomplete; fetch it again");
}

TEST_CASE("member_stream: without checksums the decoder's own word is what is said") {
  const std::string payload =
      test::compress(Compression::gzip, TarFile().file("a", std::string(5'000, 'x')).bytes());
  Pass pass(NvidiaRun(payload)
                .with_field("CRCsum", "0000000000")
                .with_field("MD5", std::string(32, '0'))
                .with_crc("0000000000")
                .with_md5(std::string(32, '0'))
                .with_flipped_byte(payload.size() - 6)
                .build());

  const auto read = pass.read();

  REQUIRE_FALSE(read);
  CHECK(read.error().subject == pass.path());
  CHECK(read.error().code != Errc::io);
}

TEST_CASE("member_stream: what a stream holds behind the archive's end is checked too") {
  // Enough that no reader of tar has looked at it by accident.
  const std::string tar = TarFile().file("a", "text").bytes() + std::string(2'000'000, 'x');
  const std::string payload = test::compress(Compression::gzip, tar);
  constexpr std::size_t kTrailer = 8;  // of gzip: CRC and size
  Pass pass(NvidiaRun(payload)
                .with_flipped_byte(payload.size() - kTrailer)
                .with_crc("0000000000")
                .with_md5(std::string(32, '0'))
                .build());

  CHECK_FALSE(pass.read());
  CHECK(pass.recorder.members == std::vector<std::string>{"a=text"});
}

TEST_CASE(
    "member_stream: where only a digest of an rpm's decompressed payload is there, that is "
    "checked") {
  test::RpmFile rpm;
  rpm.with_compression(Compression::gzip).file("/opt/a", "text");
  // Without what covers the payload as it is stored: its digest, and the signature header's MD5.
  rpm.header().without(5092);
  rpm.signature().without(1004);
  constexpr std::uint32_t kPayloadDigestAlt = 5097;
  rpm.header().texts(kPayloadDigestAlt, {std::string(64, '0')});
  Pass pass(rpm.bytes());

  const auto read = pass.read();

  REQUIRE_FALSE(read);
  CHECK(read.error().code == Errc::mismatch);
  CHECK(read.error().what ==
        "SHA-256 of the payload, decompressed, does not match the one in its header");
  rpm.header().texts(kPayloadDigestAlt, {read.error().found});
  CHECK(Pass(rpm.bytes()).read());
}

TEST_CASE("member_stream: digests of files that are not read are told") {
  test::RpmFile rpm;
  rpm.file("/opt/a", "text");
  constexpr std::uint32_t kFileDigestAlgorithm = 5011;
  rpm.header().int32s(kFileDigestAlgorithm, {9});
  Pass pass(rpm.bytes());

  const auto read = pass.read();

  REQUIRE(read);
  CHECK(read->members_checked == 0);
  CHECK(read->warnings == std::vector<std::string>{
                              "its files have SHA-384 digests, which are not read: not compared"});
  CHECK(Pass(rpm.bytes()).read({.verify = Verify::nothing})->warnings.empty());
}

TEST_CASE("member_stream: what stands behind the archive's end has a limit") {
  const std::string tar = TarFile().file("a", "text").bytes();
  const Error error = [&tar] {
    const std::string more = tar + std::string(65U << 20U, '\0');
    Pass pass(NvidiaRun(test::compress(Compression::gzip, more)).build());
    const auto read = pass.read();
    REQUIRE_FALSE(read);
    return read.error();
  }();

  CHECK(error.code == Errc::limit);
  CHECK(error.what == "too much stands behind the archive's end");
}

TEST_CASE("member_stream: the user's claims are checked besides the bundle's own") {
  const RunFile run = run_of(TarFile().file("a", "text"));
  const auto with_claim = [&](std::string digest) {
    DigestClaim claim{
        DigestAlgorithm::sha256, std::move(digest), {{0}, {run.bytes.size()}}, "--sha256"};
    return ReadOptions{.user_claims = {std::move(claim)}};
  };

  Pass good(run);
  const auto read = good.read(with_claim(test::reference_sha256(run.bytes)));
  REQUIRE(read);
  CHECK(read->claims.size() == 3);

  Pass bad(run);
  const auto refused = bad.read(with_claim(std::string(64, '0')));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == Errc::mismatch);
  CHECK(refused.error().what == "SHA-256 does not match the one in --sha256");
}

TEST_CASE(
    "member_stream: --no-verify reads a bundle whose sums do not hold, and says what they are") {
  Pass pass(NvidiaRun(TarFile().file("a", "text").bytes()).with_md5(std::string(32, '1')).build());

  const auto read = pass.read({.verify = Verify::nothing});

  REQUIRE(read);
  CHECK_FALSE((read->claims[0].holds() && read->claims[1].holds()));
}

TEST_CASE("member_stream: a visitor's own error passes through as it is") {
  for (const Errc code : {Errc::io, Errc::conflict, Errc::interrupted}) {
    Pass pass(run_of(TarFile().file("a", "1").file("/unsafe", "2")));
    pass.recorder.fails_at = Error{.code = code, .what = "no space", .subject = "a"};

    const auto read = pass.read();

    REQUIRE_FALSE(read);
    CHECK(read.error().code == code);
    CHECK(read.error().subject == "a");
    CHECK(pass.recorder.members.size() == 1);
  }
}

TEST_CASE("member_stream: what is wrong with a member names the bundle and the member") {
  Pass pass(run_of(TarFile().file("libcuda.so.1", "1")));
  pass.recorder.fails_at =
      Error{.code = Errc::corrupt, .what = "no library", .subject = "libcuda.so.1"};

  CHECK(pass.read().error().subject == pass.path() + ": libcuda.so.1");
}

TEST_CASE("member_stream: a bundle that changes while it is read is found out") {
  Pass pass(run_of(TarFile().file("a", "text")));
  std::ofstream(pass.path(), std::ios::app) << "more";

  const auto read = pass.read();

  REQUIRE_FALSE(read);
  CHECK(read.error().code == Errc::io);
  CHECK(read.error().what == "bundle changed while it was read");
}

TEST_CASE("member_stream: limits on members hold") {
  Limits limits;
  limits.members = 2;
  Pass pass(run_of(TarFile().file("a", "1").file("b", "2").file("c", "3")));

  const auto read = pass.read({.limits = limits});

  REQUIRE_FALSE(read);
  CHECK(read.error().code == Errc::limit);
}

TEST_CASE("member_stream: the chunks of a bundle share its limits") {
  // In each chunk one member of 50,000 bytes, all but 512 of them a hole.
  const std::string map = "1\n0\n512\n" + std::string(503, '\0');
  const std::string tar = TarFile()
                              .file("a", map + std::string(512, 'x'))
                              .with_pax("GNU.sparse.major", "1")
                              .with_pax("GNU.sparse.minor", "0")
                              .with_pax("GNU.sparse.realsize", "50000")
                              .bytes();
  const std::string chunk = test::compress(Compression::gzip, tar);
  const auto refusal = [&chunk](std::size_t chunks, const Limits& limits) {
    UpstreamRun run(chunk, test::MakeselfEra::v2_3);
    for (std::size_t i = 1; i < chunks; ++i) {
      run.with_chunk(chunk);
    }
    Pass pass(run.build());
    pass.recorder.reads_all = true;
    const auto read = pass.read({.limits = limits});
    return read ? std::string() : read.error().what;
  };
  struct Case {
    const char* name;
    Limits limits;
    const char* what;
  };
  for (const Case& c :
       {Case{"members", {.members = 2}, "archive has too many members"},
        Case{"unpacked", {.unpacked = {100'000}}, "archive is too large"},
        Case{"holes", {.holes = {110'000}}, "the archive's sparse members are too large"},
        Case{"ratio",
             {.ratio = 2, .ratio_from = {tar.size() * 5 / 2}},
             "payload unpacks to far more than its size"}}) {
    CAPTURE(c.name);
    CHECK(refusal(2, c.limits).empty());
    CHECK(refusal(3, c.limits) == c.what);
  }
}

TEST_CASE("member_stream: a payload that unpacks to far more than its size is refused") {
  for (const char* const name : {"gzip", "bzip2", "xz", "zstd", "lz4"}) {
    CAPTURE(name);
    const RunFile run = run_of(TarFile().file("zeros", std::string(200'000, '\0')), name);
    Limits limits;
    limits.ratio = 20;
    limits.ratio_from = {100'000};
    Pass bomb(run);

    const auto read = bomb.read({.limits = limits});

    REQUIRE_FALSE(read);
    CHECK(read.error().code == Errc::limit);
    CHECK(read.error().what == "payload unpacks to far more than its size");
    CHECK(read.error().expected == "at most 20 times as much");
    // What is small may be anything.
    Pass small(run);
    limits.ratio_from = {300'000};
    CHECK(small.read({.limits = limits}));
  }
}
