// SPDX-License-Identifier: Apache-2.0
#include "support/staged.hpp"

#include <utility>

namespace compatpack::test {

pipeline::SelectionRequest cuda_request(std::string arch) {
  return {.components = {knowledge::Component::cuda}, .arch = std::move(arch)};
}

Result<pipeline::Gathered> stage(const std::vector<SampleBundle>& bundles,
                                 const pipeline::SelectionRequest& request) {
  const Limits limits;
  pipeline::Stager stager(request, limits, nullptr);
  pipeline::Gathered gathered;
  for (const SampleBundle& bundle : bundles) {
    stager.begin(gathered.bundles.size());
    for (const SampleMember& one : bundle.members) {
      CP_TRY(RelPath path, RelPath::parse(one.path));
      const pipeline::Member member{
          std::move(path), formats::EntryType::file, {one.content.size()}, one.mode, {}};
      SampleContent content(one.content);
      CP_CHECK(stager.visit(member, content));
    }
    gathered.bundles.push_back({bundle.info, {}, std::nullopt});
  }
  gathered.contents = stager.release();
  return gathered;
}

pipeline::BundleInfo sample_bundle_info(const std::string& driver_version,
                                        const std::string& arch) {
  return {.path = "/downloads/driver.run",
          .name = "driver.run",
          .size = {1'000'000},
          .kind = pipeline::BundleKind::run,
          .dialect = "NVIDIA makeself 1.6.0-nv9",
          .label = "NVIDIA Accelerated Graphics Driver for Linux-" + arch + " " + driver_version,
          .driver = DriverVersion::parse(driver_version),
          .arch = arch,
          .payloads = {{{1'000}, {1'000'000}}},
          .header_sha256 = std::string(64, '1')};
}

}  // namespace compatpack::test
