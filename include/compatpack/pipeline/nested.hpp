// SPDX-License-Identifier: Apache-2.0
#pragma once

// Bundles inside bundles: a local-repository package holds the cuda-compat package, a CUDA
// toolkit's installer holds the driver's .run file. The member is copied out to a file without a
// name while the outer bundle is read, in the same pass that verifies it, and is then a bundle like
// any other.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compatpack/io/output_file.hpp"
#include "compatpack/pipeline/member.hpp"

namespace compatpack::pipeline {

/// Whether a member's name is that of a bundle: it ends in .run, .deb or .rpm.
[[nodiscard]] bool is_bundle_name(std::string_view path);

struct NestedBundle {
  std::string path;  ///< in the outer bundle
  io::OutputFile file;
};

/// Passes all members on to another visitor, but for bundles: of these it keeps the one that is
/// most likely meant.
class NestedFinder final : public MemberVisitor {
 public:
  using MakeFile = std::function<Result<io::OutputFile>(const std::string& name)>;

  /// `others` sees what is no bundle, and may be null; with `member`, a glob over a bundle's path
  /// or last component that is "" if the user gave none, only what matches is kept. Bundles whose
  /// name says another architecture than `arch` are not. Both must outlive the finder.
  NestedFinder(MemberVisitor* others, std::string member, std::string arch, MakeFile make_file)
      : others_(others),
        member_(std::move(member)),
        arch_(std::move(arch)),
        make_file_(std::move(make_file)) {}

  Result<Done> visit(const Member& member, MemberContent& content) override;
  [[nodiscard]] bool is_satisfied() const override {
    return others_ != nullptr && others_->is_satisfied();
  }

  /// The bundle that is meant; nullopt if there is none at all. Requires: called once, after the
  /// pass.
  ///
  /// Errors, without `subject`: not_recognized where `member` matches none; usage where several are
  /// as likely, with their paths.
  Result<std::optional<NestedBundle>> choose();

 private:
  /// How likely a bundle is meant, from its name: the smaller the likelier.
  [[nodiscard]] std::size_t rank_of(const RelPath& path) const;
  Result<Done> keep(const Member& member, io::Source& content, std::size_t rank);

  MemberVisitor* others_;
  std::string member_;
  std::string arch_;
  MakeFile make_file_;
  std::vector<std::string> seen_;     // paths of all bundles
  std::vector<std::string> likely_;   // of those of the best rank so far
  std::size_t best_rank_ = 0;         // of `likely_`, if it is not empty
  std::optional<NestedBundle> kept_;  // the first of `likely_`
};

}  // namespace compatpack::pipeline
