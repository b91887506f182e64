// SPDX-License-Identifier: Apache-2.0
#pragma once

// Checks OpenPGP signatures with the host's own verifier: gpgv, or sqv where there is no gpgv. Both
// check one detached signature against the keys of a file and nothing else: no user's key ring, no
// web of trust, no network.
//
// gpgv's words are for people and in their language; what it found is read from the lines that
// --status-fd gives (GnuPG's doc/DETAILS). sqv says it with its exit status.

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "compatpack/base/environment.hpp"
#include "compatpack/base/result.hpp"
#include "compatpack/io/source.hpp"

namespace compatpack::host {

struct Verifier {
  enum class Kind { gpgv, sqv };
  Kind kind;
  std::string path;  ///< absolute
};

/// The verifier that PATH leads to. Only its absolute folders are looked into: the folder that we
/// are in may hold anything. Error io where there is none, with what to install.
Result<Verifier> find_verifier(Environment environment);

/// The keys in the file at `path`, as any verifier reads them: binary, whatever they were.
///
/// Errors, with `subject` set: io; limit; not_recognized where it holds no public keys; corrupt for
/// an armored key that is damaged.
Result<std::string> read_keyring(const std::string& path);

enum class SignatureState {
  good,
  bad,          ///< made by a key of the ring over other bytes
  unknown_key,  ///< made by a key that is not in the ring
  expired_key,
  revoked_key,
  expired,   ///< the signature itself
  of_text,   ///< over text, so that line ends may be others than the signer's
  unusable,  ///< anything else: no signature, an algorithm that the verifier does not take
};

struct SignatureVerdict {
  SignatureState state = SignatureState::unusable;
  std::string key = {};    ///< good: fingerprint of the primary key; else what is known of it
  std::string user = {};   ///< "Name <address>"; empty if not known
  std::string words = {};  ///< the verifier's own, where the state says nothing
};

/// What gpgv's status lines say. Where they are about several signatures, the worst counts.
[[nodiscard]] SignatureVerdict parse_gpgv_status(std::string_view report);

/// What sqv's answer says: with status 0, a fingerprint on each line.
[[nodiscard]] SignatureVerdict parse_sqv_answer(int status, std::string_view report);

struct SignatureRequest {
  const Verifier& verifier;
  std::string keyring;    ///< from read_keyring()
  std::string signature;  ///< detached; binary or armored
  io::Source& content;    ///< what it signs; read to its end, unless the verifier wants no more
  Environment environment;
  std::function<bool()> interrupted;
};

/// Errors: those of `content` and run_child(); io for a verifier that crashes or does not end.
Result<SignatureVerdict> check_signature(const SignatureRequest& request);

}  // namespace compatpack::host
