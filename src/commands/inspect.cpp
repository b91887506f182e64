// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "compatpack/base/text.hpp"
#include "compatpack/commands/commands.hpp"
#include "compatpack/knowledge/driver_branches.hpp"
#include "compatpack/pipeline/planner.hpp"
#include "compatpack/pipeline/staging.hpp"

#include "bundle_steps.hpp"
#include "signature_steps.hpp"

namespace compatpack::commands {
namespace {

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

/// The CUDA version that the driver's version in the header implies, or the package's name.
std::optional<CudaVersion> cuda_of(const pipeline::BundleInfo& info) {
  const auto cuda = info.driver ? knowledge::cuda_of_branch(info.driver->branch()) : std::nullopt;
  return cuda ? cuda : info.cuda;
}

std::string describe_claims(const pipeline::BundleInfo& info) {
  std::vector<std::string> claims;
  for (const DigestClaim& claim : info.claims) {
    claims.push_back(std::string(name_of(claim.algorithm)) + " over bytes " +
                     std::to_string(claim.covers.begin.value) + ".." +
                     std::to_string(claim.covers.end.value));
  }
  if (!info.member_claims.empty()) {
    claims.push_back(std::string(name_of(info.member_claims.begin()->second.algorithm)) + " of " +
                     std::to_string(info.member_claims.size()) + " files, in " +
                     info.member_claims_origin);
  }
  return claims.empty() ? "none: whether it is whole cannot be told" : joined(claims, ", ");
}

std::string describe_payload(const pipeline::BundleInfo& info) {
  std::string out = info.is_base64 ? "base64" : std::string(formats::name_of(info.compression));
  if (info.payloads.size() > 1) {
    out += ", " + std::to_string(info.payloads.size()) + " archives";
  }
  return out + ", from byte " + std::to_string(info.payloads.front().begin.value);
}

std::string describe_signature(const OpenBundle& open) {
  const std::string& signature = open.bundle->info().signature;
  if (signature.empty()) {
    return "";
  }
  return signature + (open.read.signed_by ? "; good, by " + describe_signer(*open.read.signed_by)
                                          : "; not checked");
}

void print(const OpenBundle& open, const DeepLook* deep, Console& console) {
  const pipeline::BundleInfo& info = open.bundle->info();
  const auto row = [&](std::string name, const std::string& value) {
    if (!value.empty()) {
      name.resize(14, ' ');
      console.answer(name + printable(value));
    }
  };
  const auto driver = deep != nullptr ? deep->plan.driver : info.driver;
  const auto cuda = deep != nullptr ? deep->plan.cuda : cuda_of(info);
  const bool is_folder = info.kind == pipeline::BundleKind::folder;
  row("bundle", info.path + (is_folder ? "" : ", " + human_size(info.size)));
  row("format", info.dialect);
  row("label", info.label);
  row("driver", driver ? driver->text() : "its header does not say");
  row("CUDA", cuda ? cuda->text() : "");
  row("architecture", deep != nullptr ? joined(deep->archs, ", ") : info.arch);
  row("compression", is_folder ? "" : describe_payload(info));
  row("checksums", describe_claims(info));
  row("signature", describe_signature(open));
  if (deep == nullptr) {
    return;
  }
  for (std::size_t i = 1; i < deep->bundles.size(); ++i) {
    row("inside it", deep->bundles[i].info.name + ", " + human_size(deep->bundles[i].info.size) +
                         ", " + deep->bundles[i].info.dialect);
  }
  std::vector<std::string> files;
  for (const auto& file : deep->plan.files) {
    files.push_back(file.to.text());
  }
  row("libraries", joined(files, ", "));
  row("needs glibc", deep->plan.glibc_needed);
  row("accepts hosts", branches_of(deep->plan));
  for (const std::string& line : describe_verifications(deep->bundles, pipeline::Verify::claims)) {
    row("contents", line);
  }
}

Json document(const OpenBundle& open, const DeepLook* deep) {
  const pipeline::BundleInfo& info = open.bundle->info();
  Json json = commands::json_of(info);
  json["signed_by"] = commands::json_of(open.read.signed_by);
  const auto cuda = deep != nullptr ? deep->plan.cuda : cuda_of(info);
  json["cuda_version"] = cuda ? Json(cuda->text()) : Json();
  if (deep == nullptr) {
    return json;
  }
  const pipeline::Plan& plan = deep->plan;
  Json inside = Json::array();
  for (std::size_t i = 1; i < deep->bundles.size(); ++i) {
    inside.push_back(commands::json_of(deep->bundles[i].info));
  }
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
  json["sha256"] = deep->bundles.front().verification.sha256;
  json["verified"] = commands::json_of(deep->bundles.front().verification.claims);
  json["inside"] = std::move(inside);
  return json;
}

}  // namespace

Result<int> run_inspect(const InspectOptions& options, const Env& env, Console& console) {
  CP_TRY(OpenBundle open, open_bundle(options.bundle, env, console));
  std::optional<DeepLook> deep;
  if (options.deep || !options.bundle.reading.member.empty()) {
    CP_TRY(deep, look_deep(open, options.bundle, env, console));
  }
  const DeepLook* const facts = deep ? &*deep : nullptr;
  if (console.json()) {
    console.document(rendered(document(open, facts)));
  } else {
    print(open, facts, console);
  }
  return 0;
}

}  // namespace compatpack::commands
