// SPDX-License-Identifier: Apache-2.0
#include "signature_steps.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>

#include <doctest/doctest.h>

#include "compatpack/commands/commands.hpp"

#include "support/deb_file.hpp"
#include "support/tar_file.hpp"
#include "support/temp_dir.hpp"

using namespace compatpack;
using namespace compatpack::commands;
using compatpack::test::DebFile;
using compatpack::test::TarFile;
namespace fs = std::filesystem;

namespace {

const std::string kKey = "AADEF4DC8E1630051886EDBC8170B7481D96AF27";
const std::string kGood = "[GNUPG:] GOODSIG 8170B7481D96AF27 Te st <t@x>\n[GNUPG:] VALIDSIG " +
                          kKey + " 2026-11-30 1796040081 0 4 0 1 10 00 " + kKey + "\n";
const std::string kUnknown = "[GNUPG:] ERRSIG 8170B7481D96AF27 1 10 00 1796040081 9 -\n";

class Members final : public pipeline::MemberVisitor {
 public:
  Result<Done> visit(const pipeline::Member&, pipeline::MemberContent& content) override {
    CP_CHECK(io::drain(content));
    return Done{};
  }
};

/// A folder with a package, a keyring, and a gpgv that says what it is told to.
class Signing {
 public:
  Signing() {
    write("keyring", "\x99key");
    fs::create_directory(temp_.path() / "bin");
  }

  [[nodiscard]] std::string at(const std::string& name) const {
    return (temp_.path() / name).string();
  }
  void write(const std::string& name, const std::string& content) const {
    std::ofstream(at(name), std::ios::binary) << content;
  }

  /// The status lines for the signature with these bytes.
  void says(const std::string& signature, const std::string& lines) const {
    write("says-" + signature, lines);
  }

  /// `before` is what it does first; to read all unless set.
  void make_gpgv(const std::string& before = "/bin/cat >/dev/null") const {
    write("bin/gpgv",
          "#!/bin/sh\n" + before + "\n/bin/cat '" + at("says-") + "'\"$(/bin/cat \"$6\")\" >&3\n");
    fs::permissions(at("bin/gpgv"), fs::perms::owner_all);
  }

  void write_deb(const std::vector<std::string>& signatures, const std::string& text = "text") {
    DebFile file = test::make_deb(
        TarFile().file("control", "Package: a\nVersion: 1\nArchitecture: amd64\n").bytes(),
        TarFile().file("a", text).bytes());
    for (const std::string& signature : signatures) {
      file.member("_gpg" + signature, signature);
    }
    write("a.deb", file.bytes());
  }

  Result<std::unique_ptr<pipeline::Bundle>> open() {
    return pipeline::Bundle::open(at("a.deb"), nullptr, Limits{});
  }

  Result<CheckedSignatures> check(const pipeline::Bundle& bundle) {
    return check_signatures(bundle, at("keyring"), env_, console_);
  }

  Result<CheckedSignatures> check() {
    CP_TRY(const auto bundle, open());
    return check(*bundle);
  }

  [[nodiscard]] std::string err() const { return err_.str(); }

 private:
  test::TempDir temp_;
  std::ostringstream out_;
  std::ostringstream err_;
  Env env_{.out = out_,
           .err = err_,
           .err_is_terminal = false,
           .width = 80,
           .no_color = true,
           .host_arch = "x86_64",
           .host_glibc = "",
           .interrupted = [] { return false; },
           .now = &std::chrono::steady_clock::now,
           .environment = {"PATH=" + at("bin")}};
  Console console_{env_, {.verbosity = Verbosity::verbose}};
};

}  // namespace

TEST_CASE("signature_steps: a good signature is by somebody, and makes claims about its bytes") {
  Signing signing;
  signing.make_gpgv();
  signing.says("origin", kGood);
  signing.write_deb({"origin"});

  const auto checked = signing.check();

  REQUIRE(checked);
  CHECK(describe_signer(checked->signed_by) == kKey + " (Te st <t@x>)");
  REQUIRE(checked->claims.size() == 3);
  CHECK(checked->claims[2].origin == kSignedBytes);
}

