// SPDX-License-Identifier: Apache-2.0
#pragma once

// The one pass over a bundle. Everything that reads members goes through here, so that everything
// has the same checks: every claim about the bundle's bytes, every check inside the compressed
// streams, and the rules that keep a hostile archive harmless.
//
//   Bundle::bytes --> HashingSource --> LimitedSource --> [Base64] --> Decoder --> ArchiveReader
//                     claims, sha256    one payload                                |
//                                                                                  v
//                                                                            MemberVisitor

#include <string>
#include <vector>

#include "compatpack/base/rel_path.hpp"
#include "compatpack/base/result.hpp"
#include "compatpack/formats/archive.hpp"
#include "compatpack/io/digest.hpp"
#include "compatpack/pipeline/bundle.hpp"

namespace compatpack::pipeline {

/// An archive member whose path and link target are proved harmless.
struct Member {
  RelPath path;
  formats::EntryType type;  ///< not `special`: such a member refuses the bundle
  ByteCount size;           ///< of a file's content
  std::uint32_t mode_bits;
  std::string link_target;  ///< of a symlink: as it stands; of a hardlink: a RelPath's text
};

class MemberVisitor {
 public:
  MemberVisitor() = default;
  MemberVisitor(const MemberVisitor&) = delete;
  MemberVisitor& operator=(const MemberVisitor&) = delete;
  virtual ~MemberVisitor() = default;

  /// Called for each member in the order of the archive. `content` is that of a file, empty for
  /// others, and valid during the call; what is not read of it is skipped. An Error ends the pass.
  virtual Result<Done> visit(const Member& member, io::Source& content) = 0;
};

enum class Verify {
  claims,
  nothing,  ///< the user said so; digests are computed, and not compared
};

struct ReadOptions {
  Limits limits = {};
  unsigned jobs = 1;  ///< threads of the decoder at most
  Verify verify = Verify::claims;
  std::vector<DigestClaim> user_claims = {};  ///< besides the bundle's own
};

/// What a pass has shown about a bundle's bytes.
struct Verification {
  std::string sha256;                         ///< of the whole file
  std::vector<io::CheckedClaim> claims = {};  ///< all hold, unless Verify::nothing
  std::vector<std::string> warnings = {};
};

/// Reads the whole bundle, shows each member to `visitor`, and checks every claim.
///
/// Errors, with `subject` set:
///   mismatch     a claim does not hold; preferred to whatever else a damaged bundle leads to
///   corrupt, unsupported, limit   of decoder and archive, where all claims hold
///   unsafe_path  a member's name or a hard link leaves the folder, a member lies behind a symlink
///   of
///                the archive, or a member is a device, FIFO or socket
///   io           reading fails, or the bundle changes meanwhile
/// and those of `visitor`.
Result<Verification> read_members(Bundle& bundle, const ReadOptions& options,
                                  MemberVisitor& visitor);

}  // namespace compatpack::pipeline
