// SPDX-License-Identifier: Apache-2.0
#include "compatpack/pipeline/gathering.hpp"

#include <utility>

namespace compatpack::pipeline {
namespace {

// A repository package in an archive, with a driver's package in it, is the deepest seen.
constexpr int kNestingMax = 4;

/// The files that a package says it holds; empty where it says nothing of them.
std::vector<ListedFile> listed_in_header(const BundleInfo& info) {
  std::vector<ListedFile> files;
  if (info.rpm_files) {
    for (const formats::RpmFile& file : *info.rpm_files) {
      if (file.type == formats::EntryType::file && !file.is_ghost) {
        files.push_back({file.path});
      }
    }
    return files;
  }
  for (const auto& claim : info.member_claims) {
    if (auto path = RelPath::parse(claim.first)) {
      files.push_back({*std::move(path)});
    }
  }
  return files;
}

}  // namespace

Result<Done> Gatherer::read(Bundle& bundle, const ReadOptions& options, const std::string& member) {
  Spent spent;  // with what is found inside
  ReadOptions all = options;
  all.spent = &spent;
  return read_one(bundle, all, member, std::nullopt, 0);
}

Result<io::OutputFile> Gatherer::make_file(const std::string& name) {
  if (into_ == nullptr) {
    return io::OutputFile::temporary(temporary_folder_, name);
  }
  // Without a name at once, so that nothing of it can be left in the tree.
  CP_TRY(const FileName nested, FileName::parse(".nested"));
  CP_TRY(io::OutputFile file, into_->create(nested));
  CP_CHECK(into_->remove(nested));
  return file;
}

Result<Done> Gatherer::read_one(Bundle& bundle, const ReadOptions& options,
                                const std::string& member, std::optional<std::size_t> inside,
                                int depth) {
  const BundleInfo& info = bundle.info();
  if (depth == kNestingMax) {
    return Error{.code = Errc::limit,
                 .what = "bundles are nested too deeply",
                 .subject = info.path,
                 .expected = "at most " + std::to_string(kNestingMax) + " in one another"};
  }
  const std::size_t number = bundles_.size();
  const std::size_t libcudas = stager_.contents().libcuda_archs.size();
  stager_.begin(number);
  if (auto files = listed_in_header(info); !files.empty()) {
    stager_.list(std::move(files));
  }
  NestedFinder finder(member.empty() ? &stager_ : nullptr, member, request_.arch,
                      [this](const std::string& name) { return make_file(name); });
  CP_TRY(auto verification, read_members(bundle, options, finder));
  if (verification.stopped) {
    stager_.account_for_unseen();
  }
  bundles_.push_back({info, std::move(verification), inside});
  const bool is_complete =
      stager_.contents().libcuda_archs.size() > libcudas || !request_.include.empty();
  if (is_complete && member.empty()) {
    return Done{};
  }
  auto chosen = finder.choose();
  if (!chosen) {
    chosen.error().subject = info.path;
    return std::move(chosen).error();
  }
  if (!*chosen) {
    return Done{};
  }
  NestedBundle& nested = **chosen;
  const std::string path = info.path + ": " + nested.path;
  CP_TRY(auto file, io::FileSource::adopt(nested.file.release(), path, options.observer));
  const auto opened = Bundle::read(std::move(file), path, nested.path, limits_);
  if (!opened) {
    // What only has a bundle's name is a file like others, unless the user has named it.
    const bool is_no_bundle = opened.error().code == Errc::not_recognized && member.empty();
    return is_no_bundle ? Result<Done>(Done{}) : opened.error();
  }
  ReadOptions inner = options;
  // These are about the outer file.
  inner.user_claims.clear();
  inner.signed_by.reset();
  return read_one(**opened, inner, "", number, depth + 1);
}

}  // namespace compatpack::pipeline
