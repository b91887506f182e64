// SPDX-License-Identifier: Apache-2.0
#include "compatpack/pipeline/tree.hpp"

#include <algorithm>
#include <atomic>
#include <future>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "compatpack/io/digest.hpp"
#include "compatpack/io/folder_walk.hpp"
#include "compatpack/io/text_file.hpp"
#include "compatpack/io/tree_folder.hpp"

namespace compatpack::pipeline {
namespace {

// A receipt of 1,000 files is 300 KB.
constexpr ByteCount kReceiptMax{1U << 20U};

using Kind = TreeFault::Kind;
using io::TreeEntry;

std::string octal(unsigned mode) {
  std::string out;
  for (int shift = 9; shift >= 0; shift -= 3) {
    out += static_cast<char>('0' + ((mode >> static_cast<unsigned>(shift)) & 7U));
  }
  return out;
}

std::string in_bytes(ByteCount size) { return std::to_string(size.value) + " bytes"; }

io::FileMode mode_of(const ReceiptFile& file) {
  return file.is_program ? io::FileMode::program : io::FileMode::data;
}

/// Hashing ends where somebody asks to stop.
class StopObserver final : public io::ReadObserver {
 public:
  explicit StopObserver(const std::function<bool()>& interrupted) : interrupted_(interrupted) {}
  Result<Done> on_read(ByteCount /*so_far*/, ByteCount /*total*/) override {
    return interrupted_ && interrupted_()
               ? Result<Done>(Error{.code = Errc::interrupted, .what = "interrupted"})
               : Done{};
  }

