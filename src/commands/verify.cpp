// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "compatpack/base/text.hpp"
#include "compatpack/commands/commands.hpp"
#include "compatpack/io/folder_walk.hpp"
#include "compatpack/pipeline/tree.hpp"

#include "bundle_steps.hpp"

namespace compatpack::commands {
namespace {

/// Reads every byte of every member, so that the checks inside the streams are made too.
class Reader final : public pipeline::MemberVisitor {
 public:
  Result<Done> visit(const pipeline::Member& member, pipeline::MemberContent& content) override {
    ++members_;
    CP_TRY(const ByteCount size, io::drain(content));
    if (member.type == formats::EntryType::file) {
      unpacked_.value += size.value;
    }
    return Done{};
  }

  [[nodiscard]] std::uint64_t members() const { return members_; }
  [[nodiscard]] ByteCount unpacked() const { return unpacked_; }

 private:
  std::uint64_t members_ = 0;
  ByteCount unpacked_;
};

Result<int> verify_bundle(const VerifyOptions& options, const Env& env, Console& console) {
  if (options.repair) {
    return Error{.code = Errc::usage,
                 .what = "only a tree can be repaired",
                 .subject = options.bundle.path,
                 .expected = "--repair with a tree",
                 .found = "a bundle"};
  }
  CP_TRY(OpenBundle open, open_bundle(options.bundle, env, console));
  confine(env, console, {});
  Reader reader;
  CP_TRY(const auto verification, pipeline::read_members(*open.bundle, open.read, reader));
  for (const std::string& warning : verification.warnings) {
    console.warn(warning);
  }
  const std::string& path = options.bundle.path;
  const bool verified = !verification.claims.empty() || verification.members_checked > 0;
  console.answer(printable(path) + ": " + (verified ? "whole" : "readable") + ", " +
                 std::to_string(reader.members()) + " members, " + human_size(reader.unpacked()) +
                 " unpacked");
  console.answer(
      "  " + describe_verification(open.bundle->info(), verification, pipeline::Verify::claims));
  console.answer("  SHA-256:  " + verification.sha256);
  if (console.json()) {
    console.document(rendered({{"status", verified ? "verified" : "not verified"},
                               {"bundle", json_of(open.bundle->info())},
                               {"sha256", verification.sha256},
                               {"verified", json_of(verification.claims)},
                               {"signed_by", json_of(verification.signed_by)},
                               {"members", reader.members()},
                               {"unpacked", reader.unpacked().value}}));
  }
  return 0;
}

/// The faults that make a tree unsound: an extra file beside the libraries does not.
bool is_grave(const pipeline::TreeFault& fault) {
  return fault.kind != pipeline::TreeFault::Kind::extra;
}

Result<int> verify_tree(const VerifyOptions& options, const Env& env, Console& console) {
  const std::string& path = options.bundle.path;
  CP_CHECK(refuse_bundle_options(options.bundle));
  CP_TRY(const pipeline::Receipt receipt, pipeline::read_tree(path));
  CP_TRY(auto faults, pipeline::check_tree(path, receipt, pipeline::TreeCheck::digests,
                                           options.bundle.reading.jobs, env.interrupted));
  bool repaired = false;
  if (options.repair && std::any_of(faults.begin(), faults.end(), pipeline::is_repairable)) {
    CP_CHECK(pipeline::repair_tree(path, receipt, faults));
    for (const auto& fault : faults) {
      if (pipeline::is_repairable(fault)) {
        console.answer(printable(path + "/" + fault.path) + ": repaired");
      }
    }
    repaired = true;
    CP_TRY(faults, pipeline::check_tree(path, receipt, pipeline::TreeCheck::digests,
                                        options.bundle.reading.jobs, env.interrupted));
  }
  const bool grave = std::any_of(faults.begin(), faults.end(), is_grave);
  if (console.json()) {
    Json list = Json::array();
    for (const auto& fault : faults) {
      list.push_back({{"path", fault.path},
                      {"fault", pipeline::describe(fault)},
                      {"expected", fault.expected},
                      {"found", fault.found}});
    }
    console.document(rendered({{"status", grave ? "damaged" : "whole"},
                               {"tree", path},
                               {"repaired", repaired},
                               {"driver_version", receipt.driver_version},
                               {"faults", std::move(list)}}));
  }
  for (const auto& fault : faults) {
    if (!is_grave(fault)) {
      console.warn(path + "/" + fault.path + " " + pipeline::describe(fault));
      continue;
    }
    console.error(Error{.code = Errc::mismatch,
                        .what = pipeline::describe(fault),
                        .subject = path + "/" + fault.path,
                        .expected = fault.expected,
                        .found = fault.found,
                        .hint = pipeline::is_repairable(fault)
                                    ? "verify --repair mends it"
                                    : "extract the bundle again with --force"});
  }
  if (!grave) {
    console.answer(printable(path) + ": whole, driver " + receipt.driver_version + ", " +
                   std::to_string(receipt.files.size()) + " files and " +
                   std::to_string(receipt.links.size()) + " links");
  }
  return grave ? exit_status(Errc::mismatch) : 0;
}

}  // namespace

Result<int> run_verify(const VerifyOptions& options, const Env& env, Console& console) {
  return io::is_folder(options.bundle.path) ? verify_tree(options, env, console)
                                            : verify_bundle(options, env, console);
}

}  // namespace compatpack::commands
