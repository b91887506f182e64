// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "compatpack/base/text.hpp"
#include "compatpack/commands/commands.hpp"
#include "compatpack/io/absolute_path.hpp"
#include "compatpack/io/hashing_source.hpp"
#include "compatpack/io/output_dir.hpp"
#include "compatpack/pipeline/target.hpp"
#include "compatpack/pipeline/tree.hpp"

#include "bundle_steps.hpp"
#include "host_steps.hpp"
#include "signature_steps.hpp"
#include "target_steps.hpp"
#include "tree_steps.hpp"

namespace compatpack::commands {
namespace {

using pipeline::Receipt;
using pipeline::ReceiptBundle;
using pipeline::TreePlace;
using pipeline::Verify;

/// Whether `claim` was checked when the tree was made.
bool was_verified(const ReceiptBundle& bundle, const DigestClaim& claim) {
  const auto& verified = bundle.verified;
  const bool is_whole_sha256 = claim.algorithm == DigestAlgorithm::sha256 &&
                               claim.covers == ByteRange{{0}, {bundle.size.value}};
  return (is_whole_sha256 && claim.digest == bundle.sha256) ||
         std::any_of(verified.begin(), verified.end(), [&](const DigestClaim& one) {
           return one.algorithm == claim.algorithm && one.digest == claim.digest &&
                  one.covers == claim.covers;
         });
}

/// The paths of all that the tree has of a bundle: files, and a bundle inside it.
std::vector<std::string> taken_from(const Receipt& receipt, std::size_t number) {
  std::vector<std::string> paths;
  for (const pipeline::ReceiptFile& file : receipt.files) {
    if (file.bundle == number && !file.from.empty()) {
      paths.push_back(file.from);
    }
  }
  for (const ReceiptBundle& bundle : receipt.bundles) {
    if (bundle.inside == number) {
      paths.push_back(bundle.name);
    }
  }
  return paths;
}

/// Whether the header and its claims identify all of the bundle that the tree is made of: some
/// digest that cannot be met by chance covers all payloads, or each member that was taken.
bool is_identified_by_header(const pipeline::BundleInfo& info,
                             const std::vector<std::string>& taken) {
  const bool by_members = !info.member_claims.empty() &&
                          std::all_of(taken.begin(), taken.end(), [&info](const std::string& path) {
                            return info.member_claims.contains(path);
                          });
  return by_members || pipeline::are_payloads_covered(info, info.claims);
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
    request_ = {options_.source.selection, options_.prefix.empty() ? target_ : options_.prefix};
    CP_CHECK(pipeline::check_tree_path(request_.prefix));
    CP_TRY(open_, open_bundles(options_.source, env_, console_));
    CP_TRY(const bool up_to_date, look_twice([this] { return look_at_target(nullptr); }));
    return up_to_date ? report_up_to_date() : make_tree();
  }

 private:
  /// Whether the target is already what is asked for; `made` is what that is, null if it is not
  /// known yet. Error conflict where it is something else that may not be replaced.
  Result<bool> look_at_target(const Receipt* made) {
    CP_TRY(TreePlace place, pipeline::look_at_tree(target_));
    replaces_ = place.kind == TreePlace::Kind::tree;
    if (place.kind == TreePlace::Kind::nothing) {
      return false;
    }
    if (place.kind == TreePlace::Kind::foreign) {
      return foreign_target(options_.out, "a tree of compatpack's", place.why);
    }
    receipt_ = *std::move(place.receipt);
    // --force is what `verify` advises for a damaged tree, and damage may keep a file's size.
    CP_TRY(const auto faults, pipeline::check_tree(target_, receipt_,
                                                   options_.force ? pipeline::TreeCheck::digests
                                                                  : pipeline::TreeCheck::sizes,
                                                   options_.source.reading.jobs, env_.interrupted));
    CP_TRY(const Same same, made != nullptr ? compared(*made) : is_same_request());
    if (same == Same::yes && faults.empty()) {
      return true;
    }
    if (same == Same::unknown) {
      return false;  // a folder says nothing of itself before all of it has been read
    }
    CP_CHECK(check_replaceable(faults, same == Same::yes));
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
    std::vector<std::string> names;
    for (const OpenBundle& open : open_) {
      const pipeline::BundleInfo& info = open.bundle->info();
      names.push_back(info.name + size_of(info.size));
    }
    return joined(names, ", ") + ", with these options";
  }
  [[nodiscard]] std::string held() const {
    std::vector<std::string> names;
    for (const ReceiptBundle& bundle : receipt_.bundles) {
      if (!bundle.inside) {
        names.push_back(bundle.name + size_of(bundle.size));
      }
    }
    return joined(names, ", ") + ", driver " +
           (receipt_.driver_version.empty() ? "unknown" : receipt_.driver_version) + ", " +
           receipt_.selection.arch;
  }
  static std::string size_of(ByteCount size) {
    return size.value == 0 ? "" : " (" + std::to_string(size.value) + " bytes)";
  }

  enum class Same { yes, no, unknown };

  [[nodiscard]] Result<Same> compared(const Receipt& made) const {
    return pipeline::is_same(made, receipt_) ? Same::yes : Same::no;
  }

