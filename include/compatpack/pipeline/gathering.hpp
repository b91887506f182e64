// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads all bundles that one tree is made of: those that the user names, and those found inside
// them. The result is what the planner works from.

#include <optional>
#include <string>
#include <vector>

#include "compatpack/pipeline/bundle.hpp"
#include "compatpack/pipeline/member_stream.hpp"
#include "compatpack/pipeline/nested.hpp"
#include "compatpack/pipeline/staging.hpp"

namespace compatpack::pipeline {

/// A bundle that has been read to its end.
struct ReadBundle {
  BundleInfo info;
  Verification verification;
  std::optional<std::size_t> inside;  ///< number of the bundle that holds it; nullopt: a file
};

struct Gathered {
  std::vector<ReadBundle> bundles;  ///< a bundle stands before what is inside it
  Contents contents;                ///< its members' bundles are numbers in `bundles`
};

class Gatherer {
 public:
  /// `into` as for Stager. Bundles inside others are kept in `temporary_folder` while they are
  /// read, or in `into` if there is one. All but the folder's name must outlive the gatherer.
  Gatherer(const SelectionRequest& request, const Limits& limits, io::OutputDir* into,
           std::string temporary_folder)
      : request_(request),
        limits_(limits),
        into_(into),
        temporary_folder_(std::move(temporary_folder)),
        stager_(request, limits, into) {}

  /// Reads one bundle more. If it has no libcuda but a bundle inside that may have one, that is
  /// read too; with `member` ("" for none), a glob over the paths of bundles inside, the one that
  /// it names is read and nothing else is taken. `observer` may be null.
  ///
  /// Errors, with `subject` set: those of read_members(), Bundle::read() and
  /// NestedFinder::choose(); limit for bundles in bundles without end.
  Result<Done> read(Bundle& bundle, const ReadOptions& options, const std::string& member);

  [[nodiscard]] const std::vector<ReadBundle>& bundles() const { return bundles_; }

  /// Requires: called once, after the last read().
  [[nodiscard]] Gathered release() { return {std::move(bundles_), stager_.release()}; }

 private:
  Result<Done> read_one(Bundle& bundle, const ReadOptions& options, const std::string& member,
                        std::optional<std::size_t> inside, int depth);
  Result<io::OutputFile> make_file(const std::string& name);

  const SelectionRequest& request_;
  const Limits& limits_;
  io::OutputDir* into_;
  std::string temporary_folder_;
  Stager stager_;
  std::vector<ReadBundle> bundles_;
};

}  // namespace compatpack::pipeline