TEST_CASE("signature_steps: what gpgv has seen is what is unpacked, or nothing is") {
  Signing signing;
  signing.make_gpgv();
  signing.says("origin", kGood);
  signing.write_deb({"origin"}, "evil");
  const auto time = fs::last_write_time(signing.at("a.deb"));
  const auto bundle = signing.open();
  REQUIRE(bundle);
  // Whoever owns the file shows gpgv another one, of the same size and time.
  signing.write_deb({"origin"}, "good");
  fs::last_write_time(signing.at("a.deb"), time);
  const auto checked = signing.check(**bundle);
  REQUIRE(checked);

  Members members;
  const auto read = pipeline::read_members(**bundle, {.user_claims = checked->claims}, members);

  REQUIRE_FALSE(read);
  CHECK(read.error().code == Errc::mismatch);
  CHECK(read.error().what == "SHA-256 does not match the one in its signature");
}

TEST_CASE("signature_steps: a signature that is not good is a mismatch in words of its own") {
  const std::string valid = kGood.substr(kGood.find('\n') + 1);
  const std::vector<std::pair<std::string, std::string>> cases{
      {"[GNUPG:] BADSIG 8170B7481D96AF27 x\n", "signature does not match the bundle"},
      {kUnknown, "signature is by a key that is not in the keyring"},
      {"[GNUPG:] EXPKEYSIG 8170B7481D96AF27 x\n" + valid, "signature is by a key that has expired"},
      {"[GNUPG:] REVKEYSIG 8170B7481D96AF27 x\n" + valid, "signature is by a key that was revoked"},
      {"[GNUPG:] EXPSIG 8170B7481D96AF27 x\n" + valid, "signature has expired"},
      {"", "signature cannot be verified"},
  };
  for (const auto& one : cases) {
    CAPTURE(one.first);
    Signing signing;
    signing.make_gpgv();
    signing.says("origin", one.first);
    signing.write_deb({"origin"});

    const auto checked = signing.check();

    REQUIRE_FALSE(checked);
    CHECK(checked.error().code == Errc::mismatch);
    CHECK(checked.error().what == one.second);
    CHECK(checked.error().subject == signing.at("a.deb"));
    CHECK_FALSE(checked.error().hint.empty());
  }
}

TEST_CASE("signature_steps: of several signatures one must be good and none bad") {
  Signing signing;
  signing.make_gpgv();
  signing.says("good", kGood);
  signing.says("unknown", kUnknown);
  signing.says("bad", "[GNUPG:] BADSIG 8170B7481D96AF27 x\n");
  const auto result_of = [&signing](const std::vector<std::string>& signatures) {
    signing.write_deb(signatures);
    const auto checked = signing.check();
    return checked ? "good" : checked.error().what;
  };

  CHECK(result_of({"unknown", "good"}) == "good");
  CHECK(result_of({"good", "unknown"}) == "good");
  CHECK(signing.err().find("signature _gpgunknown is by a key that is not in the keyring") !=
        std::string::npos);
  CHECK(result_of({"unknown", "unknown"}) == "signature is by a key that is not in the keyring");
  CHECK(result_of({"good", "bad"}) == "signature does not match the bundle");
  CHECK(result_of({"bad", "good"}) == "signature does not match the bundle");
  CHECK(result_of({"unknown", "bad"}) == "signature does not match the bundle");
  CHECK(result_of({}) == "bundle has no signature that can be checked");
}

TEST_CASE("signature_steps: a verifier that crashes, or has not read all, is not believed") {
  Signing signing;
  signing.says("origin", kGood);
  // More than a pipe holds.
  signing.write_deb({"origin"}, std::string(1'000'000, 'x'));

  signing.make_gpgv(":");
  const auto unread = signing.check();
  signing.make_gpgv("kill -9 $$");
  const auto crashed = signing.check();
  signing.make_gpgv("/bin/cat >/dev/null; trap 'exit 1' EXIT");
  const auto failed = signing.check();

  REQUIRE_FALSE(unread);
  CHECK(unread.error().code == Errc::mismatch);
  REQUIRE_FALSE(crashed);
  CHECK(crashed.error().code == Errc::io);
  REQUIRE_FALSE(failed);
  CHECK(failed.error().what == "signature cannot be verified");
}

TEST_CASE("signature_steps: without a verifier nothing is said to be good") {
  Signing signing;
  signing.write_deb({"origin"});

  const auto checked = signing.check();

  REQUIRE_FALSE(checked);
  CHECK(checked.error().code == Errc::io);
  CHECK(checked.error().hint.find("install gpgv") != std::string::npos);
}
