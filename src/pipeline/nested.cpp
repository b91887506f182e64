// SPDX-License-Identifier: Apache-2.0
#include "compatpack/pipeline/nested.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fnmatch.h>

#include "compatpack/base/arch.hpp"
#include "compatpack/base/text.hpp"
#include "compatpack/pipeline/selection.hpp"

#include "bundle_kinds.hpp"

namespace compatpack::pipeline {
namespace {

// Which bundle people mean when a bundle holds several, likeliest first. A local repository of
// cuda-compat has one of the first; a CUDA toolkit's installer one of the second; a driver's local
// repository holds dozens, of which these have libcuda and all that goes with it. (Debian's
// libcuda1 lacks its compilers.)
constexpr std::array<std::string_view, 5> kLikely{"cuda-compat-[0-9]*", "NVIDIA-Linux-*.run",
                                                  "libnvidia-compute-[0-9]*",
                                                  "nvidia-driver-cuda-libs-*", "cuda-compat-*"};

// At most this many are named in a message.
constexpr std::size_t kNamedMax = 12;

/// The architecture that a package's file name ends with, by our name of it: "_amd64.deb",
/// ".x86_64.rpm", "-aarch64-550.54.15.run". "" if it says none.
std::string arch_in_name(std::string_view name) {
  const auto is_said = [name](std::string_view arch) {
    const std::size_t at = name.rfind(arch);
    return at != std::string_view::npos && at > 0 &&
           std::string_view("_.-").find(name[at - 1]) != std::string_view::npos;
  };
  for (const ArchRow& row : archs()) {
    if (is_said(row.name) || is_said(row.debian)) {
      return std::string(row.name);
    }
  }
  return is_said("i686") ? our_arch("i686") : "";
}

std::string listed(const std::vector<std::string>& paths) {
  std::string out = joined(std::span(paths).first(std::min(paths.size(), kNamedMax)), ", ");
  if (paths.size() > kNamedMax) {
    out += " and " + std::to_string(paths.size() - kNamedMax) + " more";
  }
  return out;
}

}  // namespace

bool is_bundle_name(std::string_view path) {
  return path.ends_with(".run") || path.ends_with(".deb") || path.ends_with(".rpm");
}

std::size_t NestedFinder::rank_of(const RelPath& path) const {
  const std::string arch = arch_in_name(path.name());
  if (!arch.empty() && arch != arch_) {
    return kLikely.size() + 1;
  }
  const std::string name(path.name());
  const auto found = std::find_if(kLikely.begin(), kLikely.end(), [&](std::string_view glob) {
    return ::fnmatch(std::string(glob).c_str(), name.c_str(), 0) == 0;
  });
  return static_cast<std::size_t>(found - kLikely.begin());
}

Result<Done> NestedFinder::visit(const Member& member, MemberContent& content) {
  if (member.type != formats::EntryType::file || !is_bundle_name(member.path.text())) {
    return others_ == nullptr ? Result<Done>(Done{}) : others_->visit(member, content);
  }
  seen_.push_back(member.path.text());
  if (!member_.empty()) {
    return matches_glob(member_, member.path) ? keep(member, content, 0) : Result<Done>(Done{});
  }
  return keep(member, content, rank_of(member.path));
}

Result<Done> NestedFinder::keep(const Member& member, io::Source& content, std::size_t rank) {
  const std::string& path = member.path.text();
  // A later member of the same path replaces an earlier one, as it does for tar.
  const bool again = likely_.size() == 1 && likely_.front() == path;
  if (!likely_.empty() && rank >= best_rank_ && !again) {
    if (rank == best_rank_) {
      likely_.push_back(path);
    }
    return Done{};
  }
  likely_ = {path};
  best_rank_ = rank;
  kept_.reset();  // what is on disk of a less likely one goes first
  CP_TRY(io::OutputFile file, make_file_(path));
  CP_CHECK(io::pass_on(content, [&](auto bytes) { return file.write(bytes); }));
  kept_ = NestedBundle{path, std::move(file)};
  return Done{};
}

Result<std::optional<NestedBundle>> NestedFinder::choose() {
  if (likely_.size() > 1) {
    return Error{.code = Errc::usage,
                 .what = "bundle holds several bundles",
                 .expected = "--member to say which",
                 .found = listed(likely_),
                 .hint = "--member '" + likely_.front() +
                         "', or take out those that belong together, and name them all"};
  }
  if (likely_.empty() && !member_.empty()) {
    return Error{.code = Errc::not_recognized,
                 .what = "bundle holds no bundle that --member names",
                 .expected = member_,
                 .found = seen_.empty() ? "no .run, .deb or .rpm file in it" : listed(seen_)};
  }
  return std::move(kept_);
}

}  // namespace compatpack::pipeline
