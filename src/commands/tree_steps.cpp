// SPDX-License-Identifier: Apache-2.0
#include "tree_steps.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "compatpack/pipeline/tree.hpp"

namespace compatpack::commands {

Result<std::vector<OpenBundle>> open_bundles(const TreeSource& source, const Env& env,
                                             Console& console) {
  const ReadingOptions& reading = source.reading;
  const bool about_one = !reading.checksums.sha256.empty() || !reading.checksums.sha1.empty() ||
                         !reading.checksums.md5.empty() || !reading.member.empty();
  if (source.bundles.size() > 1 && about_one) {
    return Error{.code = Errc::usage,
                 .what = "an option that is about one bundle",
                 .expected = "one bundle with --sha256, --sha1, --md5 or --member",
                 .found = std::to_string(source.bundles.size()) + " bundles",
                 .hint = "--checksum-file takes a list, as sha256sum writes it"};
  }
  // Most signatures are over digests of the contents, which say nothing if they are not compared.
  if (source.verify == pipeline::Verify::nothing && !reading.keyring.empty()) {
    return Error{.code = Errc::usage,
                 .what = "a signature is checked only together with the checksums",
                 .expected = "one of --keyring and --no-verify",
                 .found = "both"};
  }
  std::vector<OpenBundle> all;
  for (const std::string& path : source.bundles) {
    CP_TRY(OpenBundle open, open_bundle({path, reading}, env, console));
    open.read.verify = source.verify;
    open.read.may_stop = true;
    all.push_back(std::move(open));
  }
  // In whatever order they are named, the tree is the same.
  std::sort(all.begin(), all.end(), [](const OpenBundle& a, const OpenBundle& b) {
    const pipeline::BundleInfo& one = a.bundle->info();
    const pipeline::BundleInfo& other = b.bundle->info();
    return std::tie(one.name, one.size.value, one.header_sha256) <
           std::tie(other.name, other.size.value, other.header_sha256);
  });
  if (source.verify == pipeline::Verify::nothing) {
    console.warn("--no-verify: checksums are not compared");
  }
  return all;
}

Result<StagedTree> stage_tree(std::vector<OpenBundle>& open, const TreeSource& source,
                              const pipeline::PlanRequest& request, io::OutputDir* dir,
                              const std::string& temporary) {
  const Limits limits;
  pipeline::Gatherer gatherer(request.selection, limits, dir, temporary);
  for (OpenBundle& one : open) {
    CP_CHECK(gatherer.read(*one.bundle, one.read, source.reading.member));
  }
  pipeline::Gathered gathered = gatherer.release();
  CP_TRY(pipeline::Plan plan, pipeline::make_plan(gathered, request));
  pipeline::Receipt receipt =
      pipeline::make_receipt(plan, gathered.bundles, source.verify, request);
  CP_TRY(const std::string said, pipeline::receipt_text(receipt));
  if (dir != nullptr) {
    CP_CHECK(pipeline::write_tree(*dir, gathered.contents, plan, said));
  }
  return StagedTree{std::move(plan), std::move(gathered.bundles), std::move(receipt)};
}

void print_warnings(const StagedTree& tree, const Env& env, Console& console) {
  for (const pipeline::ReadBundle& bundle : tree.bundles) {
    for (const std::string& warning : bundle.verification.warnings) {
      console.warn(bundle.info.name + ": " + warning);
    }
  }
  for (const std::string& warning : tree.plan.warnings) {
    console.warn(warning);
  }
  if (!env.host_glibc.empty() && is_newer_version(tree.plan.glibc_needed, env.host_glibc)) {
    console.warn("the libraries need glibc " + tree.plan.glibc_needed + ", this host has " +
                 env.host_glibc);
  }
}

}  // namespace compatpack::commands
