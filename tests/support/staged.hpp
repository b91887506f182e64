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

/// Content of which nobody claims anything.
class SampleContent final : public pipeline::MemberContent {
 public:
  /// `text` must outlive this.
  explicit SampleContent(std::string_view text) : source_(as_bytes(text)) {}
  Result<std::size_t> read(std::span<std::byte> into) override { return source_.read(into); }
  const pipeline::MemberClaim* take_claim() override { return nullptr; }
  Result<Done> check(const std::string& /*digest*/) override { return Done{}; }

 private:
  io::MemorySource source_;
};

/// Shows the members of `bundles` to a Stager, as files. An Error is its.
[[nodiscard]] Result<pipeline::Gathered> stage(const std::vector<SampleBundle>& bundles,
                                               const pipeline::SelectionRequest& request);

/// As a header of NVIDIA's has it.
[[nodiscard]] pipeline::BundleInfo sample_bundle_info(const std::string& driver_version,
                                                      const std::string& arch = "x86_64");

}  // namespace compatpack::test
