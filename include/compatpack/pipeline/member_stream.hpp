// SPDX-License-Identifier: Apache-2.0
#pragma once

// The one pass over a bundle. Everything that reads members goes through here, so that everything
// has the same checks: every claim about the bundle's bytes, every check inside the compressed
// streams, and the rules that keep a hostile archive harmless.
//
//   Bundle::bytes --> HashingSource --> LimitedSource --> [Base64] --> Decoder --> ArchiveReader
//                     claims, sha256    one payload                                |
//                                                                                  v
//                                        MemberGate (names, links), claims --> MemberVisitor

#include <optional>
#include <string>
#include <vector>

#include "compatpack/base/result.hpp"
#include "compatpack/io/digest.hpp"
#include "compatpack/pipeline/bundle.hpp"
#include "compatpack/pipeline/member.hpp"

namespace compatpack::pipeline {

enum class Verify {
  claims,
  nothing,  ///< the user said so; digests are computed, and not compared
};

/// Whose signature of a bundle was checked, and is good.
struct SignedBy {
  std::string fingerprint;  ///< of the primary key, in hexadecimal
  std::string user;         ///< "Name <address>"; empty if not known
};

struct ReadOptions {
  Limits limits = {};
  unsigned jobs = 1;  ///< threads of the decoder at most
  Verify verify = Verify::claims;
  bool may_stop = false;  ///< decompress no further than the visitor wants, where that is safe
  std::vector<DigestClaim> user_claims = {};  ///< besides the bundle's own
  std::optional<SignedBy> signed_by = {};     ///< what was found before the pass
  io::ReadObserver* observer = nullptr;       ///< of bundles that are found inside
  Spent* spent = nullptr;  ///< by the job that this pass is part of; null: it is all of it
};

/// What a pass has shown about a bundle's bytes.
struct Verification {
  std::string sha256;                         ///< of the whole file
  std::vector<io::CheckedClaim> claims = {};  ///< all hold, unless Verify::nothing
  std::size_t members_checked = 0;            ///< members whose own digest was met
  std::vector<std::string> warnings = {};
  bool stopped = false;  ///< what stands behind the last wanted member was not decompressed
  std::optional<SignedBy> signed_by = {};  ///< nullopt: no signature was checked
};

/// Reads the whole bundle, shows each member to `visitor`, and checks every claim.
///
/// With `may_stop`, members that stand behind the last that `visitor` wants are not decompressed,
/// if a digest that is no mere checksum covers all of the payload as it is stored: then damage to
/// them is found all the same. The file is read and hashed to its end in any case.
///
/// Errors, with `subject` set:
///   mismatch     a claim about the file does not hold, which is preferred to whatever else damage
///                leads to; or one about a member whose content `visitor` has read to its end
///   corrupt, unsupported, limit   of decoder and archive, where all claims hold
///   unsafe_path  a member's name or a hard link leaves the folder, a member lies behind a symlink
///                of the archive, or a member is a device, FIFO or socket
///   io           reading fails, or the bundle changes meanwhile
/// and those of `visitor`.
Result<Verification> read_members(Bundle& bundle, const ReadOptions& options,
                                  MemberVisitor& visitor);

}  // namespace compatpack::pipeline
