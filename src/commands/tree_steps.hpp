// SPDX-License-Identifier: Apache-2.0
#pragma once

// From bundles to a staged tree, for the commands that make one.

#include <string>
#include <vector>

#include "compatpack/pipeline/receipt.hpp"

#include "bundle_steps.hpp"

namespace compatpack::commands {

/// Opens all bundles, in an order that does not depend on that in which they are named.
///
/// Errors: those of open_bundle(); usage for options that are about one bundle where there are
/// several, and for a signature that is to be checked without the checksums.
Result<std::vector<OpenBundle>> open_bundles(const TreeSource& source, const Env& env,
                                             Console& console);

/// What bundles came to.
struct StagedTree {
  pipeline::Plan plan;
  std::vector<pipeline::ReadBundle> bundles;
  pipeline::Receipt receipt;
};

/// Reads the bundles and makes the tree in `dir`, which is not committed; null: nothing is written.
/// `temporary` is a folder for bundles that are found inside others. Errors: those of
/// pipeline::Gatherer, make_plan() and write_tree().
Result<StagedTree> stage_tree(std::vector<OpenBundle>& open, const TreeSource& source,
                              const pipeline::PlanRequest& request, io::OutputDir* dir,
                              const std::string& temporary);

void print_warnings(const StagedTree& tree, const Env& env, Console& console);

}  // namespace compatpack::commands
