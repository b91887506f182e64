// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a pass over a bundle would find, without a bundle: members go straight to the Stager, and
// nothing is kept on disk.

#include <string>
#include <vector>

#include "compatpack/pipeline/planner.hpp"
#include "compatpack/pipeline/staging.hpp"

#include "support/sample_driver.hpp"

namespace compatpack::test {

/// A request for NVIDIA's forward-compatibility set.
[[nodiscard]] pipeline::SelectionRequest cuda_request(std::string arch = "x86_64");

/// A bundle that does not exist, and what is in it.
struct SampleBundle {
  pipeline::BundleInfo info;
  std::vector<SampleMember> members;
};

/// Shows the members of `bundles` to a Stager, as files. An Error is its.
[[nodiscard]] Result<pipeline::Gathered> stage(const std::vector<SampleBundle>& bundles,
                                               const pipeline::SelectionRequest& request);

/// As a header of NVIDIA's has it.
[[nodiscard]] pipeline::BundleInfo sample_bundle_info(const std::string& driver_version,
                                                      const std::string& arch = "x86_64");

}  // namespace compatpack::test
