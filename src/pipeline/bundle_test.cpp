// SPDX-License-Identifier: Apache-2.0
#include "compatpack/pipeline/bundle.hpp"

#include <filesystem>
#include <fstream>

#include <doctest/doctest.h>

#include "support/compress.hpp"
#include "support/deb_file.hpp"
#include "support/run_file.hpp"
#include "support/tar_file.hpp"
#include "support/temp_dir.hpp"

using namespace compatpack;
using namespace compatpack::pipeline;
using compatpack::formats::Compression;
using compatpack::test::NvidiaRun;
using compatpack::test::TempDir;
using compatpack::test::UpstreamRun;

namespace {

std::string sample_tar() { return test::TarFile().file("./a", "text").bytes(); }

/// The bundle of these bytes; the folder must outlive it.
Result<std::unique_ptr<Bundle>> open(const TempDir& folder, const std::string& bytes) {
  const auto path = folder.path() / "x.run";
  std::ofstream(path, std::ios::binary) << bytes;
  return Bundle::open(path.string(), nullptr, Limits{});
}

}  // namespace

TEST_CASE("bundle: a header of NVIDIA's gives driver, architecture, payload and claims") {
  const TempDir temp;
  const auto run =
      NvidiaRun(test::compress(Compression::zstd, sample_tar())).with_version("550.54.15").build();

  const auto bundle = open(temp, run.bytes);

  REQUIRE(bundle);
  const BundleInfo& info = (*bundle)->info();
  CHECK(info.name == "x.run");
  CHECK(info.size == run.size());
  CHECK(info.kind == BundleKind::run);
  CHECK(info.dialect == "NVIDIA makeself 1.6.0-nv9");
  CHECK(info.driver->text() == "550.54.15");
  CHECK(info.arch == "x86_64");
  CHECK(info.compression == formats::Compression::zstd);
  REQUIRE(info.payloads.size() == 1);
  CHECK(info.payloads[0].begin == run.payload_start);
  CHECK(info.claims.size() == 2);
  CHECK_FALSE(info.is_base64);
  CHECK(info.header_sha256 == test::reference_sha256(run.bytes.substr(0, run.payload_start.value)));
}

TEST_CASE("bundle: NVIDIA's name of 32-bit x86 becomes ours, and version 0 none") {
  const TempDir temp;

  const auto bundle = open(temp, NvidiaRun(test::compress(Compression::gzip, sample_tar()))
                                     .with_arch("x86")
                                     .with_version("0")
                                     .build()
                                     .bytes);

  REQUIRE(bundle);
  CHECK((*bundle)->info().arch == "i386");
  CHECK_FALSE((*bundle)->info().driver);
}

TEST_CASE("bundle: makeself's own bundles are read too, in chunks and in base64") {
  const TempDir temp;
  const std::string payload = test::compress(Compression::gzip, sample_tar());

  const auto chunks =
      open(temp, UpstreamRun(payload, test::MakeselfEra::v2_3).with_chunk(payload).build().bytes);
  REQUIRE(chunks);
  CHECK((*chunks)->info().payloads.size() == 2);
  CHECK((*chunks)->info().dialect.starts_with("makeself "));

  const auto base64 =
      open(temp, UpstreamRun(sample_tar(), test::MakeselfEra::v2_4_5).with_base64().build().bytes);
  REQUIRE(base64);
  CHECK((*base64)->info().is_base64);
}

TEST_CASE("bundle: its bytes are the whole file, from the first on") {
  const TempDir temp;
  const auto run = NvidiaRun(test::compress(Compression::xz, sample_tar())).build();
  const auto bundle = open(temp, run.bytes);
  REQUIRE(bundle);
  std::string bytes(run.bytes.size() + 1, '\0');

  const auto count = io::read_full((*bundle)->bytes(),
                                   std::as_writable_bytes(std::span(bytes.data(), bytes.size())));

  REQUIRE(count);
  CHECK(*count == run.bytes.size());
  bytes.resize(*count);
  CHECK(bytes == run.bytes);
}

TEST_CASE("bundle: a file that is none is said to be what it is") {
  struct Case {
    const char* found;
    std::string bytes;
  };
  for (const Case& c :
       {Case{"an empty file", ""}, Case{"a web page", "\n <!DOCTYPE html><html></html>"},
        Case{"a web page", "<HTML><body>Not found</body>"},
        Case{"an ELF program or library",
             "\x7f"
             "ELF\x02"},
        Case{"a Windows program", "MZ\x90"},
        Case{"an ar archive that is no .deb package",
             "!<arch>\n"
             "a.o/            0           0     0     644     4         `\nabcd"},
        Case{"a zip archive", "PK\x03\x04"},
        Case{"JSON text, perhaps a server's error message", "{\"error\": 1}"},
        Case{"a program compressed with gzexe", "#! /bin/sh\nskip=44\ngztmpdir=\n"},
        Case{"a script that is no makeself bundle", "#!/bin/sh\necho hello\n"}}) {
    CAPTURE(c.found);
    const TempDir temp;

    const auto bundle = open(temp, c.bytes);

    REQUIRE_FALSE(bundle);
    CHECK(bundle.error().code == Errc::not_recognized);
    CHECK(bundle.error().what == "not a bundle that compatpack reads");
    CHECK(bundle.error().subject == (temp.path() / "x.run").string());
    CHECK(bundle.error().found == c.found);
  }
}

TEST_CASE("bundle: of text that is nothing known, its beginning is shown") {
  const TempDir temp;

  const auto bundle = open(temp, "hello");

  REQUIRE_FALSE(bundle);
  CHECK(bundle.error().found.find("hello") != std::string::npos);
}

TEST_CASE("bundle: a header that is damaged names the file") {
  const TempDir temp;

  const auto bundle = open(temp, NvidiaRun("payload").with_field("skip", "many").build().bytes);

  REQUIRE_FALSE(bundle);
  CHECK(bundle.error().code == Errc::corrupt);
  CHECK(bundle.error().subject == (temp.path() / "x.run").string());
}

TEST_CASE("bundle: a .deb's control archive that unpacks to too much is refused") {
  const TempDir temp;
  const std::string control =
      test::TarFile().file("./control", "Package: a\nVersion: 1\nArchitecture: amd64\n").bytes();
  const auto package = [](const std::string& archive) {
    return test::DebFile()
        .member("debian-binary", "2.0\n")
        .member("control.tar.gz", test::compress(Compression::gzip, archive))
        .member("data.tar", "")
        .bytes();
  };
  const std::string zeros(20U << 20U, '\0');

  CHECK(open(temp, package(control)));
  // Behind its end, and as a member that nobody wants.
  for (const std::string& bomb : {control + zeros, test::TarFile().file("./x", zeros).bytes()}) {
    const auto bundle = open(temp, package(bomb));

    REQUIRE_FALSE(bundle);
    CHECK(bundle.error().code == Errc::limit);
    CHECK(bundle.error().what == "control archive unpacks to too much");
    CHECK(bundle.error().stream == "control.tar.gz");
  }
}

TEST_CASE("bundle: what is changed while it is open is found out") {
  const TempDir temp;
  const auto bundle =
      open(temp, NvidiaRun(test::compress(Compression::gzip, sample_tar())).build().bytes);
  REQUIRE(bundle);
  CHECK((*bundle)->check_unchanged());

  std::ofstream(temp.path() / "x.run", std::ios::app) << "more";

  CHECK_FALSE((*bundle)->check_unchanged());
}
