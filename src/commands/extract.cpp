// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "compatpack/base/text.hpp"
#include "compatpack/commands/commands.hpp"
#include "compatpack/io/hashing_source.hpp"
#include "compatpack/io/output_dir.hpp"
#include "compatpack/io/text_file.hpp"
#include "compatpack/pipeline/target.hpp"
#include "compatpack/pipeline/tree.hpp"

#include "bundle_steps.hpp"
#include "host_steps.hpp"

namespace compatpack::commands {
namespace {

using pipeline::Receipt;
using pipeline::TreePlace;
using pipeline::Verify;

/// Whether `claim` was checked when the tree was made.
bool was_verified(const Receipt& receipt, const DigestClaim& claim) {
  const auto& verified = receipt.bundle.verified;
  const bool is_whole_sha256 = claim.algorithm == DigestAlgorithm::sha256 &&
                               claim.covers == ByteRange{{0}, {receipt.bundle.size.value}};
  return (is_whole_sha256 && claim.digest == receipt.bundle.sha256) ||
         std::any_of(verified.begin(), verified.end(), [&](const DigestClaim& one) {
           return one.algorithm == claim.algorithm && one.digest == claim.digest &&
                  one.covers == claim.covers;
         });
}

/// Whether the header and its claims identify the whole bundle: some digest that cannot be met by
/// chance covers all payloads.
bool is_identified_by_header(const pipeline::BundleInfo& info, const Receipt& receipt) {
  // A package's header has a digest of each file that the tree has of it.
  const bool by_members =
      !info.member_claims.empty() && std::all_of(receipt.files.begin(), receipt.files.end(),
                                                 [&info](const pipeline::ReceiptFile& file) {
                                                   return file.from.empty() ||
                                                          info.member_claims.contains(file.from);
                                                 });
  return by_members ||
         std::all_of(info.payloads.begin(), info.payloads.end(), [&](const ByteRange& payload) {
           return std::any_of(
               info.claims.begin(), info.claims.end(), [&](const DigestClaim& claim) {
                 return claim.algorithm != DigestAlgorithm::cksum &&
                        claim.covers.begin <= payload.begin && claim.covers.end >= payload.end;
               });
         });
}

/// SHA-256 of the whole bundle. Error mismatch where one of `claims` does not hold.
Result<std::string> checked_sha256(pipeline::Bundle& bundle,
                                   const std::vector<DigestClaim>& claims) {
  io::HashingSource bytes(bundle.bytes(), claims);
  CP_CHECK(bytes.finish());
  CP_CHECK(bundle.check_unchanged());
  if (auto verdict = bytes.checker().verdict(); !verdict) {
    verdict.error().subject = bundle.info().path;
    return std::move(verdict).error();
  }
  return bytes.checker().whole_sha256();
}

/// One run of extract.
class Extract {
 public:
  Extract(const ExtractOptions& options, const Env& env, Console& console)
      : options_(options), env_(env), console_(console) {}

  Result<int> run() {
    CP_TRY(target_, io::absolute_tree(options_.out));
    CP_CHECK(pipeline::check_tree_path(target_));
    request_ = {options_.selection, options_.prefix.empty() ? target_ : options_.prefix};
    CP_CHECK(pipeline::check_tree_path(request_.prefix));
    CP_TRY(open_, open_bundle(options_.bundle, console_));
    open_.read.verify = options_.verify;
    if (options_.verify == Verify::nothing) {
      console_.warn("--no-verify: the bundle's checksums are not compared");
    }
    CP_TRY(const bool up_to_date, look_at_target());
    return up_to_date ? report_up_to_date() : make_tree();
  }

 private:
  [[nodiscard]] const pipeline::BundleInfo& info() const { return open_.bundle->info(); }

  /// Whether the target is already what is asked for. Error conflict where it is something else
  /// that may not be replaced.
  Result<bool> look_at_target() {
    CP_TRY(TreePlace place, pipeline::look_at_tree(target_));
    replaces_ = place.kind == TreePlace::Kind::tree;
    if (place.kind == TreePlace::Kind::nothing) {
      return false;
    }
    if (place.kind == TreePlace::Kind::foreign) {
      return Error{.code = Errc::conflict,
                   .what = "target holds something that compatpack did not make",
                   .subject = options_.out,
                   .expected = "nothing, an empty folder, or a tree of compatpack's",
                   .found = place.why,
                   .hint = "choose another --out; such a folder is never replaced"};
    }
    receipt_ = *std::move(place.receipt);
    // --force is what `verify` advises for a damaged tree, and damage may keep a file's size.
    CP_TRY(const auto faults, pipeline::check_tree(target_, receipt_,
                                                   options_.force ? pipeline::TreeCheck::digests
                                                                  : pipeline::TreeCheck::sizes));
    CP_TRY(const bool same, is_same_request());
    if (same && faults.empty()) {
      return true;
    }
    CP_CHECK(check_replaceable(faults, same));
    return false;
  }

