// SPDX-License-Identifier: Apache-2.0
#include "compatpack/pipeline/member.hpp"

#include <utility>

namespace compatpack::pipeline {
namespace {

using formats::EntryType;

Error refused(const formats::Entry& entry, std::string what, std::string expected,
              std::string found) {
  return Error{.code = Errc::unsafe_path,
               .what = std::move(what),
               .subject = entry.path,
               .expected = std::move(expected),
               .found = std::move(found),
               .hint = "do not use this bundle; nothing was written"};
}

}  // namespace

Result<Member> MemberGate::admit(const formats::Entry& entry) {
  CP_TRY(RelPath path, RelPath::parse(entry.path));
  if (entry.type == EntryType::special) {
    return refused(entry, "archive holds a device, FIFO or socket", "files, folders and links only",
                   entry.path);
  }
  if (const std::string link = symlink_above(path.text()); !link.empty()) {
    return refused(entry, "archive member lies behind a symbolic link", "a path of folders",
                   link + " is a link");
  }
  Member member{path, entry.type, entry.size, entry.mode_bits, entry.link_target};
  if (entry.type == EntryType::symlink) {
    symlinks_.insert(path.text());
  } else {
    symlinks_.erase(path.text());  // tar replaces the link, and leaves what it leads to alone
  }
  if (entry.type == EntryType::hardlink) {
    const auto target = RelPath::parse(entry.link_target);
    if (!target) {
      return refused(entry, "hard link leaves the output directory", "a member of the same archive",
                     entry.link_target);
    }
    member.link_target = target->text();
  }
  return member;
}

/// The symlink that the path leads through, or "".
std::string MemberGate::symlink_above(const std::string& path) const {
  if (symlinks_.empty()) {
    return {};
  }
  for (std::size_t slash = path.find('/'); slash != std::string::npos;
       slash = path.find('/', slash + 1)) {
    if (symlinks_.contains(path.substr(0, slash))) {
      return path.substr(0, slash);
    }
  }
  return {};
}

}  // namespace compatpack::pipeline
