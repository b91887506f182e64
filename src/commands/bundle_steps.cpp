// SPDX-License-Identifier: Apache-2.0
#include "bundle_steps.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "compatpack/base/environment.hpp"
#include "compatpack/base/text.hpp"

#include "signature_steps.hpp"

namespace compatpack::commands {
namespace {

/// "MD5, SHA-1 and SHA-256". Requires: `words` is not empty.
std::string listed(std::span<const std::string> words) {
  const std::string but_last = joined(words.first(words.size() - 1), ", ");
  return but_last + (but_last.empty() ? "" : " and ") + words.back();
}

/// The first option that is given and says what the bundle's file must be; null for none.
const char* checksum_option(const ReadingOptions& reading) {
  return !reading.checksums.sha256.empty()          ? "--sha256"
         : !reading.checksums.sha1.empty()          ? "--sha1"
         : !reading.checksums.md5.empty()           ? "--md5"
         : !reading.checksums.checksum_file.empty() ? "--checksum-file"
         : !reading.keyring.empty()                 ? "--keyring"
                                                    : nullptr;
}

}  // namespace

Result<OpenBundle> open_bundle(const BundleOptions& options, const Env& env, Console& console) {
  OpenBundle open;
  open.read.jobs = options.reading.jobs;
  open.read.observer = &console;
  CP_TRY(open.bundle, pipeline::Bundle::open(options.path, &console, open.read.limits));
  const pipeline::BundleInfo& info = open.bundle->info();
  if (const char* const option = checksum_option(options.reading);
      option != nullptr && open.bundle->is_folder()) {
    return Error{.code = Errc::usage,
                 .what = "is about a file",
                 .subject = option,
                 .found = info.path + ", a folder",
                 .hint = "name the bundle that it was unpacked from"};
  }
  if (!open.bundle->is_folder()) {
    std::vector<std::string> warnings;
    CP_TRY(open.read.user_claims,
           pipeline::collect_user_claims(info, options.reading.checksums, warnings));
    for (const std::string& warning : warnings) {
      console.warn(warning);
    }
  }
  if (!options.reading.keyring.empty()) {
    CP_TRY(CheckedSignatures checked,
           check_signatures(*open.bundle, options.reading.keyring, env, console));
    open.read.signed_by = std::move(checked.signed_by);
    open.read.user_claims.insert(open.read.user_claims.end(), checked.claims.begin(),
                                 checked.claims.end());
  }
  if (options.reading.require_checksum && info.claims.empty() && info.member_claims.empty() &&
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

Result<Done> refuse_bundle_options(const BundleOptions& options) {
  const ReadingOptions& reading = options.reading;
  const char* option = checksum_option(reading);
  if (option == nullptr) {
    option = reading.require_checksum  ? "--require-checksum"
             : !reading.member.empty() ? "--member"
                                       : nullptr;
  }
  if (option == nullptr) {
    return Done{};
  }
  return Error{.code = Errc::usage,
               .what = "is for a bundle",
               .subject = option,
               .found = options.path.empty() ? "no bundle" : options.path + ", a folder",
               .hint = options.path.empty()
                           ? ""
                           : "compatpack verify TREE compares a tree with its receipt"};
}

std::string describe_verification(const pipeline::BundleInfo& info,
                                  const pipeline::Verification& verification,
                                  pipeline::Verify verify) {
  if (verify == pipeline::Verify::nothing) {
    return "NOT VERIFIED: --no-verify was given";
  }
  if (verification.claims.empty() && verification.members_checked == 0) {
    return std::string("not verified: the ") +
           (info.kind == pipeline::BundleKind::folder ? "folder" : "bundle") +
           " carries no checksums";
  }
  std::map<std::string, std::vector<std::string>> by_origin;
  for (const io::CheckedClaim& one : verification.claims) {
    if (one.claim.origin == kSignedBytes) {
      continue;  // said below
    }
    auto& names = by_origin[one.claim.origin];
    const std::string name(name_of(one.claim.algorithm));
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      names.push_back(name);
    }
  }
  std::vector<std::string> parts;
  parts.reserve(by_origin.size() + 2);
  for (const auto& [origin, names] : by_origin) {
    parts.push_back(listed(names) + " of " + origin);
  }
  if (verification.members_checked > 0) {
    parts.push_back(std::to_string(verification.members_checked) +
                    (verification.members_checked == 1 ? " file" : " files") + " by " +
                    info.member_claims_origin);
  }
  if (verification.signed_by) {
    parts.push_back("signature by " + describe_signer(*verification.signed_by));
  }
  return "verified: " + joined(parts, ", ");
}

std::vector<std::string> describe_verifications(const std::vector<pipeline::ReadBundle>& bundles,
                                                pipeline::Verify verify) {
  std::vector<std::string> lines;
  lines.reserve(bundles.size());
  for (const pipeline::ReadBundle& one : bundles) {
    lines.push_back((bundles.size() == 1 ? "" : one.info.name + ": ") +
                    describe_verification(one.info, one.verification, verify));
  }
  return lines;
}

void confine(const Env& env, Console& console, std::span<const io::AllowedFolder> allowed) {
  if (!env.confine) {
    return;
  }
  const std::string in_force = env.confine(allowed);
  console.detail(in_force.empty() ? "not confined: this kernel has no Landlock and no seccomp"
                                  : "confined by " + in_force + " while the bundle is read");
}

void confine_to_folder(const Env& env, Console& console, const std::string& path) {
  const io::Fd folder = io::open_to_allow(path);
  const io::AllowedFolder allowed{folder.get(), io::AllowedFolder::What::contents};
  confine(env, console, std::span(&allowed, folder.is_open() ? 1 : 0));
}

std::string temporary_folder(const Env& env) {
  const auto folder = value_of(env.environment, "TMPDIR");
  return folder && !folder->empty() ? std::string(*folder) : "/tmp";
}

Result<DeepLook> look_deep(OpenBundle& open, const BundleOptions& options, const Env& env,
                           Console& console) {
  const pipeline::BundleInfo& info = open.bundle->info();
  // Not in one expression: at -O3 GCC 12 then takes the string for uninitialized.
  pipeline::SelectionRequest selection{.components = {knowledge::Component::cuda}};
  selection.arch = info.arch.empty() ? env.host_arch : info.arch;
  const pipeline::PlanRequest request{.selection = std::move(selection), .prefix = "/"};
  const std::string temporary = temporary_folder(env);
  confine_to_folder(env, console, temporary);
  pipeline::Gatherer gatherer(request.selection, open.read.limits, nullptr, temporary);
  CP_CHECK(gatherer.read(*open.bundle, open.read, options.reading.member));
  pipeline::Gathered gathered = gatherer.release();
  CP_TRY(auto plan, pipeline::make_plan(gathered, request));
  std::vector<std::string> archs = std::move(gathered.contents.libcuda_archs);
  std::sort(archs.begin(), archs.end());
  archs.erase(std::unique(archs.begin(), archs.end()), archs.end());
  return DeepLook{std::move(plan), std::move(gathered.bundles), std::move(archs)};
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
          {"kind", name_of(info.kind)},
          {"dialect", info.dialect},
          {"label", info.label},
          {"driver_version", info.driver ? Json(info.driver->text()) : Json()},
          {"arch", text_or_null(info.arch)},
          {"compression", formats::name_of(info.compression)},
          {"base64", info.is_base64},
          {"signature", text_or_null(info.signature)},
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
    list.push_back({{"bundle", one.bundle},
                    {"path", one.path},
                    {"component", one.component},
                    {"reason", one.reason}});
  }
  return list;
}

Json json_of(const std::optional<pipeline::SignedBy>& signed_by) {
  return signed_by ? Json{{"fingerprint", signed_by->fingerprint}, {"user", signed_by->user}}
                   : Json();
}

std::string shell_word(const std::string& path) {
  const bool plain = std::all_of(path.begin(), path.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("/._-+~@%,=:").find(c) != std::string_view::npos;
  });
  return plain ? path : printable(shell_quoted(path));
}

}  // namespace compatpack::commands