  Result<Done> check_replaceable(const std::vector<pipeline::TreeFault>& faults, bool same) {
    for (const pipeline::TreeFault& fault : faults) {
      // Also where something of somebody else's stands under a name of the tree's.
      using Kind = pipeline::TreeFault::Kind;
      if (fault.kind == Kind::extra || fault.kind == Kind::not_a_file ||
          fault.kind == Kind::not_a_link) {
        return Error{.code = Errc::conflict,
                     .what = "tree holds a file that compatpack did not put there",
                     .subject = options_.out,
                     .found = fault.path,
                     .hint = "move it away; nothing that is not compatpack's is ever removed"};
      }
    }
    if (options_.force) {
      return Done{};
    }
    if (same) {
      return Error{.code = Errc::conflict,
                   .what = "tree is not whole any more",
                   .subject = options_.out,
                   .found = faults.front().path + " " + pipeline::describe(faults.front()),
                   .hint = "--force makes it anew"};
    }
    return Error{.code = Errc::conflict,
                 .what = "target holds another tree",
                 .subject = options_.out,
                 .expected = wanted(),
                 .found = held(),
                 .hint = "--force replaces it"};
  }

  /// What is asked for and what is there, in words that differ.
  [[nodiscard]] std::string wanted() const {
    return info().name + " (" + std::to_string(info().size.value) + " bytes), with these options";
  }
  [[nodiscard]] std::string held() const {
    return receipt_.bundle.name + " (" + std::to_string(receipt_.bundle.size.value) +
           " bytes), driver " + receipt_.driver_version + ", " + receipt_.selection.arch;
  }

  /// Whether the receipt is of this bundle with these options. Reads the bundle only where its
  /// header does not identify it, or where somebody says something new of it.
  Result<bool> is_same_request() {
    const bool options_same = receipt_.selection == request_.selection &&
                              receipt_.prefix == request_.prefix &&
                              receipt_.verification_skipped == (options_.verify == Verify::nothing);
    if (!options_same || receipt_.bundle.size != info().size ||
        receipt_.bundle.header_sha256 != info().header_sha256) {
      return false;
    }
    const auto& said = open_.read.user_claims;
    const bool nothing_new =
        options_.verify == Verify::nothing ||
        std::all_of(said.begin(), said.end(),
                    [this](const DigestClaim& claim) { return was_verified(receipt_, claim); });
    if (nothing_new && is_identified_by_header(info(), receipt_)) {
      return true;
    }
    CP_TRY(auto again, pipeline::Bundle::open(info().path, &console_, open_.read.limits));
    CP_TRY(const std::string sha256,
           checked_sha256(*again,
                          options_.verify == Verify::nothing ? std::vector<DigestClaim>() : said));
    return sha256 == receipt_.bundle.sha256;
  }

  Result<int> report_up_to_date() {
    if (!options_.dry_run) {
      io::remove_stale_staging(target_);
    }
    console_.answer(printable(options_.out) + ": up to date");
    if (console_.json()) {
      print_json("up to date", Json::array());
    }
    return 0;
  }

  Result<int> make_tree() {
    std::unique_ptr<io::OutputDir> dir;
    if (!options_.dry_run) {
      CP_TRY(dir, io::OutputDir::stage(target_));
      if (dir->is_noexec()) {
        console_.warn(options_.out +
                      ": the file system is mounted noexec; programs will not be able to load the "
                      "libraries from it");
      }
    }
    pipeline::Stager stager(request_.selection, open_.read.limits, dir.get());
    CP_TRY(const auto verification, pipeline::read_members(*open_.bundle, open_.read, stager));
    auto planned = pipeline::make_plan(info(), stager.contents(), request_);
    if (!planned) {
      Error error = std::move(planned).error();
      error.subject = info().path;
      return error;
    }
    const pipeline::Plan& plan = *planned;
    Receipt made = pipeline::make_receipt(plan, info(), verification, options_.verify, request_);
    if (dir) {
      CP_CHECK(pipeline::write_tree(*dir, stager.contents(), plan, made));
      CP_TRY(const bool made_meanwhile, put_in_place(*dir));
      if (made_meanwhile) {
        return report_up_to_date();
      }
    }
    receipt_ = std::move(made);
    print_warnings(plan, verification);
    print_summary(plan, verification);
    return 0;
  }

