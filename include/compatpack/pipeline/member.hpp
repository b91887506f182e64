// SPDX-License-Identifier: Apache-2.0
#pragma once

// A member of a bundle that has passed the gate, and who wants to see it.

#include <set>
#include <string>

#include "compatpack/base/digest_claim.hpp"
#include "compatpack/base/rel_path.hpp"
#include "compatpack/base/result.hpp"
#include "compatpack/formats/entry_reader.hpp"

namespace compatpack::pipeline {

/// An archive member whose path and link target are proved harmless.
struct Member {
  RelPath path;
  formats::EntryType type;  ///< not `special`: such a member refuses the bundle
  ByteCount size;           ///< of a file's content
  std::uint32_t mode_bits;
  std::string link_target;  ///< of a symlink: as it stands; of a hardlink: a RelPath's text
};

/// What a bundle says of the content of one member.
struct MemberClaim {
  DigestAlgorithm algorithm;
  std::string digest;  ///< lower-case hexadecimal
};

/// A member's content. Where the bundle claims something of it, that is checked when it has been
/// read to its end, by read() itself, unless somebody has taken the claim.
class MemberContent : public io::Source {
 public:
  /// The claim, or null. To be called before the first read() by who computes the digest, in a
  /// thread of its own or because it is wanted anyway, and calls check() with it at the end.
  virtual const MemberClaim* take_claim() = 0;

  /// Compares the digest of all content with the claim that was taken. Error mismatch.
  virtual Result<Done> check(const std::string& digest) = 0;
};

class MemberVisitor {
 public:
  MemberVisitor() = default;
  MemberVisitor(const MemberVisitor&) = delete;
  MemberVisitor& operator=(const MemberVisitor&) = delete;
  virtual ~MemberVisitor() = default;

  /// Called for each member in the order of the archive. `content` is that of a file, empty for
  /// others, and valid during the call; what is not read of it is skipped. An Error ends the pass.
  virtual Result<Done> visit(const Member& member, MemberContent& content) = 0;

  /// Whether nothing that may still come is wanted. Asked after each visit.
  [[nodiscard]] virtual bool is_satisfied() const { return false; }
};

/// Turns entries into members, or refuses the bundle. One gate serves a whole bundle: a link of its
/// first archive must not lead a file of its second astray either.
class MemberGate {
 public:
  /// Errors: unsafe_path for a name or a hard link that leaves the folder, for a member behind a
  /// symlink of the bundle, and for a device, FIFO or socket.
  Result<Member> admit(const formats::Entry& entry);

 private:
  [[nodiscard]] std::string symlink_above(const std::string& path) const;

  std::set<std::string> symlinks_;
};

}  // namespace compatpack::pipeline
