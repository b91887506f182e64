// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "compatpack/base/text.hpp"
#include "compatpack/commands/commands.hpp"
#include "compatpack/knowledge/driver_branches.hpp"
#include "compatpack/pipeline/planner.hpp"
#include "compatpack/pipeline/staging.hpp"

#include "bundle_steps.hpp"

namespace compatpack::commands {
namespace {

/// What only the libraries can say.
struct DeepFacts {
  pipeline::Plan plan;
  pipeline::Verification verification;
  std::vector<std::string> archs;  // of the libcudas in it
};

Result<DeepFacts> look_deep(OpenBundle& open, const Env& env) {
  const pipeline::BundleInfo& info = open.bundle->info();
  pipeline::PlanRequest request{
      .selection = {.components = {knowledge::Component::cuda},
                    .arch = info.arch.empty() ? env.host_arch : info.arch},
      .prefix = "/"};
  pipeline::Stager stager(request.selection, open.read.limits, nullptr);
  CP_TRY(auto verification, pipeline::read_members(*open.bundle, open.read, stager));
  auto plan = pipeline::make_plan(info, stager.contents(), request);
  if (!plan) {
    plan.error().subject = info.path;
    return std::move(plan).error();
  }
  std::vector<std::string> archs = stager.contents().libcuda_archs;
  std::sort(archs.begin(), archs.end());
  archs.erase(std::unique(archs.begin(), archs.end()), archs.end());
  return DeepFacts{*std::move(plan), std::move(verification), std::move(archs)};
}

std::string words(const std::vector<std::string>& list) {
  std::string out;
  for (const std::string& word : list) {
    out += (out.empty() ? "" : ", ") + word;
  }
  return out;
}

std::string branches_of(const pipeline::Plan& plan) {
  if (!plan.note || !plan.note->branches) {
    return "its libcuda does not say";
  }
  std::string out;
  for (const std::uint32_t branch : *plan.note->branches) {
    out += (out.empty() ? "" : " ") + std::to_string(branch);
  }
  return out;
}

/// The CUDA version that the header's driver version implies.
std::optional<CudaVersion> cuda_of(const pipeline::BundleInfo& info) {
  return info.driver ? knowledge::cuda_of_branch(info.driver->branch()) : std::nullopt;
}

std::string describe_claims(const pipeline::BundleInfo& info) {
  std::string out;
  for (const DigestClaim& claim : info.claims) {
    out += (out.empty() ? "" : ", ") + std::string(name_of(claim.algorithm)) + " over bytes " +
           std::to_string(claim.covers.begin.value) + ".." + std::to_string(claim.covers.end.value);
  }
  if (!info.member_claims.empty()) {
    out += (out.empty() ? "" : ", ") +
           std::string(name_of(info.member_claims.begin()->second.algorithm)) + " of " +
           std::to_string(info.member_claims.size()) + " files, in " + info.member_claims_origin;
  }
  return out.empty() ? "none: whether it is whole cannot be told" : out;
}

void print(const pipeline::BundleInfo& info, const DeepFacts* deep, Console& console) {
  const auto row = [&](std::string name, const std::string& value) {
    if (!value.empty()) {
      name.resize(14, ' ');
      console.answer(name + printable(value));
    }
  };
  const auto driver = deep != nullptr ? deep->plan.driver : info.driver;
  const auto cuda = deep != nullptr ? deep->plan.cuda : cuda_of(info);
  row("bundle", info.path + ", " + human_size(info.size));
  row("format", info.dialect);
  row("label", info.label);
  row("driver", driver ? driver->text() : "its header does not say");
  row("CUDA", cuda ? cuda->text() : "");
  row("architecture", deep != nullptr ? words(deep->archs) : info.arch);
  std::string payload = std::string(formats::name_of(info.compression));
  if (info.is_base64) {
    payload = "base64";
  }
  if (info.payloads.size() > 1) {
    payload += ", " + std::to_string(info.payloads.size()) + " archives";
  }
  row("compression", payload + ", from byte " + std::to_string(info.payloads.front().begin.value));
  row("checksums", describe_claims(info));
  row("signature", info.signature.empty() ? "" : info.signature + "; not checked");
  if (deep == nullptr) {
    return;
  }
  std::vector<std::string> files;
  for (const auto& file : deep->plan.files) {
    files.push_back(file.to.text());
  }
  row("libraries", words(files));
  row("needs glibc", deep->plan.glibc_needed);
  row("accepts hosts", branches_of(deep->plan));
  row("contents", describe_verification(info, deep->verification, pipeline::Verify::claims));
}

Json document(const pipeline::BundleInfo& info, const DeepFacts* deep) {
  Json json = json_of(info);
  const auto cuda = deep != nullptr ? deep->plan.cuda : cuda_of(info);
  json["cuda_version"] = cuda ? Json(cuda->text()) : Json();
  if (deep == nullptr) {
    return json;
  }
  const pipeline::Plan& plan = deep->plan;
  Json files = Json::array();
  for (const auto& file : plan.files) {
    files.push_back({{"path", file.from},
                     {"size", file.size.value},
                     {"sha256", file.sha256},
                     {"soname", file.soname},
                     {"component", file.component}});
  }
  json["driver_version"] = plan.driver ? Json(plan.driver->text()) : Json();
  json["libcuda_archs"] = deep->archs;
  json["libraries"] = std::move(files);
  json["glibc_needed"] = plan.glibc_needed;
  json["host_branches"] = plan.note && plan.note->branches ? Json(*plan.note->branches) : Json();
  json["sha256"] = deep->verification.sha256;
  json["verified"] = json_of(deep->verification.claims);
  return json;
}

}  // namespace

Result<int> run_inspect(const InspectOptions& options, const Env& env, Console& console) {
  CP_TRY(OpenBundle open, open_bundle(options.bundle, console));
  std::optional<DeepFacts> deep;
  if (options.deep) {
    CP_TRY(deep, look_deep(open, env));
  }
  const DeepFacts* const facts = deep ? &*deep : nullptr;
  if (console.json()) {
    console.document(rendered(document(open.bundle->info(), facts)));
  } else {
    print(open.bundle->info(), facts, console);
  }
  return 0;
}

}  // namespace compatpack::commands