  /// Commits `dir`; returns whether another process has made the same tree meanwhile instead.
  Result<bool> put_in_place(io::OutputDir& dir) {
    // Reading took its time: what stands at the target now is what counts.
    CP_TRY(const bool before, look_at_target());
    if (before) {
      return true;
    }
    auto committed = dir.commit(replaces_ ? io::Replace::directory : io::Replace::nothing);
    if (committed) {
      return false;
    }
    if (committed.error().code == Errc::conflict) {
      CP_TRY(const bool since, look_at_target());
      if (since) {
        return true;
      }
    }
    return std::move(committed).error();
  }

  void print_warnings(const pipeline::Plan& plan, const pipeline::Verification& verification) {
    for (const std::string& warning : verification.warnings) {
      console_.warn(info().name + ": " + warning);
    }
    for (const std::string& warning : plan.warnings) {
      console_.warn(warning);
    }
    if (!env_.host_glibc.empty() && is_newer_version(plan.glibc_needed, env_.host_glibc)) {
      console_.warn("the libraries need glibc " + plan.glibc_needed + ", this host has " +
                    env_.host_glibc);
    }
  }

  void print_summary(const pipeline::Plan& plan, const pipeline::Verification& verification) {
    for (const pipeline::LeftOut& one : plan.left_out) {
      console_.detail("left out: " + one.path + ": " + one.reason);
    }
    if (console_.json()) {
      print_json(options_.dry_run ? "would extract" : "extracted", json_of(plan.left_out));
      return;
    }
    std::string head = printable(options_.out) + ":";
    if (plan.driver) {
      head += " driver " + plan.driver->text() + ",";
    }
    if (plan.cuda) {
      head += " CUDA " + plan.cuda->text() + ",";
    }
    head += " " + plan.arch;
    console_.answer(options_.dry_run ? head + " (dry run: nothing was written)" : head);
    for (const pipeline::PlannedFile& file : plan.files) {
      std::string line = "  " + printable(file.to.text());
      line.resize(std::max<std::size_t>(line.size() + 1, 48), ' ');
      const std::string links = links_to(plan, file.to);
      console_.answer(line + human_size(file.size) + (links.empty() ? "" : "  " + links));
    }
    console_.answer("  " + describe_verification(info(), verification, options_.verify));
    print_expectation(plan);
    if (!plan.texts.empty() && !options_.dry_run && plan.driver) {
      console_.answer("  to use it: . " + shell_word(options_.out + "/env.sh"));
    }
  }

  /// What `check` would say on this host. Where the host cannot be looked at, nothing.
  void print_expectation(const pipeline::Plan& plan) {
    if (env_.host_root.empty() || !plan.driver) {
      return;
    }
    const auto look = look_at_host({.root = env_.host_root}, env_, target_, "");
    if (!look) {
      return;
    }
    const host::Package package = package_of(plan);
    const host::Judgement judgement = host::judge(look->facts, &package, look->table, env_.today);
    console_.answer("  on this host: " + std::string(words_of(judgement.verdict)) + ": " +
                    printable(judgement.reason));
  }

  /// The links that lead to a file, through other links too.
  static std::string links_to(const pipeline::Plan& plan, const FileName& file) {
    std::string out;
    std::vector<std::string> targets{file.text()};
    for (std::size_t i = 0; i < targets.size(); ++i) {
      for (const pipeline::PlannedLink& link : plan.links) {
        if (link.target.text() == targets[i]) {
          out += (out.empty() ? "<- " : " <- ") + printable(link.at.text());
          targets.push_back(link.at.text());
        }
      }
    }
    return out;
  }

  /// A path as one types it: quoted only where it must be.
  static std::string shell_word(const std::string& path) {
    const bool plain = std::all_of(path.begin(), path.end(), [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
             std::string_view("/._-+~@%,=").find(c) != std::string_view::npos;
    });
    return plain ? path : printable(shell_quoted(path));
  }

  void print_json(const char* status, Json left_out) {
    Json json = Json::parse(pipeline::render_receipt(receipt_));
    Json document = {{"status", status}, {"tree", target_}};
    document.update(json);
    document["left_out"] = std::move(left_out);
    console_.document(rendered(document));
  }

  const ExtractOptions& options_;
  const Env& env_;
  Console& console_;
  std::string target_;  // absolute
  pipeline::PlanRequest request_;
  OpenBundle open_;
  bool replaces_ = false;  // a tree stands at the target, and may be replaced
  Receipt receipt_{};      // of the tree that stands there, then of the one that was made
};

}  // namespace

Result<int> run_extract(const ExtractOptions& options, const Env& env, Console& console) {
  return Extract(options, env, console).run();
}

}  // namespace compatpack::commands
