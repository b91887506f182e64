// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "compatpack/base/digest_claim.hpp"
#include "compatpack/base/result.hpp"
#include "compatpack/commands/console.hpp"
#include "compatpack/pipeline/bundle.hpp"
#include "compatpack/pipeline/member_stream.hpp"

namespace compatpack::commands {

/// Who says the claims below.
inline constexpr const char* kSignedBytes = "its signature";

struct CheckedSignatures {
  pipeline::SignedBy signed_by;
  /// Of the bytes that the verifier has seen. The pass over the bundle checks them, so that what is
  /// unpacked is what was signed, even where somebody changes the file in between.
  std::vector<DigestClaim> claims;
};

/// Checks all signatures of the bundle with the keys in the file `keyring`. One good signature is
/// enough, if the others are only by keys that are not there.
///
/// Errors, with `subject` set: mismatch for a signature that is not good, in words of its own for
/// each reason; unsupported where there is none that can be checked; those of
/// host::find_verifier(), read_keyring() and check_signature().
Result<CheckedSignatures> check_signatures(const pipeline::Bundle& bundle,
                                           const std::string& keyring, const Env& env,
                                           Console& console);

/// "FINGERPRINT (Name <address>)", the latter if it is known.
std::string describe_signer(const pipeline::SignedBy& signed_by);

}  // namespace compatpack::commands