  /// Whether the receipt is of these bundles with these options. Reads a bundle only where its
  /// header does not identify it, or where somebody says something new of it.
  Result<Same> is_same_request() {
    std::vector<std::size_t> numbers;  // in the receipt, of the bundles that are files or folders
    for (std::size_t i = 0; i < receipt_.bundles.size(); ++i) {
      if (!receipt_.bundles[i].inside) {
        numbers.push_back(i);
      }
    }
    // Compared as they are written, which a name that is no UTF-8 is not as it stands.
    Receipt asked = receipt_;
    asked.selection = request_.selection;
    asked.prefix = request_.prefix;
    asked.verification_skipped = options_.source.verify == Verify::nothing;
    if (!pipeline::is_same(asked, receipt_) || numbers.size() != open_.size()) {
      return Same::no;
    }
    Same same = Same::yes;
    for (std::size_t i = 0; i < open_.size() && same != Same::no; ++i) {
      CP_TRY(const Same one, is_same_bundle(open_[i], numbers[i]));
      same = one == Same::yes ? same : one;
    }
    return same;
  }

  Result<Same> is_same_bundle(const OpenBundle& open, std::size_t number) {
    const pipeline::BundleInfo& info = open.bundle->info();
    const ReceiptBundle& held = receipt_.bundles[number];
    if (held.kind != name_of(info.kind) || held.size != info.size ||
        held.header_sha256 != info.header_sha256) {
      return Same::no;
    }
    // Which of the bundles inside was meant is known only when all have been seen.
    if (open.bundle->is_folder() || !options_.source.reading.member.empty()) {
      return Same::unknown;
    }
    const auto& said = open.read.user_claims;
    const bool nothing_new =
        options_.source.verify == Verify::nothing ||
        std::all_of(said.begin(), said.end(),
                    [&held](const DigestClaim& claim) { return was_verified(held, claim); });
    if (nothing_new && is_identified_by_header(info, taken_from(receipt_, number))) {
      return Same::yes;
    }
    CP_TRY(auto again, pipeline::Bundle::open(info.path, &console_, open.read.limits));
    CP_TRY(
        const std::string sha256,
        checked_sha256(
            *again, options_.source.verify == Verify::nothing ? std::vector<DigestClaim>() : said));
    return sha256 == held.sha256 ? Same::yes : Same::no;
  }

  Result<int> report_up_to_date() {
    if (!options_.dry_run) {
      io::remove_stale_staging(target_);
    }
    console_.answer(printable(options_.out) + ": up to date");
    for (const OpenBundle& open : open_) {
      if (open.read.signed_by) {
        console_.answer("  " + printable(open.bundle->info().name + ": signature by " +
                                         describe_signer(*open.read.signed_by)));
      }
    }
    if (console_.json()) {
      print_json("up to date", Json::array());
    }
    return 0;
  }

  Result<int> make_tree() {
    std::unique_ptr<io::OutputDir> dir;
    if (!options_.dry_run) {
      CP_TRY(dir, io::OutputDir::stage(target_, options_.durability));
      if (dir->is_noexec()) {
        console_.warn(options_.out +
                      ": the file system is mounted noexec; programs will not be able to load the "
                      "libraries from it");
      }
    }
    const std::string temporary = temporary_folder(env_);
    if (dir) {
      confine(env_, console_, dir->allowed_folders());
    } else {
      confine_to_folder(env_, console_, temporary);
    }
    CP_TRY(StagedTree made, stage_tree(open_, options_.source, request_, dir.get(), temporary));
    if (dir) {
      CP_TRY(const bool is_there,
             put_in_place(
                 [&] { return look_at_target(&made.receipt); }, [&] { return dir->sync(); },
                 [&] {
                   return dir->commit(replaces_ ? io::Replace::directory : io::Replace::nothing);
                 }));
      if (is_there) {
        return report_up_to_date();
      }
    }
    receipt_ = std::move(made.receipt);
    print_warnings(made, env_, console_);
    print_summary(made.plan, made.bundles);
    return 0;
  }

  void print_summary(const pipeline::Plan& plan, const std::vector<pipeline::ReadBundle>& bundles) {
    for (const pipeline::LeftOut& one : plan.left_out) {
      const std::string from = bundles.size() == 1 ? "" : bundles[one.bundle].info.name + ": ";
      console_.detail("left out: " + from + one.path + ": " + one.reason);
    }
    if (console_.json()) {
      print_json(options_.dry_run ? "would extract" : "extracted",
                 commands::json_of(plan.left_out));
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
    for (const pipeline::ReadBundle& bundle : bundles) {
      if (bundle.inside) {
        console_.answer("  found inside: " + printable(bundle.info.path));
      }
    }
    for (const std::string& line : describe_verifications(bundles, options_.source.verify)) {
      console_.answer("  " + printable(line));
    }
    print_expectation(plan);
    const bool has_script =
        std::any_of(plan.texts.begin(), plan.texts.end(),
                    [](const pipeline::PlannedText& text) { return text.at.text() == "env.sh"; });
    if (has_script && !options_.dry_run) {
      console_.answer("  to use it: . " + shell_word(options_.out + "/env.sh"));
    }
  }

  /// What `check` would say on this host. Where the host cannot be looked at, nothing.
  void print_expectation(const pipeline::Plan& plan) {
    if (env_.host_root.empty() || !plan.driver || !console_.has_answer()) {
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
  std::vector<OpenBundle> open_;
  bool replaces_ = false;  // a tree stands at the target, and may be replaced
  Receipt receipt_{};      // of the tree that stands there, then of the one that was made
};

}  // namespace

Result<int> run_extract(const ExtractOptions& options, const Env& env, Console& console) {
  return Extract(options, env, console).run();
}

}  // namespace compatpack::commands
