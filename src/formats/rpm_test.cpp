// SPDX-License-Identifier: Apache-2.0
#include "compatpack/formats/rpm.hpp"

#include <functional>
#include <map>
#include <vector>

#include <doctest/doctest.h>

#include "rpm_index.hpp"
#include "support/rpm_file.hpp"

using namespace compatpack;
using namespace compatpack::formats;
using compatpack::test::digest_of;
using compatpack::test::RpmEra;
using compatpack::test::RpmField;
using RpmBuilder = compatpack::test::RpmFile;

namespace {

constexpr const char* kFolder = "/usr/local/cuda-12.4/compat";

RpmBuilder sample(RpmEra era = RpmEra::v4) {
  const std::string folder = kFolder;
  return RpmBuilder(era)
      .folder(folder)
      .file(folder + "/libcuda.so.550.54.15", "library", 0104755)
      .symlink(folder + "/libcuda.so.1", "libcuda.so.550.54.15")
      .file(folder + "/a", "shared")
      .hardlink(folder + "/b")
      .ghost("/etc/ghost");
}

Result<RpmHeader> parse(const std::string& file) {
  return parse_rpm_header(as_bytes(file), {file.size()});
}
Result<RpmHeader> parse(const RpmBuilder& file) { return parse(file.bytes()); }

bool holds(const std::string& file, const DigestClaim& claim) {
  return digest_of(claim.algorithm, file.substr(claim.covers.begin.value,
                                                claim.covers.size().value)) == claim.digest;
}

}  // namespace

TEST_CASE("rpm: a package of each era says what it is") {
  for (const RpmEra era : {RpmEra::v3, RpmEra::v4, RpmEra::format6}) {
    CAPTURE(static_cast<int>(era));
    const std::string file = sample(era).bytes();

    const auto header = parse(file);

    REQUIRE(header);
    CHECK(header->name == "cuda-compat-12-4");
    CHECK_FALSE(header->epoch);
    CHECK(header->version == "550.54.15");
    CHECK(header->release == "1.el9");
    CHECK(header->arch == "x86_64");
    CHECK(header->payload.begin == header->header.end);
    CHECK(header->payload.end.value == file.size());
    CHECK(file.substr(header->payload.begin.value, 5) == "07070");
    CHECK(file.substr(header->header.begin.value, 4) == "\x8e\xad\xe8\x01");
    CHECK(header->signatures.empty());
    CHECK(header->unread_digests.empty());
  }
}

TEST_CASE("rpm: each file comes with path, type, size, mode, digest and links") {
  const auto header = parse(sample());

  REQUIRE(header);
  REQUIRE(header->files.size() == 6);
  const auto& files = header->files;
  CHECK(files[0].path.text() == "usr/local/cuda-12.4/compat");
  CHECK(files[0].type == EntryType::folder);
  CHECK_FALSE(files[0].digest);
  CHECK(files[1].path.text() == "usr/local/cuda-12.4/compat/libcuda.so.550.54.15");
  CHECK(files[1].type == EntryType::file);
  CHECK(files[1].size.value == 7);
  CHECK(files[1].mode_bits == 04755);
  CHECK(files[1].digest ==
        RpmDigest{DigestAlgorithm::sha256, digest_of(DigestAlgorithm::sha256, "library")});
  CHECK_FALSE(files[1].last_link);
  CHECK(files[2].type == EntryType::symlink);
  CHECK(files[2].link_target == "libcuda.so.550.54.15");
  CHECK(files[2].size.value == 20);
  CHECK(files[3].last_link == std::optional<std::size_t>(4));
  CHECK(files[4].last_link == std::optional<std::size_t>(4));
  CHECK_FALSE(files[4].is_ghost);
  CHECK(files[5].is_ghost);
  CHECK_FALSE(files[5].digest);
}

TEST_CASE("rpm: files have digests of each algorithm that is read") {
  for (const DigestAlgorithm algorithm : {DigestAlgorithm::md5, DigestAlgorithm::sha1,
                                          DigestAlgorithm::sha256, DigestAlgorithm::sha512}) {
    CAPTURE(name_of(algorithm));
    const auto header = parse(sample().with_file_digests(algorithm));

    REQUIRE(header);
    CHECK(header->files[1].digest == RpmDigest{algorithm, digest_of(algorithm, "library")});
  }
}

