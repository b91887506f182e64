// SPDX-License-Identifier: Apache-2.0
#include "bundle_steps.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace compatpack::commands {
namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    out += i == 0 ? "" : i + 1 == words.size() ? " and " : ", ";
    out += words[i];
  }
  return out;
}

}  // namespace

Result<OpenBundle> open_bundle(const BundleOptions& options, Console& console) {
  OpenBundle open;
  open.read.jobs = options.jobs;
  CP_TRY(open.bundle, pipeline::Bundle::open(options.path, &console, open.read.limits));
  const pipeline::BundleInfo& info = open.bundle->info();
  std::vector<std::string> warnings;
  CP_TRY(open.read.user_claims, pipeline::collect_user_claims(info, options.checksums, warnings));
  for (const std::string& warning : warnings) {
    console.warn(warning);
  }
  if (options.require_checksum && info.claims.empty() && info.member_claims.empty() &&
      open.read.user_claims.empty()) {
    return Error{.code = Errc::unsupported,
                 .what = "nothing to verify the bundle against",
                 .subject = info.path,
                 .expected = "a checksum in the bundle, beside it or on the command line",
                 .found = "none, or only zeros",
                 .hint = "give --sha256 from where the bundle comes from"};
  }
  return open;
}

std::string describe_verification(const pipeline::BundleInfo& info,
                                  const pipeline::Verification& verification,
                                  pipeline::Verify verify) {
  if (verify == pipeline::Verify::nothing) {
    return "NOT VERIFIED: --no-verify was given";
  }
  if (verification.claims.empty() && verification.members_checked == 0) {
    return "not verified: the bundle carries no checksums";
  }
  std::map<std::string, std::vector<std::string>> by_origin;
  for (const io::CheckedClaim& one : verification.claims) {
    auto& names = by_origin[one.claim.origin];
    const std::string name(name_of(one.claim.algorithm));
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      names.push_back(name);
    }
  }
  std::string out;
  for (const auto& [origin, names] : by_origin) {
    out += (out.empty() ? "" : ", ") + joined(names) + " of " + origin;
  }
  if (verification.members_checked > 0) {
    out += (out.empty() ? "" : ", ") + std::to_string(verification.members_checked) +
           (verification.members_checked == 1 ? " file" : " files") + " by " +
           info.member_claims_origin;
  }
  return "verified: " + out;
}

Json json_of(const pipeline::BundleInfo& info) {
  Json claims = Json::array();
  for (const DigestClaim& claim : info.claims) {
    claims.push_back({{"algorithm", name_of(claim.algorithm)},
                      {"digest", claim.digest},
                      {"from_byte", claim.covers.begin.value},
                      {"to_byte", claim.covers.end.value}});
  }
  Json payloads = Json::array();
  for (const ByteRange& payload : info.payloads) {
    payloads.push_back({{"from_byte", payload.begin.value}, {"to_byte", payload.end.value}});
  }
  return {{"path", info.path},
          {"size", info.size.value},
          {"kind", info.kind},
          {"dialect", info.dialect},
          {"label", info.label},
          {"driver_version", info.driver ? Json(info.driver->text()) : Json()},
          {"arch", info.arch.empty() ? Json() : Json(info.arch)},
          {"compression", formats::name_of(info.compression)},
          {"base64", info.is_base64},
          {"signature", info.signature.empty() ? Json() : Json(info.signature)},
          {"payloads", std::move(payloads)},
          {"checksums", std::move(claims)}};
}

Json json_of(const std::vector<io::CheckedClaim>& claims) {
  Json list = Json::array();
  for (const io::CheckedClaim& one : claims) {
    list.push_back({{"algorithm", name_of(one.claim.algorithm)},
                    {"digest", one.found},
                    {"said_by", one.claim.origin},
                    {"holds", one.holds()}});
  }
  return list;
}

Json json_of(const std::vector<pipeline::LeftOut>& left_out) {
  Json list = Json::array();
  for (const pipeline::LeftOut& one : left_out) {
    list.push_back({{"path", one.path}, {"component", one.component}, {"reason", one.reason}});
  }
  return list;
}

std::string rendered(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace compatpack::commands