 private:
  const std::function<bool()>& interrupted_;
};

Result<std::optional<TreeFault>> check_file(const io::TreeFolder& folder, const ReceiptFile& file,
                                            TreeCheck how, io::ReadObserver& observer) {
  CP_TRY(const TreeEntry entry, folder.look(file.path));
  const auto fault = [&](Kind kind, std::string expected, std::string found) {
    return std::optional(TreeFault{kind, file.path, std::move(expected), std::move(found)});
  };
  if (entry.kind == TreeEntry::Kind::nothing) {
    return fault(Kind::missing, "a file of " + in_bytes(file.size), "nothing");
  }
  if (entry.kind != TreeEntry::Kind::file) {
    return fault(Kind::not_a_file, "a file of " + in_bytes(file.size), entry.shown());
  }
  if (entry.size != file.size) {
    return fault(Kind::wrong_size, in_bytes(file.size), in_bytes(entry.size));
  }
  const auto wanted = static_cast<unsigned>(mode_of(file));
  // Before the content, which may not be readable in that mode. A group's or umask's doing is no
  // fault, as long as all can read, and run what is to be run.
  if ((entry.mode_bits & wanted & 0555U) != (wanted & 0555U)) {
    return fault(Kind::wrong_mode, "mode " + octal(wanted), "mode " + octal(entry.mode_bits));
  }
  if (how == TreeCheck::digests) {
    CP_TRY(const std::string sha256, folder.sha256(file.path, &observer));
    if (sha256 != file.sha256) {
      return fault(Kind::wrong_content, "SHA-256 " + file.sha256, sha256);
    }
  }
  return std::optional<TreeFault>();
}

/// The file that each name leads to in the end, through other links; null where links lead in a
/// circle.
using FilesBehind = std::map<std::string_view, const ReceiptFile*>;

FilesBehind files_behind(const Receipt& receipt) {
  FilesBehind behind;
  for (const ReceiptFile& file : receipt.files) {
    behind.emplace(file.path, &file);
  }
  std::map<std::string_view, std::string_view> targets;
  for (const ReceiptLink& link : receipt.links) {
    targets.emplace(link.path, link.target);
  }
  for (const ReceiptLink& link : receipt.links) {
    // Until the end is known, what is on the way leads nowhere: so a circle has an end, and no
    // name is looked at twice.
    std::vector<std::string_view> way;
    std::string_view name = link.path;
    for (; targets.contains(name) && behind.emplace(name, nullptr).second; name = targets[name]) {
      way.push_back(name);
    }
    const auto end = behind.find(name);
    for (const std::string_view one : way) {
      behind[one] = end == behind.end() ? nullptr : end->second;
    }
  }
  return behind;
}

Result<std::optional<TreeFault>> check_link(const io::TreeFolder& folder, const ReceiptLink& link,
                                            const ReceiptFile* file, TreeCheck how,
                                            io::ReadObserver& observer) {
  CP_TRY(const TreeEntry entry, folder.look(link.path));
  const auto fault = [&](Kind kind) {
    return std::optional(TreeFault{kind, link.path, "a link to " + link.target, entry.shown()});
  };
  switch (entry.kind) {
    case TreeEntry::Kind::nothing:
      return fault(Kind::link_missing);
    case TreeEntry::Kind::file: {
      // Somebody's own file is not a copy of what the link led to, and is never replaced by repair.
      if (file == nullptr || entry.size != file->size) {
        return fault(Kind::not_a_link);
      }
      if (how == TreeCheck::digests) {
        CP_TRY(const std::string sha256, folder.sha256(link.path, &observer));
        return fault(sha256 == file->sha256 ? Kind::link_is_a_file : Kind::not_a_link);
      }
      return fault(Kind::link_is_a_file);
    }
    case TreeEntry::Kind::link:
      break;
    case TreeEntry::Kind::folder:
    case TreeEntry::Kind::other:
      return fault(Kind::not_a_link);
  }
  return entry.link_target == link.target ? std::optional<TreeFault>() : fault(Kind::wrong_link);
}

/// Compares all files, each in one of `jobs` threads; the largest first, since the last to be
/// started decides when all are done.
Result<std::vector<TreeFault>> check_files(const io::TreeFolder& folder,
                                           const std::vector<ReceiptFile>& files, TreeCheck how,
                                           unsigned jobs, io::ReadObserver& observer) {
  std::vector<const ReceiptFile*> order;
  order.reserve(files.size());
  for (const ReceiptFile& file : files) {
    order.push_back(&file);
  }
  std::sort(order.begin(), order.end(), [](const ReceiptFile* a, const ReceiptFile* b) {
    return std::tie(b->size.value, a->path) < std::tie(a->size.value, b->path);
  });
  std::atomic<std::size_t> next = 0;
  const auto work = [&]() -> Result<std::vector<TreeFault>> {
    std::vector<TreeFault> faults;
    for (std::size_t i = next++; i < order.size(); i = next++) {
      CP_TRY(auto fault, check_file(folder, *order[i], how, observer));
      if (fault) {
        faults.push_back(*std::move(fault));
      }
    }
    return faults;
  };
  std::vector<std::future<Result<std::vector<TreeFault>>>> others;
  while (others.size() + 1 < std::min<std::size_t>(jobs, order.size())) {
    others.push_back(std::async(std::launch::async, work));
  }
  auto all = work();
  for (auto& other : others) {
    auto faults = other.get();
    if (!faults) {
      all = std::move(faults);
    } else if (all) {
      all->insert(all->end(), faults->begin(), faults->end());
    }
  }
  return all;
}

ReceiptBundle entry_of(const ReadBundle& bundle, Verify verify) {
  const Verification& verification = bundle.verification;
  ReceiptBundle entry{.name = bundle.info.name,
                      .inside = bundle.inside,
                      .size = bundle.info.size,
                      .sha256 = verification.sha256,
                      .header_sha256 = bundle.info.header_sha256,
                      .kind = std::string(name_of(bundle.info.kind)),
                      .dialect = bundle.info.dialect,
                      .verified = {}};
  if (verification.signed_by) {
    entry.signed_by = verification.signed_by->fingerprint;
  }
  if (verify == Verify::nothing) {
    return entry;
  }
  entry.members_verified = verification.members_checked;
  entry.members_verified_by =
      verification.members_checked > 0 ? bundle.info.member_claims_origin : "";
  for (const io::CheckedClaim& one : verification.claims) {
    entry.verified.push_back(one.claim);
  }
  return entry;
}

}  // namespace

std::string_view compatpack_version() { return COMPATPACK_VERSION; }

Result<TreePlace> look_at_tree(const std::string& path) {
  CP_TRY(const auto folder, io::TreeFolder::open(path));
  if (!folder) {
    return TreePlace{.kind = TreePlace::Kind::nothing};
  }
  if (!folder->is_folder()) {
    return TreePlace{.kind = TreePlace::Kind::foreign, .why = "is not a folder"};
  }
  CP_TRY(const auto names, folder->names());
  if (names.empty()) {
    return TreePlace{.kind = TreePlace::Kind::nothing};
  }
  if (std::find(names.begin(), names.end(), kReceiptName) == names.end()) {
    return TreePlace{.kind = TreePlace::Kind::foreign,
                     .why = "has files, and no " + std::string(kReceiptName)};
  }
  const auto text = io::read_text_file(path + "/" + std::string(kReceiptName), kReceiptMax);
  if (!text && text.error().code == Errc::io) {
    return text.error();
  }
  auto receipt = text ? parse_receipt(text->value_or("")) : Result<Receipt>(text.error());
  if (!receipt) {
    return TreePlace{.kind = TreePlace::Kind::foreign,
                     .why = std::string(kReceiptName) + ": " + receipt.error().what};
  }
  return TreePlace{.kind = TreePlace::Kind::tree, .receipt = *std::move(receipt)};
}

Result<Receipt> read_tree(const std::string& path) {
  CP_TRY(TreePlace place, look_at_tree(path));
  if (place.kind == TreePlace::Kind::tree) {
    return *std::move(place.receipt);
  }
  const bool nothing = place.kind == TreePlace::Kind::nothing;
  const bool is_folder = nothing && io::is_folder(path);
  return Error{.code = nothing && !is_folder ? Errc::io : Errc::not_recognized,
               .what = "not a compat tree",
               .subject = path,
               .expected = "a folder that `compatpack extract` made",
               .found = is_folder ? "an empty folder"
                        : nothing ? "nothing there"
                                  : place.why};
}

Result<std::vector<TreeFault>> check_tree(const std::string& path, const Receipt& receipt,
                                          TreeCheck how, unsigned jobs,
                                          const std::function<bool()>& interrupted) {
  CP_TRY(const auto folder, io::TreeFolder::open(path));
  if (!folder || !folder->is_folder()) {
    return Error{.code = Errc::io, .what = "not a folder", .subject = path};
  }
  StopObserver stop(interrupted);  // has no state: the threads share it
  std::set<std::string, std::less<>> known{std::string(kReceiptName)};
  for (const ReceiptFile& file : receipt.files) {
    known.insert(file.path);
  }
  CP_TRY(auto faults,
         check_files(*folder, receipt.files, how, how == TreeCheck::digests ? jobs : 1, stop));
  const FilesBehind behind = files_behind(receipt);
  for (const ReceiptLink& link : receipt.links) {
    known.insert(link.path);
    CP_TRY(auto fault, check_link(*folder, link, behind.at(link.path), how, stop));
    if (fault) {
      faults.push_back(*std::move(fault));
    }
  }
  CP_TRY(const auto names, folder->names());
  for (const std::string& name : names) {
    if (!known.contains(name)) {
      CP_TRY(const TreeEntry entry, folder->look(name));
      faults.push_back({Kind::extra, name, "nothing", entry.shown()});
    }
  }
  std::stable_sort(faults.begin(), faults.end(),
                   [](const TreeFault& a, const TreeFault& b) { return a.path < b.path; });
  return faults;
}

std::string describe(const TreeFault& fault) {
  switch (fault.kind) {
    case Kind::missing:
    case Kind::link_missing:
      return "is missing";
    case Kind::wrong_size:
      return "has another size";
    case Kind::wrong_content:
      return "has other content";
    case Kind::wrong_mode:
      return "has another mode";
    case Kind::wrong_link:
      return "leads elsewhere";
    case Kind::link_is_a_file:
      return "is a file where a link should be (a copy that followed links?)";
    case Kind::not_a_file:
      return "is not a file";
    case Kind::not_a_link:
      return "is not a link";
    case Kind::extra:
      return "is not of this tree";
  }
  return "differs";
}

bool is_repairable(const TreeFault& fault) {
  switch (fault.kind) {
    case Kind::link_missing:
    case Kind::wrong_mode:
    case Kind::wrong_link:
    case Kind::link_is_a_file:
      return true;
    case Kind::missing:
    case Kind::wrong_size:
    case Kind::wrong_content:
    case Kind::not_a_file:
    case Kind::not_a_link:
    case Kind::extra:
      return false;
  }
  return false;
}

Result<Done> repair_tree(const std::string& path, const Receipt& receipt,
                         const std::vector<TreeFault>& faults) {
  CP_TRY(const auto folder, io::TreeFolder::open(path));
  if (!folder) {
    return Error{.code = Errc::io, .what = "not a folder", .subject = path};
  }
  for (const TreeFault& fault : faults) {
    if (!is_repairable(fault)) {
      continue;
    }
    for (const ReceiptLink& link : receipt.links) {
      if (link.path == fault.path) {
        CP_CHECK(folder->put_link(link.path, link.target));
      }
    }
    for (const ReceiptFile& file : receipt.files) {
      if (file.path == fault.path) {
        CP_CHECK(folder->set_mode(file.path, mode_of(file)));
      }
    }
  }
  return Done{};
}

Receipt make_receipt(const Plan& plan, const std::vector<ReadBundle>& bundles, Verify verify,
                     const PlanRequest& request) {
  Receipt receipt{.compatpack_version = std::string(compatpack_version()),
                  .bundles = {},
                  .verification_skipped = verify == Verify::nothing,
                  .driver_version = plan.driver ? plan.driver->text() : "",
                  .cuda_version = plan.cuda ? plan.cuda->text() : "",
                  .selection = request.selection,
                  .prefix = request.prefix,
                  .files = {},
                  .links = {}};
  for (const ReadBundle& bundle : bundles) {
    receipt.bundles.push_back(entry_of(bundle, verify));
  }
  for (const PlannedFile& file : plan.files) {
    receipt.files.push_back({.path = file.to.text(),
                             .size = file.size,
                             .sha256 = file.sha256,
                             .is_program = file.is_program,
                             .component = file.component,
                             .from = file.from,
                             .bundle = file.bundle});
  }
  for (const PlannedText& text : plan.texts) {
    receipt.files.push_back({.path = text.at.text(),
                             .size = {text.content.size()},
                             .sha256 = io::sha256_of(as_bytes(text.content)),
                             .is_program = false});
  }
  std::sort(receipt.files.begin(), receipt.files.end(),
            [](const ReceiptFile& a, const ReceiptFile& b) { return a.path < b.path; });
  for (const PlannedLink& link : plan.links) {
    receipt.links.push_back({link.at.text(), link.target.text()});
  }
  return receipt;
}

Result<std::string> receipt_text(const Receipt& receipt) {
  std::string said = render_receipt(receipt);
  if (said.size() > kReceiptMax.value) {
    return Error{.code = Errc::limit,
                 .what = "tree would hold more than its receipt can list",
                 .subject = receipt.bundles.front().name,
                 .expected = "a receipt of at most " + in_bytes(kReceiptMax),
                 .found = in_bytes({said.size()}),
                 .hint = "ask for less: fewer components, or --exclude"};
  }
  return said;
}

Result<Done> write_tree(io::OutputDir& dir, const Contents& contents, const Plan& plan,
                        const std::string& receipt) {
  std::set<std::size_t> named;
  for (const PlannedFile& file : plan.files) {
    named.insert(file.member);
    CP_CHECK(dir.rename(Stager::staged_name(file.member), file.to));
  }
  for (const auto& [number, member] : contents.members) {
    if (!named.contains(number)) {
      CP_CHECK(dir.remove(Stager::staged_name(number)));
    }
  }
  for (const PlannedText& text : plan.texts) {
    CP_CHECK(dir.write_text(text.at, text.content, io::FileMode::data));
  }
  for (const PlannedLink& link : plan.links) {
    CP_CHECK(dir.link(link.at, link.target));
  }
  CP_TRY(const FileName name, FileName::parse(kReceiptName));
  return dir.write_text(name, receipt, io::FileMode::data);
}

}  // namespace compatpack::pipeline