TEST_CASE("rpm: digests of an algorithm that is not read are named") {
  for (const auto& [id, name] : std::map<std::uint64_t, std::string>{
           {9, "SHA-384"}, {11, "SHA-224"}, {12, "SHA3-256"}, {99, "an unknown digest"}}) {
    auto file = sample();
    file.header().int32s(5011, {id});

    const auto header = parse(file);

    REQUIRE(header);
    CHECK(header->unread_digests == name);
    CHECK_FALSE(header->files[1].digest);
  }
}

TEST_CASE("rpm: MD5 is what file digests are without a word on it, and with 0") {
  auto file = sample().with_file_digests(DigestAlgorithm::md5);
  file.header().int32s(5011, {0});

  const auto header = parse(file);

  REQUIRE(header);
  REQUIRE(header->files[1].digest);
  CHECK(header->files[1].digest->algorithm == DigestAlgorithm::md5);
}

TEST_CASE("rpm: all claims hold, each over its own range") {
  for (const RpmEra era : {RpmEra::v3, RpmEra::v4, RpmEra::format6}) {
    CAPTURE(static_cast<int>(era));
    const std::string file = sample(era).with_compression(Compression::zstd).bytes();

    const auto header = parse(file);

    REQUIRE(header);
    for (const DigestClaim& claim : header->claims) {
      CAPTURE(name_of(claim.algorithm));
      CHECK(holds(file, claim));
    }
  }
}

TEST_CASE("rpm: claims are MD5 of both, SHA-1 and SHA-256 of the header, SHA-256 of the payload") {
  const auto header = parse(sample());

  REQUIRE(header);
  const ByteRange both{header->header.begin, header->payload.end};
  REQUIRE(header->claims.size() == 4);
  CHECK(header->claims[0].algorithm == DigestAlgorithm::md5);
  CHECK(header->claims[0].covers == both);
  CHECK(header->claims[0].origin == "its signature header");
  CHECK(header->claims[1].algorithm == DigestAlgorithm::sha1);
  CHECK(header->claims[1].covers == header->header);
  CHECK(header->claims[2].algorithm == DigestAlgorithm::sha256);
  CHECK(header->claims[2].covers == header->header);
  CHECK(header->claims[3].algorithm == DigestAlgorithm::sha256);
  CHECK(header->claims[3].covers == header->payload);
  CHECK(header->claims[3].origin == "its header");
}

TEST_CASE("rpm: format 6 claims SHA-256 of the header, SHA-256 and SHA-512 of the payload") {
  const auto header = parse(sample(RpmEra::format6));

  REQUIRE(header);
  REQUIRE(header->claims.size() == 3);
  CHECK(header->claims[0].covers == header->header);
  CHECK(header->claims[1].covers == header->payload);
  CHECK(header->claims[2].algorithm == DigestAlgorithm::sha512);
  CHECK(header->claims[2].covers == header->payload);
}

TEST_CASE("rpm: the digest of the decompressed payload comes out") {
  const auto packed = parse(sample().with_compression(Compression::gzip));
  const std::string plain = sample().bytes();

  REQUIRE(packed);
  CHECK(packed->unpacked == RpmDigest{DigestAlgorithm::sha256,
                                      digest_of(DigestAlgorithm::sha256,
                                                plain.substr(parse(plain)->payload.begin.value))});
}

