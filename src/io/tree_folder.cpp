// SPDX-License-Identifier: Apache-2.0
#include "compatpack/io/tree_folder.hpp"

#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compatpack/io/digesting_source.hpp"

namespace compatpack::io {

std::string TreeEntry::shown() const {
  switch (kind) {
    case Kind::nothing:
      return "nothing";
    case Kind::file:
      return "a file of " + std::to_string(size.value) + " bytes";
    case Kind::link:
      return "a link to " + link_target;
    case Kind::folder:
      return "a folder";
    case Kind::other:
      return "a special file";
  }
  return "something";
}

Result<std::optional<TreeFolder>> TreeFolder::open(const std::string& path) {
  Fd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd.is_open()) {
    return std::optional(TreeFolder(std::move(fd), path, true));
  }
  const int reason = errno;
  struct stat facts {};
  if (reason == ENOENT && ::lstat(path.c_str(), &facts) != 0) {
    return std::optional<TreeFolder>();
  }
  if (reason == ENOTDIR || reason == ENOENT || reason == ELOOP) {
    return std::optional(TreeFolder(Fd(), path, false));
  }
  return io_error("cannot open", path, reason);
}

Result<std::vector<std::string>> TreeFolder::names() const { return list_folder(fd_, path_); }

Result<TreeEntry> TreeFolder::look(const std::string& name) const {
  struct stat facts {};
  if (::fstatat(fd_.get(), name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno == ENOENT) {
      return TreeEntry{};
    }
    return io_error("cannot look at", shown(name), errno);
  }
  TreeEntry entry{.mode_bits = facts.st_mode & 07777U};
  if (S_ISREG(facts.st_mode)) {
    entry.kind = TreeEntry::Kind::file;
    entry.size = {static_cast<std::uint64_t>(facts.st_size)};
  } else if (S_ISLNK(facts.st_mode)) {
    entry.kind = TreeEntry::Kind::link;
    std::array<char, PATH_MAX> target{};
    const ssize_t length = ::readlinkat(fd_.get(), name.c_str(), target.data(), target.size());
    if (length < 0) {
      return io_error("cannot read the link", shown(name), errno);
    }
    entry.link_target.assign(target.data(), static_cast<std::size_t>(length));
  } else {
    entry.kind = S_ISDIR(facts.st_mode) ? TreeEntry::Kind::folder : TreeEntry::Kind::other;
  }
  return entry;
}

Result<TreeFolder> TreeFolder::folder(const std::string& name) const {
  Fd fd(::openat(fd_.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
  if (!fd.is_open()) {
    return io_error("cannot open the folder", shown(name), errno);
  }
  return TreeFolder(std::move(fd), shown(name), true);
}

Result<std::unique_ptr<FileSource>> TreeFolder::open_file(const std::string& name,
                                                          ReadObserver* observer) const {
  Fd file(::openat(fd_.get(), name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file.is_open()) {
    return io_error("cannot open", shown(name), errno);
  }
  struct stat facts {};
  if (::fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode)) {
    return Error{
        .code = Errc::not_recognized, .what = "not a regular file", .subject = shown(name)};
  }
  return FileSource::adopt(std::move(file), shown(name), observer);
}

Result<std::string> TreeFolder::sha256(const std::string& name, ReadObserver* observer) const {
  CP_TRY(const auto file, open_file(name, observer));
  DigestingSource bytes(*file, DigestAlgorithm::sha256);
  CP_CHECK(drain(bytes));
  return bytes.finish();
}

Result<Done> TreeFolder::put_link(const std::string& name, const std::string& target) const {
  // A link under another name first, so that there is no moment without either.
  const std::string aside = "." + name + ".compatpack-link";
  struct stat left {};
  if (::fstatat(fd_.get(), aside.c_str(), &left, AT_SYMLINK_NOFOLLOW) == 0 &&
      S_ISLNK(left.st_mode)) {
    ::unlinkat(fd_.get(), aside.c_str(), 0);  // a killed run's; anything else is somebody's own
  }
  if (::symlinkat(target.c_str(), fd_.get(), aside.c_str()) != 0) {
    return io_error("cannot make the link", shown(name), errno);
  }
  if (::renameat(fd_.get(), aside.c_str(), fd_.get(), name.c_str()) != 0) {
    const int reason = errno;
    ::unlinkat(fd_.get(), aside.c_str(), 0);
    return io_error("cannot make the link", shown(name), reason);
  }
  return Done{};
}

Result<Done> TreeFolder::set_mode(const std::string& name, FileMode mode) const {
  // Not through a descriptor: the file may be one that nobody may open until this is done.
  if (::fchmodat(fd_.get(), name.c_str(), static_cast<mode_t>(mode), AT_SYMLINK_NOFOLLOW) != 0) {
    return io_error("cannot set the mode of", shown(name), errno);
  }
  return Done{};
}

}  // namespace compatpack::io
