// SPDX-License-Identifier: Apache-2.0
#include "compatpack/io/folder_walk.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compatpack/io/output_dir.hpp"

namespace compatpack::io {
namespace {

// A driver's sources are eight folders deep.
constexpr std::size_t kFolderDepthMax = 32;

Result<std::string> read_link(const Fd& folder, const std::string& name, const std::string& shown) {
  std::array<char, PATH_MAX> target{};
  const ssize_t length = ::readlinkat(folder.get(), name.c_str(), target.data(), target.size());
  if (length < 0) {
    return io_error("cannot read the link", shown, errno);
  }
  return std::string(target.data(), static_cast<std::size_t>(length));
}

}  // namespace

Result<std::unique_ptr<FolderWalk>> FolderWalk::open(const std::string& path,
                                                     const Limits& limits) {
  Fd folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.is_open()) {
    return io_error("cannot open the folder", path, errno);
  }
  std::unique_ptr<FolderWalk> walk(new FolderWalk(path, limits));
  CP_CHECK(walk->enter(std::move(folder), ""));
  return walk;
}

std::string FolderWalk::shown(const std::string& path) const {
  return path.empty() ? root_ : root_ + "/" + path;
}

Result<Done> FolderWalk::enter(Fd folder, const std::string& path) {
  if (levels_.size() == kFolderDepthMax) {
    return Error{.code = Errc::limit,
                 .what = "folders are nested too deeply",
                 .subject = shown(path),
                 .expected = "at most " + std::to_string(kFolderDepthMax) + " levels"};
  }
  CP_TRY(auto names, list_folder(folder, shown(path)));
  std::reverse(names.begin(), names.end());
  levels_.push_back({std::move(folder), path, std::move(names)});
  return Done{};
}

Result<std::optional<FoundEntry>> FolderWalk::next() {
  current_.clear();
  content_ = Fd();
  while (!levels_.empty() && levels_.back().names.empty()) {
    levels_.pop_back();
  }
  if (levels_.empty()) {
    return std::optional<FoundEntry>();
  }
  if (++entries_ > limits_.members) {
    return Error{.code = Errc::limit,
                 .what = "folder holds too much",
                 .subject = root_,
                 .expected = "at most " + std::to_string(limits_.members) + " entries"};
  }
  const std::string name = std::move(levels_.back().names.back());
  levels_.back().names.pop_back();
  CP_TRY(FoundEntry entry, look(name));
  return std::optional(std::move(entry));
}

Result<FoundEntry> FolderWalk::look(const std::string& name) {
  const Level& level = levels_.back();
  FoundEntry entry{.path = level.path.empty() ? name : level.path + "/" + name,
                   .kind = FoundEntry::Kind::special};
  struct stat facts {};
  if (::fstatat(level.folder.get(), name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0) {
    return io_error("cannot look at", shown(entry.path), errno);
  }
  entry.mode_bits = facts.st_mode & 07777U;
  if (S_ISREG(facts.st_mode)) {
    entry.kind = FoundEntry::Kind::file;
    entry.size = {static_cast<std::uint64_t>(facts.st_size)};
    current_ = name;
    current_path_ = entry.path;
  } else if (S_ISLNK(facts.st_mode)) {
    entry.kind = FoundEntry::Kind::link;
    CP_TRY(entry.link_target, read_link(level.folder, name, shown(entry.path)));
  } else if (S_ISDIR(facts.st_mode)) {
    entry.kind = FoundEntry::Kind::folder;
    Fd inner(::openat(level.folder.get(), name.c_str(),
                      O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
    if (!inner.is_open()) {
      return io_error("cannot open the folder", shown(entry.path), errno);
    }
    CP_CHECK(enter(std::move(inner), entry.path));
  }
  return entry;
}

Result<std::size_t> FolderWalk::read(std::span<std::byte> into) {
  if (current_.empty()) {
    return std::size_t{0};
  }
  if (!content_.is_open()) {
    // O_NONBLOCK: it was a regular file when it was looked at, and may be a FIFO by now.
    content_ = Fd(::openat(levels_.back().folder.get(), current_.c_str(),
                           O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (!content_.is_open()) {
      return io_error("cannot open", shown(current_path_), errno);
    }
  }
  ssize_t count = -1;
  do {
    count = ::read(content_.get(), into.data(), into.size());
  } while (count < 0 && errno == EINTR);
  if (count < 0) {
    return io_error("cannot read", shown(current_path_), errno);
  }
  return static_cast<std::size_t>(count);
}

bool is_folder(const std::string& path) {
  struct stat facts {};
  return ::stat(path.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode);
}

}  // namespace compatpack::io
