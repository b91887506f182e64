// SPDX-License-Identifier: Apache-2.0
#pragma once

// A member of a bundle that has passed the gate, and who wants to see it.

#include <set>
#include <string>

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

class MemberVisitor {
 public:
  MemberVisitor() = default;
  MemberVisitor(const MemberVisitor&) = delete;
  MemberVisitor& operator=(const MemberVisitor&) = delete;
  virtual ~MemberVisitor() = default;

  /// Called for each member in the order of the archive. `content` is that of a file, empty for
  /// others, and valid during the call; what is not read of it is skipped. An Error ends the pass.
  virtual Result<Done> visit(const Member& member, io::Source& content) = 0;

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