TEST_CASE("rpm: epoch, compressor and signatures are said") {
  auto file = sample();
  file.header().int32s(1003, {4'000'000'000}).text(1125, "zstd");
  file.signature().binary(268, "signature").texts(278, {"c2ln"}).binary(1002, "signature");

  const auto header = parse(file);

  REQUIRE(header);
  CHECK(header->epoch == std::optional<std::uint32_t>(4'000'000'000));
  CHECK(header->compressor == "zstd");
  const auto& signatures = header->signatures;
  REQUIRE(signatures.size() == 3);
  CHECK(signatures[0].name == "OpenPGP, over the header");
  CHECK(signatures[1].name == "RSA, over the header");
  CHECK(signatures[2].name == "RSA, over header and payload");
}

TEST_CASE("rpm: a signature is bytes, and the range that it covers") {
  auto file = sample();
  file.signature().binary(267, "dsa").texts(278, {"b25l", "dHdv"}).binary(1005, "gpg");

  const auto header = parse(file);

  REQUIRE(header);
  const ByteRange alone = header->header;
  const ByteRange both{alone.begin, header->payload.end};
  CHECK(file.bytes().substr(alone.begin.value, 3) == "\x8e\xad\xe8");
  REQUIRE(header->signatures.size() == 4);
  const std::vector<std::pair<std::string, ByteRange>> wanted{
      {"one", alone}, {"two", alone}, {"dsa", alone}, {"gpg", both}};
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    CAPTURE(i);
    CHECK(header->signatures[i].bytes == wanted[i].first);
    CHECK(header->signatures[i].covers == std::vector<ByteRange>{wanted[i].second});
    CHECK(header->signatures[i].unfit.empty());
  }
}

TEST_CASE("rpm: a malformed signature is there, and cannot be checked") {
  const std::vector<std::function<void(RpmBuilder&)>> makes{
      [](RpmBuilder& f) { f.signature().text(268, "text"); },
      [](RpmBuilder& f) { f.signature().binary(278, "b25l"); },
      [](RpmBuilder& f) { f.signature().texts(278, {"b25!"}); },
      [](RpmBuilder& f) { f.signature().texts(278, {""}); },
      [](RpmBuilder& f) { f.signature().binary(268, std::string(kSignatureMax + 1, 'x')); },
  };
  for (std::size_t i = 0; i < makes.size(); ++i) {
    CAPTURE(i);
    auto file = sample();
    makes[i](file);

    const auto header = parse(file);

    REQUIRE(header);
    REQUIRE(header->signatures.size() == 1);
    CHECK(header->signatures[0].unfit == "it is malformed");
  }
}

TEST_CASE("rpm: a signature over a header that says nothing of the payload is worth nothing") {
  auto bare = RpmBuilder().file("/a", "x");
  bare.header().without(5092).without(5093).without(1035).without(5011);
  bare.signature().binary(268, "header").binary(1002, "both");
  auto by_files = RpmBuilder().file("/a", "x");
  by_files.header().without(5092).without(5093).without(5097);
  by_files.signature().binary(268, "header");

  const auto nothing_said = parse(bare);
  const auto files_said = parse(by_files);

  REQUIRE(nothing_said);
  REQUIRE(nothing_said->signatures.size() == 2);
  CHECK(nothing_said->signatures[0].unfit.starts_with("it is over the header, which has no"));
  CHECK(nothing_said->signatures[1].unfit.empty());
  REQUIRE(files_said);
  CHECK(files_said->signatures[0].unfit.empty());
}

TEST_CASE("rpm: a package without files, and one whose sizes have 64 bits") {
  const auto empty = parse(RpmBuilder());
  REQUIRE(empty);
  CHECK(empty->files.empty());

  auto large = RpmBuilder().file("/a", "x");
  large.header().without(1028).int64s(5008, {5'000'000'000});
  const auto header = parse(large);
  REQUIRE(header);
  CHECK(header->files[0].size.value == 5'000'000'000);
}

TEST_CASE("rpm: the root folder is a path too") {
  const auto header = parse(RpmBuilder().folder("/"));

  REQUIRE(header);
  CHECK(header->files[0].path.text() == ".");
}

TEST_CASE("rpm: one inode is one file only where size and digest agree") {
  auto file = RpmBuilder().file("/a", "one").file("/b", "two").file("/c", "longer");
  file.header().int32s(1096, {7, 7, 7});

  const auto header = parse(file);

  REQUIRE(header);
  CHECK_FALSE(header->files[0].last_link);
  CHECK_FALSE(header->files[1].last_link);
}

TEST_CASE("rpm: a ghost is no hard link, since the payload lacks it") {
  auto file = RpmBuilder().file("/a", "").ghost("/b");
  file.header().int32s(1096, {7, 7}).without(1035);

  const auto header = parse(file);

  REQUIRE(header);
  CHECK_FALSE(header->files[0].last_link);
}

TEST_CASE("rpm: a signature header may lack its region, or have rpm 4.0's trailer") {
  auto without = sample();
  without.signature().without_region();
  CHECK(parse(without));

  auto old = sample();
  old.signature().poke_trailer(RpmField::tag, 61);
  CHECK(parse(old));
}

TEST_CASE("rpm: a package that is not whole says what to do") {
  const std::string file = sample().bytes();

  auto cut = parse(file.substr(0, file.size() - 5));
  REQUIRE_FALSE(cut);
  cut.error().subject = "driver.rpm";
  CHECK(render(cut.error()) ==
        "driver.rpm: package is shorter than it says\n"
        "  at:       byte 160\n"
        "  expected: " +
            std::to_string(file.size() - parse(file)->header.begin.value) +
            " bytes\n"
            "  found:    " +
            std::to_string(file.size() - parse(file)->header.begin.value - 5) +
            "\n"
            "  hint:     the download is incomplete; fetch it again\n");

  const auto longer = parse(file + "x");
  REQUIRE_FALSE(longer);
  CHECK(longer.error().what == "package is longer than it says");
}

TEST_CASE("rpm: format 6 tells a wrong length by the payload's size") {
  const std::string file = sample(RpmEra::format6).bytes();

  const auto longer = parse(file + "x");

  REQUIRE_FALSE(longer);
  CHECK(longer.error().what == "package is longer than it says");
}

TEST_CASE("rpm: what is wrong with a package is in the error") {
  struct Case {
    const char* name;
    std::function<void(RpmBuilder&)> change;
    Errc code;
    std::string what;
    std::string found;
  };
  const std::string entry = "package header has a malformed entry";
  const std::string region = "package header has a malformed region";
  const std::string digest = "package has a malformed digest";
  const std::string contradiction = "package header contradicts itself";
  const std::string path = "package lists a path that is not absolute";
  const std::vector<Case> cases = {
      {"magic", [](RpmBuilder& f) { f.with_lead_byte(0, 'x'); }, Errc::not_recognized,
       "not an rpm package", "x\xab\xee\xdb"},
      {"version 2", [](RpmBuilder& f) { f.with_lead_byte(4, 2); }, Errc::unsupported,
       "rpm package of a version that is not read", "2"},
      {"version 5", [](RpmBuilder& f) { f.with_lead_byte(4, 5); }, Errc::unsupported,
       "rpm package of a version that is not read", "5"},
      {"source package", [](RpmBuilder& f) { f.with_lead_byte(7, 1); }, Errc::unsupported,
       "a source package, or no package of programs at all", "1"},
      {"source package by its tag", [](RpmBuilder& f) { f.header().int32s(1106, {1}); },
       Errc::unsupported, "a source package", "cuda-compat-12-4"},
      {"signature's magic", [](RpmBuilder& f) { f.signature().with_magic("\x8e\xad\xe8\x02xxxx"); },
       Errc::corrupt, "package has no header where one must be", "\x8e\xad\xe8\x02xxxx"},
      {"reserved bytes", [](RpmBuilder& f) { f.header().with_magic("\x8e\xad\xe8\x01xxxx"); },
       Errc::corrupt, "package has no header where one must be", "\x8e\xad\xe8\x01xxxx"},
      {"too many entries", [](RpmBuilder& f) { f.header().with_count(65'536); }, Errc::limit,
       "package header has too many entries", "65536"},
      {"too much data", [](RpmBuilder& f) { f.header().with_data_size(256U << 20U); }, Errc::limit,
       "package header has too much data", "268435456"},
      {"entries beyond the file", [](RpmBuilder& f) { f.header().with_count(65'535); },
       Errc::corrupt, "package ends within its headers", "end of file"},
      {"data beyond the file", [](RpmBuilder& f) { f.header().with_data_size((256U << 20U) - 1); },
       Errc::corrupt, "package ends within its headers", "end of file"},
      {"type 0", [](RpmBuilder& f) { f.header().poke(1000, RpmField::type, 0); }, Errc::corrupt,
       entry, "0"},
      {"type 10", [](RpmBuilder& f) { f.header().poke(1000, RpmField::type, 10); }, Errc::corrupt,
       entry, "10"},
      {"tag 99", [](RpmBuilder& f) { f.header().poke(1000, RpmField::tag, 99); }, Errc::corrupt,
       entry, "99"},
      {"negative tag", [](RpmBuilder& f) { f.header().poke(1000, RpmField::tag, 0x8000'0000); },
       Errc::corrupt, entry, "2147483648"},
      {"no values", [](RpmBuilder& f) { f.header().poke(1028, RpmField::count, 0); }, Errc::corrupt,
       entry, "0"},
      {"two of one string", [](RpmBuilder& f) { f.header().poke(1000, RpmField::count, 2); },
       Errc::corrupt, entry, "2"},
      {"size overflows 32 bits",
       [](RpmBuilder& f) { f.header().poke(1028, RpmField::count, 0x4000'0001); }, Errc::corrupt,
       entry, "1073741825"},
      {"most values", [](RpmBuilder& f) { f.header().poke(1028, RpmField::count, 0xFFF'FFFF); },
       Errc::corrupt, entry, "268435455"},
      {"most strings", [](RpmBuilder& f) { f.header().poke(1117, RpmField::count, 0xFFF'FFFF); },
       Errc::corrupt, entry, "268435455"},
      {"offset beyond the data",
       [](RpmBuilder& f) { f.header().poke(1000, RpmField::offset, 0x7FFF'FFFF); }, Errc::corrupt,
       entry, "2147483647"},
      {"negative offset",
       [](RpmBuilder& f) { f.header().poke(1000, RpmField::offset, 0xFFFF'FFFF); }, Errc::corrupt,
       entry, "4294967295"},
      {"crooked offset", [](RpmBuilder& f) { f.header().poke(1028, RpmField::offset, 62); },
       Errc::corrupt, entry, "62"},
      {"overlap", [](RpmBuilder& f) { f.header().poke(1001, RpmField::offset, 0); }, Errc::corrupt,
       "package header has overlapping entries", "0"},
      {"region of another type", [](RpmBuilder& f) { f.header().poke(63, RpmField::type, 4); },
       Errc::corrupt, region, "16"},
      {"region of another size", [](RpmBuilder& f) { f.header().poke(63, RpmField::count, 17); },
       Errc::corrupt, region, "17"},
      {"region beyond the data",
       [](RpmBuilder& f) { f.header().poke(63, RpmField::offset, 0xFFFF'FFF0); }, Errc::corrupt,
       region, "4294967280"},
      {"trailer of another tag", [](RpmBuilder& f) { f.header().poke_trailer(RpmField::tag, 61); },
       Errc::corrupt, region, "61"},
      {"trailer that is positive",
       [](RpmBuilder& f) { f.header().poke_trailer(RpmField::offset, 16); }, Errc::corrupt, region,
       "268435455"},
      {"trailer of no entry", [](RpmBuilder& f) { f.header().poke_trailer(RpmField::offset, 0); },
       Errc::corrupt, region, "0"},
      {"region of a part",
       [](RpmBuilder& f) { f.header().poke_trailer(RpmField::offset, 0U - 16U); }, Errc::corrupt,
       region, "1"},
      {"entry twice", [](RpmBuilder& f) { f.header().poke(1001, RpmField::tag, 1000); },
       Errc::corrupt, "package header has an entry twice", "1000"},
      {"name of numbers", [](RpmBuilder& f) { f.header().int32s(1000, {1}); }, Errc::corrupt,
       "package header has an entry of another type", "type 4"},
      {"sizes of text", [](RpmBuilder& f) { f.header().text(1028, "x"); }, Errc::corrupt,
       "package header has an entry of another type", "type 6"},
      {"MD5 of text", [](RpmBuilder& f) { f.signature().text(1004, "x"); }, Errc::corrupt,
       "package header has an entry of another type", "type 6"},
      {"no name", [](RpmBuilder& f) { f.header().without(1000); }, Errc::corrupt,
       "package does not say what it is", "none"},
      {"empty version", [](RpmBuilder& f) { f.header().text(1001, ""); }, Errc::corrupt,
       "package does not say what it is", "none"},
      {"another payload", [](RpmBuilder& f) { f.header().text(1124, "drpm"); }, Errc::unsupported,
       "rpm package with a payload that is not read", "drpm"},
      {"short MD5", [](RpmBuilder& f) { f.signature().binary(1004, "xy"); }, Errc::corrupt, digest,
       "7879"},
      {"short SHA-1", [](RpmBuilder& f) { f.signature().text(269, "ab"); }, Errc::corrupt, digest,
       "ab"},
      {"short SHA-256", [](RpmBuilder& f) { f.signature().text(273, "ab"); }, Errc::corrupt, digest,
       "ab"},
      {"short payload digest", [](RpmBuilder& f) { f.header().texts(5092, {"ab"}); }, Errc::corrupt,
       digest, "ab"},
      {"short digest of a file",
       [](RpmBuilder& f) {
         f.header().texts(1035, {"", "ab", "", "", "", ""});
       },
       Errc::corrupt, digest, "ab"},
      {"payload's size", [](RpmBuilder& f) { f.header().int64s(5112, {1}); }, Errc::corrupt,
       "package is longer than it says", ""},
      {"too few sizes",
       [](RpmBuilder& f) {
         f.header().int32s(1028, {1, 2});
       },
       Errc::corrupt, contradiction, "2"},
      {"no sizes", [](RpmBuilder& f) { f.header().without(1028); }, Errc::corrupt, contradiction,
       "0"},
      {"no modes", [](RpmBuilder& f) { f.header().without(1030); }, Errc::corrupt, contradiction,
       "0"},
      {"too many flags",
       [](RpmBuilder& f) {
         f.header().int32s(1037, {1, 2, 3, 4, 5, 6, 7});
       },
       Errc::corrupt, contradiction, "7"},
      {"too few targets", [](RpmBuilder& f) { f.header().texts(1036, {"x"}); }, Errc::corrupt,
       contradiction, "1"},
      {"too few inodes", [](RpmBuilder& f) { f.header().int32s(1096, {1}); }, Errc::corrupt,
       contradiction, "1"},
      {"no folders", [](RpmBuilder& f) { f.header().without(1118); }, Errc::corrupt, contradiction,
       "0"},
      {"no indexes", [](RpmBuilder& f) { f.header().without(1116); }, Errc::corrupt, contradiction,
       "0"},
      {"index beyond the folders",
       [](RpmBuilder& f) {
         f.header().int32s(1116, {0, 1, 2, 3, 1, 1});
       },
       Errc::corrupt, contradiction, "3"},
      {"relative folder",
       [](RpmBuilder& f) {
         f.header().texts(1118, {"usr/", "/b/", "/c/"});
       },
       Errc::unsafe_path, path, "usr/compat"},
      {"folder without a slash",
       [](RpmBuilder& f) {
         f.header().texts(1118, {"/usr", "/b/", "/c/"});
       },
       Errc::corrupt, "package lists a file in a malformed way", "/usr and compat"},
      {"name with a slash",
       [](RpmBuilder& f) {
         f.header().texts(1117, {"x/y", "b", "c", "d", "e", "f"});
       },
       Errc::corrupt, "package lists a file in a malformed way", "/usr/local/cuda-12.4/ and x/y"},
      {"file twice",
       [](RpmBuilder& f) {
         f.header().texts(1117, {"x", "b", "c", "d", "b", "f"});
       },
       Errc::corrupt, "package lists a file twice", "usr/local/cuda-12.4/compat/b"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    auto file = sample();
    c.change(file);
    const std::string bytes = file.bytes();

    const auto header = parse(bytes);

    REQUIRE_FALSE(header);
    CHECK(header.error().code == c.code);
    CHECK(header.error().what == c.what);
    if (!c.found.empty()) {
      CHECK(header.error().found == c.found);
    }
    REQUIRE(header.error().at);
    CHECK(header.error().at->value <= bytes.size());
  }
}

TEST_CASE("rpm: a path that leaves is refused, in each way of writing it") {
  for (const char* const path : {"/usr/../../etc/passwd", "/..", "/a//b", "/./a", "relative"}) {
    CAPTURE(path);
    for (const RpmEra era : {RpmEra::v3, RpmEra::v4}) {
      auto file = RpmBuilder(era).file("/a", "x");
      const std::string text = path;
      const std::size_t slash = text.rfind('/') + 1;
      if (era == RpmEra::v3) {
        file.header().texts(1027, {text});
      } else {
        file.header().texts(1117, {text.substr(slash)}).texts(1118, {text.substr(0, slash)});
      }

      const auto header = parse(file);

      REQUIRE_FALSE(header);
      CHECK((header.error().code == Errc::unsafe_path || era == RpmEra::v4));
      CHECK(header.error().at);
    }
  }
}

TEST_CASE("rpm: an entry's error points at the entry") {
  auto file = RpmBuilder(RpmEra::v3);
  file.header().poke(1000, RpmField::type, 77);
  const std::string bytes = file.bytes();
  const std::size_t header = bytes.find("\x8e\xad\xe8\x01", 97);

  const auto parsed = parse(bytes);

  REQUIRE_FALSE(parsed);
  CHECK(parsed.error().at->value == header + 16);
}

TEST_CASE("rpm: a list of more files than allowed is refused before it is put together") {
  const std::string file = sample().bytes();
  Limits limits;
  limits.members = 6;
  CHECK(parse_rpm_header(as_bytes(file), {file.size()}, limits));

  limits.members = 5;
  for (const RpmEra era : {RpmEra::v3, RpmEra::v4}) {
    const std::string other = sample(era).bytes();
    const auto header = parse_rpm_header(as_bytes(other), {other.size()}, limits);

    REQUIRE_FALSE(header);
    CHECK(header.error().code == Errc::limit);
    CHECK(header.error().found == "6");
  }
}

TEST_CASE("rpm: headers that go on beyond what was read are a matter of limits") {
  const std::string file = sample().bytes();
  const std::size_t end = parse(file)->payload.begin.value;
  CHECK(parse_rpm_header(as_bytes(file).first(end), {file.size()}));
  for (std::size_t size = 96; size < end; ++size) {
    CAPTURE(size);
    const auto header = parse_rpm_header(as_bytes(file).first(size), {file.size()});

    REQUIRE_FALSE(header);
    CHECK(header.error().code == Errc::limit);
  }
}

TEST_CASE("rpm: a package cut anywhere is refused") {
  for (const RpmEra era : {RpmEra::v3, RpmEra::v4, RpmEra::format6}) {
    const std::string file = sample(era).bytes();
    for (std::size_t size = 0; size < file.size(); ++size) {
      CAPTURE(size);
      const auto header = parse(file.substr(0, size));

      REQUIRE_FALSE(header);
      CHECK(header.error().code == (size < 4 ? Errc::not_recognized : Errc::corrupt));
    }
  }
}

TEST_CASE("rpm: a byte flipped in header or payload is refused or breaks a claim") {
  const std::string good = sample().bytes();
  const std::size_t begin = parse(good)->header.begin.value;
  for (std::size_t at = begin; at < good.size(); ++at) {
    for (const char flip : {'\x01', '\x80'}) {
      CAPTURE(at);
      std::string file = good;
      file[at] = static_cast<char>(file[at] ^ flip);

      const auto header = parse(file);

      bool accepted = static_cast<bool>(header);
      if (header) {
        for (const DigestClaim& claim : header->claims) {
          accepted = accepted && holds(file, claim);
        }
      }
      CHECK_FALSE(accepted);
    }
  }
}

TEST_CASE("rpm: what a flipped byte before the header leaves lies in the file") {
  const std::string good = sample().bytes();
  const std::size_t begin = parse(good)->header.begin.value;
  for (std::size_t at = 0; at < begin; ++at) {
    std::string file = good;
    file[at] = static_cast<char>(~file[at]);

    const auto header = parse(file);

    if (header) {
      CAPTURE(at);
      for (const DigestClaim& claim : header->claims) {
        CHECK(claim.covers.end.value <= file.size());
      }
    }
  }
}
