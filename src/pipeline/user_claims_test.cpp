// SPDX-License-Identifier: Apache-2.0
#include "compatpack/pipeline/user_claims.hpp"

#include <filesystem>
#include <fstream>

#include <doctest/doctest.h>

#include "support/staged.hpp"
#include "support/temp_dir.hpp"

using namespace compatpack;
using namespace compatpack::pipeline;
using compatpack::test::TempDir;

namespace {

const std::string kMd5(32, 'a');
const std::string kSha1(40, 'b');
const std::string kSha256(64, 'c');
const std::string kSha512(128, 'd');

Result<std::optional<DigestClaim>> parse(const std::string& text) {
  return parse_checksum_file(text, "driver.run", {100}, "the file");
}

/// The digest that `text` gives for driver.run; "" if none.
std::string digest_in(const std::string& text) {
  const auto claim = parse(text);
  REQUIRE(claim);
  return *claim ? (*claim)->digest : "";
}

void write(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

/// A bundle's facts as if it lay in `folder`.
BundleInfo bundle_in(const TempDir& folder) {
  BundleInfo info = test::sample_bundle_info("535.54.03");
  info.path = (folder.path() / info.name).string();
  return info;
}

}  // namespace

TEST_CASE("user_claims: the forms in which a digest is written are read alike") {
  for (const std::string& text :
       {kSha256 + "  driver.run\n", kSha256 + " *driver.run\n", kSha256 + " driver.run",
        kSha256 + "\tdriver.run\n", kSha256 + "\n", kSha256, kSha256 + "  driver.run\r\n",
        std::string(64, 'C') + "  driver.run\n", kSha256 + "  ./driver.run\n",
        kSha256 + "  /srv/pub/driver.run\n", "SHA256 (driver.run) = " + kSha256 + "\n",
        "SHA256 (pub/driver.run) = " + kSha256 + "\r\n",
        "# made today\n\n" + kSha256 + "  driver.run\n",
        kMd5 + "  other.run\n" + kSha256 + "  driver.run\n" + kMd5 + "  third.run\n"}) {
    CAPTURE(text);
    CHECK(digest_in(text) == kSha256);
  }
}

TEST_CASE("user_claims: the number of digits tells the algorithm") {
  CHECK((*parse(kMd5 + "  driver.run"))->algorithm == DigestAlgorithm::md5);
  CHECK((*parse(kSha1 + "  driver.run"))->algorithm == DigestAlgorithm::sha1);
  CHECK((*parse(kSha256 + "  driver.run"))->algorithm == DigestAlgorithm::sha256);
  CHECK((*parse("SHA512 (driver.run) = " + kSha512))->algorithm == DigestAlgorithm::sha512);
}

TEST_CASE("user_claims: a claim covers the whole file and says who makes it") {
  const auto claim = parse(kSha256 + "  driver.run\n");

  REQUIRE(claim);
  CHECK(**claim == DigestClaim{DigestAlgorithm::sha256, kSha256, {{0}, {100}}, "the file"});
}

TEST_CASE("user_claims: a file of other names has no digest for the bundle") {
  for (const std::string& text :
       {std::string(), std::string("\n# nothing\n"), kSha256 + "  other.run\n",
        kSha256 + "  driver.run.old\n", "SHA256 (my driver.run) = " + kSha256 + "\n"}) {
    CAPTURE(text);
    CHECK(digest_in(text).empty());
  }
}

TEST_CASE("user_claims: what is no file of checksums is refused at its line") {
  for (const std::string& bad :
       {std::string("<html>"), kSha256 + "0  driver.run", std::string("xyz  driver.run"),
        std::string("SHA256 (driver.run) = 12"), std::string("SHA256 driver.run")}) {
    CAPTURE(bad);
    const auto claim = parse(kSha256 + "  a\n" + bad + "\n");
    REQUIRE_FALSE(claim);
    CHECK(claim.error().code == Errc::corrupt);
    CHECK(claim.error().subject == "the file");
    CHECK(claim.error().at == ByteOffset{68});
  }
}

TEST_CASE("user_claims: options are digests of their kind, in either case") {
  const TempDir temp;
  std::vector<std::string> warnings;

  const auto claims = collect_user_claims(
      bundle_in(temp), {.sha256 = std::string(64, 'C'), .sha1 = kSha1, .md5 = kMd5}, warnings);

  REQUIRE(claims);
  REQUIRE(claims->size() == 3);
  CHECK((*claims)[0] ==
        DigestClaim{DigestAlgorithm::sha256, kSha256, {{0}, {1'000'000}}, "--sha256"});
  CHECK((*claims)[1].origin == "--sha1");
  CHECK((*claims)[2].origin == "--md5");
  CHECK(warnings.empty());
}

TEST_CASE("user_claims: an option that is no digest is a usage error") {
  const TempDir temp;
  std::vector<std::string> warnings;
  for (const std::string& bad : {std::string("abc"), kMd5, kSha256 + "0", std::string(64, 'g')}) {
    CAPTURE(bad);
    const auto claims = collect_user_claims(bundle_in(temp), {.sha256 = bad}, warnings);
    REQUIRE_FALSE(claims);
    CHECK(claims.error().code == Errc::usage);
    CHECK(claims.error().subject == "--sha256");
    CHECK(claims.error().expected == "64 hexadecimal digits");
  }
}

TEST_CASE("user_claims: a file that the user names must be there and know the bundle") {
  const TempDir temp;
  const std::string path = (temp.path() / "SHA256SUMS").string();
  std::vector<std::string> warnings;

  const auto missing = collect_user_claims(bundle_in(temp), {.checksum_file = path}, warnings);
  REQUIRE_FALSE(missing);
  CHECK(missing.error().code == Errc::io);
  CHECK(missing.error().subject == path);

  write(path, kSha256 + "  other.run\n");
  const auto silent = collect_user_claims(bundle_in(temp), {.checksum_file = path}, warnings);
  REQUIRE_FALSE(silent);
  CHECK(silent.error().code == Errc::corrupt);
  CHECK(silent.error().expected == "a line for driver.run");

  write(path, kSha256 + "  driver.run\n");
  const auto claims = collect_user_claims(bundle_in(temp), {.checksum_file = path}, warnings);
  REQUIRE(claims);
  CHECK((*claims)[0].origin == "SHA256SUMS");
  CHECK(warnings.empty());
}

TEST_CASE("user_claims: files beside the bundle are used by themselves") {
  const TempDir temp;
  write(temp.path() / "driver.run.sha256sum", kSha256 + "  driver.run\n");
  write(temp.path() / "driver.run.sha256", kSha256 + "\n");
  write(temp.path() / "driver.run.md5sum", kMd5 + " *driver.run\n");
  std::vector<std::string> warnings;

  const auto claims = collect_user_claims(bundle_in(temp), {}, warnings);

  REQUIRE(claims);
  REQUIRE(claims->size() == 3);
  CHECK((*claims)[0].origin == "driver.run.sha256sum");
  CHECK((*claims)[1].origin == "driver.run.sha256");
  CHECK((*claims)[2].algorithm == DigestAlgorithm::md5);
  CHECK(warnings.empty());
}

TEST_CASE("user_claims: a file beside the bundle that says nothing of it is a warning") {
  const TempDir temp;
  write(temp.path() / "driver.run.sha256sum", kSha256 + "  other.run\n");
  write(temp.path() / "driver.run.sha256", "<html>404</html>\n");
  std::filesystem::create_directory(temp.path() / "driver.run.md5sum");
  std::vector<std::string> warnings;

  const auto claims = collect_user_claims(bundle_in(temp), {}, warnings);

  REQUIRE(claims);
  CHECK(claims->empty());
  CHECK(warnings ==
        std::vector<std::string>{
            "driver.run.sha256sum beside the bundle is not used: it has no line for driver.run",
            "driver.run.sha256 beside the bundle is not used: not a file of checksums",
            "driver.run.md5sum beside the bundle is not used: not a text file"});
}
