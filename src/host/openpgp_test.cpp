// SPDX-License-Identifier: Apache-2.0
#include "compatpack/host/openpgp.hpp"

#include <fstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <sys/stat.h>

#include "support/temp_dir.hpp"

using namespace compatpack;
using namespace compatpack::host;
using State = SignatureState;

namespace {

const std::string kKey = "AADEF4DC8E1630051886EDBC8170B7481D96AF27";
const std::string kOther = "B0DEF4DC8E1630051886EDBC8170B7481D96AF27";

std::string good_line(const std::string& user = "Te st <t@x>") {
  return "[GNUPG:] GOODSIG 8170B7481D96AF27 " + user + "\n";
}

std::string valid_line(const std::string& signature_class = "00", const std::string& key = kKey) {
  return "[GNUPG:] VALIDSIG " + kOther + " 2026-11-30 1796040081 0 4 0 1 10 " + signature_class +
         " " + key + "\n";
}

void write(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

}  // namespace

TEST_CASE("openpgp: a good signature is said by the primary key's fingerprint and user") {
  const auto verdict =
      parse_gpgv_status("[GNUPG:] NEWSIG\n" + good_line("T%C3%A9 50%25 <t@x>") + valid_line());

  CHECK(verdict.state == State::good);
  CHECK(verdict.key == kKey);
  CHECK(verdict.user == "T\xC3\xA9 50% <t@x>");
}

TEST_CASE("openpgp: each way not to be good has its own name") {
  const std::string at = "8170B7481D96AF27 Te st <t@x>\n";
  const std::vector<std::pair<std::string, State>> reports{
      {"[GNUPG:] BADSIG " + at, State::bad},
      {"[GNUPG:] EXPKEYSIG " + at + valid_line(), State::expired_key},
      {"[GNUPG:] REVKEYSIG " + at + valid_line(), State::revoked_key},
      {"[GNUPG:] EXPSIG " + at + valid_line(), State::expired},
      {"[GNUPG:] ERRSIG 8170B7481D96AF27 1 10 00 1796040081 9 " + kKey +
           "\n[GNUPG:] NO_PUBKEY 8170B7481D96AF27\n",
       State::unknown_key},
      {"[GNUPG:] ERRSIG 8170B7481D96AF27 99 10 00 1796040081 4 -\n", State::unusable},
      {"[GNUPG:] NODATA 2\n", State::unusable},
      {"", State::unusable},
      {good_line(), State::unusable},
      {valid_line(), State::unusable},
      {good_line() + valid_line("01"), State::of_text},
      {good_line() + valid_line("00", "short"), State::unusable},
      {"gpgv: " + good_line() + "gpgv: " + valid_line(), State::unusable},
  };
  for (const auto& report : reports) {
    CAPTURE(report.first);
    CHECK(parse_gpgv_status(report.first).state == report.second);
  }
}

TEST_CASE("openpgp: of several signatures the worst counts") {
  const std::string bad = "[GNUPG:] BADSIG 8170B7481D96AF27 x\n";
  const std::string unknown = "[GNUPG:] ERRSIG 8170B7481D96AF27 1 10 00 1796040081 9 -\n";

  CHECK(parse_gpgv_status(bad + good_line() + valid_line()).state == State::bad);
  CHECK(parse_gpgv_status(good_line() + valid_line() + bad).state == State::bad);
  CHECK(parse_gpgv_status(good_line() + valid_line() + unknown).state == State::unknown_key);
  CHECK(parse_gpgv_status(good_line() + valid_line() + good_line()).state == State::unusable);
  CHECK(parse_gpgv_status(good_line() + valid_line() + good_line() + valid_line()).state ==
        State::good);
}

TEST_CASE("openpgp: sqv is believed when it ends well and names a key") {
  CHECK(parse_sqv_answer(0, kKey + "\n").state == State::good);
  CHECK(parse_sqv_answer(0, kKey + "\n").key == kKey);
  CHECK(parse_sqv_answer(1, kKey + "\n").state == State::unusable);
  CHECK(parse_sqv_answer(0, "").state == State::unusable);
  CHECK(parse_sqv_answer(0, "yes\n").state == State::unusable);
}

TEST_CASE("openpgp: the verifier is sought in absolute folders of PATH only, gpgv first") {
  const test::TempDir dir;
  const std::string folder = dir.path().string();
  for (const char* const name : {"/sqv", "/gpgv"}) {
    write(folder + name, "#!/bin/sh\n");
    ::chmod((folder + name).c_str(), 0755);
  }
  const auto found = [](const std::string& path) {
    const std::vector<std::string> environment{"XPATH=/x", "PATH=" + path};
    const auto verifier = find_verifier(environment);
    return verifier ? verifier->path : verifier.error().what;
  };
  const std::string none = "no program to check signatures with";

  CHECK(found("/nonexistent::.:" + folder) == folder + "/gpgv");
  CHECK(found("") == none);
  CHECK(found(".:..:bin") == none);
  ::chmod((folder + "/gpgv").c_str(), 0644);
  CHECK(found(folder) == folder + "/sqv");
  CHECK_FALSE(find_verifier({}));
}

TEST_CASE("openpgp: a keyring is binary or armored, and comes out binary") {
  const test::TempDir dir;
  const std::string path = dir.path().string() + "/ring";
  const auto read = [&](const std::string& text) {
    write(path, text);
    return read_keyring(path);
  };

  const auto armored = read(
      "-----BEGIN PGP PUBLIC KEY BLOCK-----\n\na2V5cw==\n-----END PGP PUBLIC KEY BLOCK-----\n");

  REQUIRE(armored);
  CHECK(*armored == "keys");
  for (const std::string& bytes :
       {std::string("\x99\x01"), std::string("\xC6\x01"), std::string("12345678KBXf12")}) {
    CAPTURE(bytes);
    const auto keys = read(bytes);
    REQUIRE(keys);
    CHECK(*keys == bytes);
  }
  for (const char* const text : {"", "text", "-----BEGIN PGP PRIVATE KEY BLOCK-----\n"}) {
    CAPTURE(text);
    const auto keys = read(text);
    REQUIRE_FALSE(keys);
    CHECK(keys.error().code == Errc::not_recognized);
  }
  CHECK(read("-----BEGIN PGP PUBLIC KEY BLOCK-----\n").error().code == Errc::corrupt);
  CHECK(read_keyring(dir.path().string() + "/absent").error().code == Errc::io);
}
