// SPDX-License-Identifier: Apache-2.0
#pragma once

// Takes the wanted members out of the stream, in the order in which they come, and remembers of the
// others why they were left. What they will be called, and which links go with them, is decided
// when all have been seen (planner): members come in any order, and the .manifest anywhere among
// them. One stager serves all bundles of a tree.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compatpack/formats/elf.hpp"
#include "compatpack/io/output_dir.hpp"
#include "compatpack/pipeline/listing.hpp"
#include "compatpack/pipeline/member_stream.hpp"
#include "compatpack/pipeline/selection.hpp"

namespace compatpack::pipeline {

/// A member whose content has been taken.
struct StagedMember {
  std::size_t bundle;  ///< number of the bundle it is from
  RelPath path;
  ByteCount size;
  std::string sha256;
  bool is_program;  ///< mode 0755 in the tree, else 0644: a library, or some execute bit is set
  std::string component;
  std::optional<formats::ElfIdentity> elf;  ///< nullopt for what is no ELF file
};

struct LeftOut {
  std::size_t bundle;
  std::string path;
  std::string component;  ///< "" if none
  std::string reason;
  bool is_unknown = false;  ///< the reason is that no component knows the library
};

/// A link that the archive itself holds.
struct ArchiveLink {
  RelPath path;
  std::string target;
};

/// All that has been found in the bundles of a tree.
struct Contents {
  std::map<std::size_t, StagedMember> members;  ///< by number, which names the staged file
  std::vector<LeftOut> left_out;  ///< shared libraries only; programs and data are many
  std::vector<ArchiveLink> links;
  std::map<std::size_t, std::string> manifests;  ///< text of .manifest, by bundle
  std::map<std::size_t, std::string> licences;   ///< text of LICENSE, by bundle
  std::vector<std::string> libcuda_archs;        ///< of every libcuda that went by, taken or not
  std::vector<std::string> paths;  ///< the first few members' paths, to say what a bundle is
  std::vector<std::string> warnings;
};

class Stager final : public MemberVisitor {
 public:
  /// `into` holds the contents until the planner has named them; null: nothing is kept (--dry-run).
  /// All three must outlive the stager.
  Stager(const SelectionRequest& request, const Limits& limits, io::OutputDir* into)
      : request_(request), limits_(limits), into_(into) {}

  /// From here on members are of the bundle with this number.
  void begin(std::size_t bundle);

  /// What the bundle's header lists, if it does. A .manifest among the members says it too.
  void list(std::vector<ListedFile> files) { listing_.list(std::move(files), request_); }

  Result<Done> visit(const Member& member, MemberContent& content) override;
  [[nodiscard]] bool is_satisfied() const override {
    // Of a bundle without a libcuda more may be wanted than the list shows: one inside it.
    return is_listable(request_) && listing_.is_complete() &&
           contents_.libcuda_archs.size() > libcudas_before_;
  }

  /// Notes of the listed libraries that were not seen why they were left. To be called where the
  /// pass has stopped at is_satisfied().
  void account_for_unseen();

  [[nodiscard]] const Contents& contents() const { return contents_; }
  [[nodiscard]] Contents release() { return std::move(contents_); }

  /// The name in the output directory of the member with this number.
  [[nodiscard]] static FileName staged_name(std::size_t number);

 private:
  Result<Done> visit_file(const Member& member, MemberContent& content);
  Result<Done> visit_hardlink(const Member& member);
  Result<Done> take(const Member& member, const Selection& selection,
                    std::span<const std::byte> head, MemberContent& content,
                    const MemberClaim* claim);
  Result<Done> forget(const RelPath& path);
  void leave_out(const Member& member, const Selection& selection, std::string reason);

  const SelectionRequest& request_;
  const Limits& limits_;
  io::OutputDir* into_;
  Contents contents_;
  std::size_t bundle_ = 0;
  std::size_t libcudas_before_ = 0;  // of the bundles before this
  // Of this bundle:
  std::map<RelPath, std::size_t> taken_;  // number by path
  Listing listing_;
  std::map<RelPath, std::string> unfit_;  // wanted by path, left out for its content: the reason
  std::size_t next_number_ = 0;
};

}  // namespace compatpack::pipeline
