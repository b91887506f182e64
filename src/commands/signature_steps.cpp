// SPDX-License-Identifier: Apache-2.0
#include "signature_steps.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "compatpack/host/openpgp.hpp"

namespace compatpack::commands {
namespace {

using State = host::SignatureState;

// Words of a verifier that are quoted, in bytes: its last lines say why.
constexpr std::size_t kQuotedMax = 200;

Error nothing_signed(const pipeline::BundleInfo& info) {
  std::string found;
  for (const formats::Signature& one : info.signatures) {
    found += (found.empty() ? "" : "; ") + one.name + ", but " + one.unfit;
  }
  if (found.empty()) {
    found = info.signature.empty() ? "none"
                                   : info.signature + ", which is of a kind that is not checked";
  }
  return Error{.code = Errc::unsupported,
               .what = "bundle has no signature that can be checked",
               .subject = info.path,
               .expected = "an OpenPGP signature in the package, for --keyring",
               .found = std::move(found),
               .hint =
                   "without --keyring it is taken by its checksums; --sha256 compares it with "
                   "what its maker says"};
}

std::string quoted_end(std::string words) {
  std::replace(words.begin(), words.end(), '\n', ' ');
  return words.size() <= kQuotedMax ? words : "..." + words.substr(words.size() - kQuotedMax);
}

/// "key 8170B7481D96AF27 (Name <address>), in _gpgorigin"
std::string described(const host::SignatureVerdict& verdict, const formats::Signature& signature) {
  return (verdict.key.empty() ? "a key that it does not say" : "key " + verdict.key) +
         (verdict.user.empty() ? "" : " (" + verdict.user + ")") + "; signature " + signature.name;
}

Error not_good(const host::SignatureVerdict& verdict, const formats::Signature& signature,
               const std::string& keyring) {
  const std::string found = described(verdict, signature);
  const auto error = [](std::string what, std::string expected, std::string was, std::string hint) {
    return Error{.code = Errc::mismatch,
                 .what = std::move(what),
                 .expected = std::move(expected),
                 .found = std::move(was),
                 .hint = std::move(hint)};
  };
  const std::string current = "get the signer's current keys, or a bundle that is signed anew";
  switch (verdict.state) {
    case State::good:
      break;
    case State::bad:
      return error("signature does not match the bundle", "what was signed with " + found,
                   "other bytes",
                   "the bundle is damaged, or was changed after it was signed; fetch it again");
    case State::unknown_key:
      return error("signature is by a key that is not in the keyring", "a key of " + keyring, found,
                   "get the key from whoever made the bundle, and compare its fingerprint with "
                   "what they publish");
    case State::expired_key:
      return error("signature is by a key that has expired", "a key that is valid today", found,
                   current);
    case State::revoked_key:
      return error("signature is by a key that was revoked", "a key that is valid today", found,
                   "do not trust it: its owner has given the key up");
    case State::expired:
      return error("signature has expired", "one that is valid today", found, current);
    case State::of_text:
      return error("signature is over text, whose line ends may be changed",
                   "a signature over bytes", found, "ask the signer for another");
    case State::unusable:
      break;
  }
  return error("signature cannot be verified", "one that the verifier takes",
               signature.name + ": " +
                   (verdict.words.empty() ? "no reason given" : quoted_end(verdict.words)),
               "the signature is damaged, or of an algorithm that is not taken");
}

/// One bundle's signatures, with one keyring.
class Check {
 public:
  Check(const pipeline::Bundle& bundle, const std::string& keyring, const Env& env,
        Console& console)
      : bundle_(bundle), keyring_(keyring), env_(env), console_(console) {}

  Result<CheckedSignatures> run() {
    const pipeline::BundleInfo& info = bundle_.info();
    const auto is_fit = [](const formats::Signature& one) { return one.unfit.empty(); };
    if (std::none_of(info.signatures.begin(), info.signatures.end(), is_fit)) {
      return nothing_signed(info);
    }
    CP_TRY(const host::Verifier verifier, host::find_verifier(env_.environment));
    CP_TRY(const std::string keys, host::read_keyring(keyring_));
    std::optional<Error> unknown;
    for (const formats::Signature& signature : info.signatures) {
      if (!signature.unfit.empty()) {
        console_.detail(info.name + ": signature " + signature.name +
                        " is not checked: " + signature.unfit);
        continue;
      }
      CP_TRY(const State state, check(signature, verifier, keys, unknown));
      if (state == State::unknown_key) {
        console_.detail(info.name + ": signature " + signature.name +
                        " is by a key that is not in the keyring");
      }
    }
    if (!good_) {
      unknown->subject = info.path;
      return *std::move(unknown);
    }
    return CheckedSignatures{*std::move(good_), std::move(claims_)};
  }

 private:
  /// good or unknown_key, with `unknown` set; an Error for anything else.
  Result<State> check(const formats::Signature& signature, const host::Verifier& verifier,
                      const std::string& keys, std::optional<Error>& unknown) {
    const auto content = bundle_.open_ranges(signature.covers, &console_);
    CP_TRY(const host::SignatureVerdict verdict,
           host::check_signature({.verifier = verifier,
                                  .keyring = keys,
                                  .signature = signature.bytes,
                                  .content = *content,
                                  .environment = env_.environment,
                                  .interrupted = env_.interrupted}));
    if (verdict.state == State::unknown_key) {
      unknown = not_good(verdict, signature, keyring_);
      return verdict.state;
    }
    // A verifier that calls good what it has not read is broken.
    if (verdict.state != State::good || !content->is_at_end()) {
      Error error = not_good(verdict, signature, keyring_);
      error.subject = bundle_.info().path;
      return error;
    }
    for (std::size_t i = 0; i < signature.covers.size(); ++i) {
      DigestClaim claim{DigestAlgorithm::sha256, content->sha256s()[i], signature.covers[i],
                        kSignedBytes};
      if (std::find(claims_.begin(), claims_.end(), claim) == claims_.end()) {
        claims_.push_back(std::move(claim));
      }
    }
    if (!good_) {
      good_ = pipeline::SignedBy{verdict.key, verdict.user};
    }
    return State::good;
  }

  const pipeline::Bundle& bundle_;
  const std::string& keyring_;
  const Env& env_;
  Console& console_;
  std::optional<pipeline::SignedBy> good_;
  std::vector<DigestClaim> claims_;
};

}  // namespace

Result<CheckedSignatures> check_signatures(const pipeline::Bundle& bundle,
                                           const std::string& keyring, const Env& env,
                                           Console& console) {
  return Check(bundle, keyring, env, console).run();
}

std::string describe_signer(const pipeline::SignedBy& signed_by) {
  return signed_by.fingerprint + (signed_by.user.empty() ? "" : " (" + signed_by.user + ")");
}

}  // namespace compatpack::commands
