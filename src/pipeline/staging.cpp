// SPDX-License-Identifier: Apache-2.0
#include "compatpack/pipeline/staging.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "compatpack/io/block_worker.hpp"
#include "compatpack/io/digest.hpp"

namespace compatpack::pipeline {
namespace {

using formats::EntryType;

constexpr std::size_t kPathsMax = 200;

Result<std::string> read_member_text(io::Source& content, const Member& member, ByteCount max) {
  auto text = io::read_text(content, member.size, max);
  if (!text) {
    if (text.error().code == Errc::limit) {
      text.error().subject = member.path.text();
    }
    return text;
  }
  // To the end, where a claim about the member is checked.
  CP_CHECK(io::drain(content));
  return text;
}

/// What is computed of a member while it is written.
struct Digests {
  explicit Digests(const MemberClaim* claim) : sha256(DigestAlgorithm::sha256) {
    if (claim != nullptr && claim->algorithm != DigestAlgorithm::sha256) {
      claimed.emplace(claim->algorithm);
    }
  }

  void update(std::span<const std::byte> bytes) {
    sha256.update(bytes);
    if (claimed) {
      claimed->update(bytes);
    }
  }

  io::Digest sha256;
  std::optional<io::Digest> claimed;  // of the algorithm that the bundle's claim has
};

/// Writes and hashes `head` and the rest of a member, in a thread of its own while the next of it
/// is decompressed.
Result<Done> copy_out(std::span<const std::byte> head, io::Source& rest, io::OutputFile& file,
                      Digests& digests) {
  io::BlockWorker writer([&](std::span<const std::byte> bytes) {
    digests.update(bytes);
    return file.write(bytes);
  });
  io::BlockFiller block;
  std::copy(head.begin(), head.end(), block.space().begin());
  std::size_t filled = head.size();
  for (;;) {
    CP_TRY(const std::size_t count, io::read_full(rest, block.space().subspan(filled)));
    if (filled + count == 0) {
      return writer.finish();
    }
    CP_CHECK(writer.push(block.take(filled + count)));
    filled = 0;
  }
}

io::FileMode mode_of(const StagedMember& member) {
  return member.is_program ? io::FileMode::program : io::FileMode::data;
}

/// Whether the path is that of a CUDA driver library, whatever its version.
bool is_libcuda(const RelPath& path) {
  const auto name = knowledge::parse_library_name(path.name());
  return name && name->stem == "libcuda" && !knowledge::is_decoy_folder(path.folder());
}

/// Members that tell one kind of package from another, wherever they stand.
bool tells_what_it_is(const RelPath& path) {
  return path.text() == "is_vgpu_host_package.txt" || path.text() == "cuda-installer";
}

}  // namespace

FileName Stager::staged_name(std::size_t number) {
  // A number within a fixed text is a plain file name: this cannot fail.
  return *FileName::parse(".member-" + std::to_string(number));
}

void Stager::begin(std::size_t bundle) {
  bundle_ = bundle;
  taken_.clear();
  unfit_.clear();
  listing_ = {};
  libcudas_before_ = contents_.libcuda_archs.size();
}

void Stager::account_for_unseen() {
  for (const ListedFile& file : listing_.unseen()) {
    const Selection selection = select_by_path(file.path, request_);
    const bool is_wanted = selection.use != Selection::Use::none;
    if (knowledge::parse_library_name(file.path.name())) {
      contents_.left_out.push_back(
          {bundle_, file.path.text(), selection.component,
           is_wanted ? "of the other width, by .manifest" : selection.reason,
           selection.is_unknown});
    }
  }
}

Result<Done> Stager::visit(const Member& member, MemberContent& content) {
  if (contents_.paths.size() < kPathsMax || tells_what_it_is(member.path)) {
    contents_.paths.push_back(member.path.text());
  }
  switch (member.type) {
    case EntryType::file:
      listing_.see(member.path);
      return visit_file(member, content);
    case EntryType::hardlink:
      listing_.see(member.path);
      return visit_hardlink(member);
    case EntryType::symlink:
      contents_.links.push_back({member.path, member.link_target});
      return Done{};
    case EntryType::folder:
    case EntryType::special:
      return Done{};
  }
  return Done{};
}

Result<Done> Stager::visit_file(const Member& member, MemberContent& content) {
  const Selection selection = select_by_path(member.path, request_);
  std::array<std::byte, formats::kElfHeadSize> buffer{};
  std::span<const std::byte> head;
  switch (selection.use) {
    case Selection::Use::manifest: {
      CP_TRY(std::string text, read_member_text(content, member, limits_.kept_text));
      if (const auto manifest = formats::parse_nv_manifest(text)) {
        listing_.list(listed_files(*manifest, request_.arch), request_);
      }
      contents_.manifests[bundle_] = std::move(text);
      return Done{};
    }
    case Selection::Use::licence: {
      CP_TRY(contents_.licences[bundle_], read_member_text(content, member, limits_.kept_text));
      return Done{};
    }
    case Selection::Use::none:
      if (!is_libcuda(member.path)) {
        leave_out(member, selection, selection.reason);
        return Done{};
      }
      break;
    case Selection::Use::library:
    case Selection::Use::file:
      break;
  }
  const MemberClaim* const claim = content.take_claim();
  CP_TRY(const std::size_t count, io::read_full(content, buffer));
  head = std::span(buffer).first(count);
  if (is_libcuda(member.path)) {
    if (const auto elf = formats::parse_elf_head(head)) {
      contents_.libcuda_archs.emplace_back(formats::name_of(*elf));
    }
  }
  const std::string unfit = selection.use == Selection::Use::none
                                ? selection.reason
                                : unfit_content(head, selection, request_);
  if (!unfit.empty()) {
    unfit_[member.path] = unfit;
    leave_out(member, selection, unfit);
    return Done{};
  }
  return take(member, selection, head, content, claim);
}

Result<Done> Stager::take(const Member& member, const Selection& selection,
                          std::span<const std::byte> head, MemberContent& content,
                          const MemberClaim* claim) {
  CP_CHECK(forget(member.path));
  const std::size_t number = next_number_++;
  const FileName name = staged_name(number);
  auto opened =
      into_ == nullptr ? io::OutputFile::in_memory(member.path.text()) : into_->create(name);
  CP_TRY(io::OutputFile file, std::move(opened));
  Digests digests(claim);
  CP_CHECK(copy_out(head, content, file, digests));
  const std::string sha256 = digests.sha256.finish();
  if (claim != nullptr) {
    CP_CHECK(content.check(digests.claimed ? digests.claimed->finish() : sha256));
  }

  StagedMember staged{
      .bundle = bundle_,
      .path = member.path,
      .size = file.size(),
      .sha256 = sha256,
      .is_program = selection.use == Selection::Use::library || (member.mode_bits & 0111U) != 0,
      .component = selection.component,
      .elf = std::nullopt};
  if (formats::parse_elf_head(head)) {
    CP_TRY(const io::MappedBytes mapped, file.map());
    auto elf = formats::parse_elf(mapped.bytes());
    if (!elf) {
      Error error = std::move(elf).error();
      error.subject = member.path.text();
      return error;
    }
    staged.elf = *std::move(elf);
  }
  if (into_ != nullptr) {
    CP_CHECK(into_->finish(std::move(file), name, mode_of(staged)));
  }
  taken_.emplace(member.path, number);
  contents_.members.emplace(number, std::move(staged));
  return Done{};
}

/// A later member of the same path replaces an earlier one, as it does for tar.
Result<Done> Stager::forget(const RelPath& path) {
  const auto found = taken_.find(path);
  if (found == taken_.end()) {
    return Done{};
  }
  contents_.warnings.push_back(path.text() + " stands in the bundle twice; the later one is taken");
  const std::size_t number = found->second;
  taken_.erase(found);
  contents_.members.erase(number);
  return into_ == nullptr ? Result<Done>(Done{}) : into_->remove(staged_name(number));
}

/// Another name for an earlier member. makeself 2.4.2 makes each file a hard link to itself too.
Result<Done> Stager::visit_hardlink(const Member& member) {
  if (member.path.text() == member.link_target) {
    return Done{};
  }
  const Selection selection = select_by_path(member.path, request_);
  const bool wanted =
      selection.use == Selection::Use::library || selection.use == Selection::Use::file;
  if (!wanted) {
    leave_out(member, selection, selection.reason);
    return Done{};
  }
  CP_TRY(const RelPath target, RelPath::parse(member.link_target));
  if (const auto unfit = unfit_.find(target); unfit != unfit_.end()) {
    leave_out(member, selection, unfit->second);  // the same content
    return Done{};
  }
  const auto found = taken_.find(target);
  if (found == taken_.end()) {
    return Error{.code = Errc::unsupported,
                 .what = "hard link to a member that was not taken",
                 .subject = member.path.text(),
                 .expected = "a link to a library that is taken too",
                 .found = member.link_target,
                 .hint = "take both: --include '" + member.link_target + "'"};
  }
  // The same content under a second name is one staged file more in the plan, not a link: whoever
  // looks for a regular file of that name finds one.
  StagedMember copy = contents_.members.at(found->second);
  const std::size_t from = found->second;
  CP_CHECK(forget(member.path));
  const std::size_t number = next_number_++;
  if (into_ != nullptr) {
    CP_CHECK(into_->copy(staged_name(from), staged_name(number), mode_of(copy)));
  }
  copy.path = member.path;
  copy.component = selection.component;
  taken_.emplace(member.path, number);
  contents_.members.emplace(number, std::move(copy));
  return Done{};
}

void Stager::leave_out(const Member& member, const Selection& selection, std::string reason) {
  if (knowledge::parse_library_name(member.path.name())) {
    contents_.left_out.push_back({bundle_, member.path.text(), selection.component,
                                  std::move(reason), selection.is_unknown});
  }
}

}  // namespace compatpack::pipeline
