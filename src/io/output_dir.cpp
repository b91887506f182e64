// SPDX-License-Identifier: Apache-2.0
#include "compatpack/io/output_dir.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "compatpack/base/text.hpp"

#include "staging_names.hpp"

namespace compatpack::io {
namespace {

constexpr int kFolderFlags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW;

// Files whose write-out commit() still waits for, each an open descriptor: a process may have
// 1,024, and a driver has 1,189 members.
constexpr std::size_t kUnsyncedMax = 128;

// How deep remove_tree() goes. Trees are flat; only what somebody put into one is deeper.
constexpr int kRemovedDepthMax = 64;

void remove_below(const Fd& parent, const std::string& name, int depth) {
  if (::unlinkat(parent.get(), name.c_str(), 0) == 0 || depth == 0) {
    return;
  }
  const Fd folder(::openat(parent.get(), name.c_str(), kFolderFlags));
  if (!folder.is_open()) {
    return;
  }
  if (const auto names = list_folder(folder, "")) {
    for (const std::string& one : *names) {
      remove_below(folder, one, depth - 1);
    }
  }
  ::unlinkat(parent.get(), name.c_str(), AT_REMOVEDIR);
}

bool is_empty_folder(const Fd& parent, const std::string& name) {
  const Fd folder(::openat(parent.get(), name.c_str(), kFolderFlags));
  if (!folder.is_open()) {
    return false;
  }
  const auto names = list_folder(folder, "");
  return names && names->empty();
}

}  // namespace

Result<TargetPath> split_target(const std::string& target) {
  std::string_view path = target;
  while (path.size() > 1 && path.ends_with('/')) {
    path.remove_suffix(1);
  }
  const std::size_t slash = path.rfind('/');
  const std::string_view name = slash == std::string_view::npos ? path : path.substr(slash + 1);
  if (name.empty() || name == "." || name == "..") {
    return Error{.code = Errc::usage,
                 .what = "not a folder that can be made",
                 .subject = target.empty() ? "--out" : target,
                 .expected = "a path that ends in the name of the tree, such as ~/compat",
                 .found = target.empty() ? "an empty path" : ""};
  }
  std::string parent = ".";
  if (slash != std::string_view::npos) {
    parent = slash == 0 ? "/" : std::string(path.substr(0, slash));
  }
  return TargetPath{std::move(parent), std::string(name)};
}

Result<std::vector<std::string>> list_folder(const Fd& fd, const std::string& shown) {
  Fd own(::openat(fd.get(), ".", kFolderFlags));
  if (!own.is_open()) {
    return io_error("cannot read the folder", shown, errno);
  }
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::fdopendir(own.get()), &::closedir);
  if (!folder) {
    return io_error("cannot read the folder", shown, errno);
  }
  own.release();  // closedir() closes it
  std::vector<std::string> names;
  for (;;) {
    errno = 0;
    // Safe in threads: the stream is this function's own.
    const dirent* const entry = ::readdir(folder.get());  // NOLINT(concurrency-mt-unsafe)
    if (entry == nullptr) {
      break;
    }
    const std::string name = static_cast<const char*>(entry->d_name);
    if (name != "." && name != "..") {
      names.push_back(name);
    }
  }
  if (errno != 0) {
    return io_error("cannot read the folder", shown, errno);
  }
  std::sort(names.begin(), names.end());
  return names;
}

void remove_tree(const Fd& parent, const std::string& name) {
  remove_below(parent, name, kRemovedDepthMax);
}

void remove_stale_staging(const std::string& target) {
  if (const auto path = split_target(target)) {
    const Fd parent(::open(path->parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (parent.is_open()) {
      remove_stale_staging(parent, path->name);
    }
  }
}

MadeFolders::~MadeFolders() {
  while (!made_.empty()) {
    static_cast<void>(
        ::unlinkat(made_.back().parent.get(), made_.back().name.c_str(), AT_REMOVEDIR));
    made_.pop_back();
  }
}

std::vector<int> MadeFolders::parents() const {
  std::vector<int> folders;
  folders.reserve(made_.size());
  for (const Made& one : made_) {
    folders.push_back(one.parent.get());
  }
  return folders;
}

Result<Fd> MadeFolders::make(const std::string& path) {
  Fd folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.is_open()) {
    return folder;
  }
  const int reason = errno;
  const auto parts = split_target(path);
  if (reason != ENOENT || !parts) {
    return io_error("cannot open the folder", path, reason);
  }
  CP_TRY(Fd parent, make(parts->parent));
  // Another process may make it too; then it is its own.
  if (::mkdirat(parent.get(), parts->name.c_str(), 0777) == 0) {
    folder = Fd(::openat(parent.get(), parts->name.c_str(), kFolderFlags));
    made_.push_back({std::move(parent), parts->name});
  } else if (errno == EEXIST) {
    folder = Fd(::openat(parent.get(), parts->name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  } else {
    return io_error("cannot make the folder", path, errno);
  }
  return folder.is_open() ? Result<Fd>(std::move(folder))
                          : io_error("cannot open the folder", path, errno);
}

Result<std::unique_ptr<OutputDir>> OutputDir::stage(const std::string& target,
                                                    Durability durability) {
  CP_TRY(TargetPath path, split_target(target));
  MadeFolders made;
  CP_TRY(Fd parent, made.make(path.parent));
  remove_stale_staging(parent, path.name);
  for (int i = 0; i < kNameTries; ++i) {
    std::string staging_name = staging_prefix(path.name) + random_suffix();
    if (::mkdirat(parent.get(), staging_name.c_str(), 0700) != 0) {
      if (errno == EEXIST) {
        continue;
      }
      return io_error("cannot make a folder in", path.parent, errno);
    }
    Fd staging(::openat(parent.get(), staging_name.c_str(), kFolderFlags));
    if (!staging.is_open() && errno != ENOENT) {
      const int reason = errno;
      ::unlinkat(parent.get(), staging_name.c_str(), AT_REMOVEDIR);
      return io_error("cannot open a folder in", path.parent, reason);
    }
    // The lock tells others on this machine that the folder is in use. Where the file system has
    // none, nobody can take it either, and nothing is ever removed.
    const bool locked_out = !staging.is_open() || (::flock(staging.get(), LOCK_EX | LOCK_NB) != 0 &&
                                                   errno == EWOULDBLOCK);
    // Between mkdir and flock another process may take the folder for a dead one's and remove it.
    struct stat facts {};
    if (locked_out || ::fstat(staging.get(), &facts) != 0 || facts.st_nlink == 0) {
      // It need not be removed by who has taken it: where locks say nothing of other machines, only
      // a folder that is a day old is. It is our own, and empty.
      ::unlinkat(parent.get(), staging_name.c_str(), AT_REMOVEDIR);
      continue;
    }
    std::unique_ptr<OutputDir> dir(new OutputDir(target, std::move(made), std::move(parent),
                                                 std::move(staging_name), std::move(staging),
                                                 std::move(path.name)));
    dir->durability_ = durability;
    return dir;
  }
  return io_error("cannot find a free name in", path.parent, EEXIST);
}

OutputDir::OutputDir(std::string target, MadeFolders made, Fd parent, std::string staging_name,
                     Fd staging, std::string name)
    : made_(std::move(made)),
      target_(std::move(target)),
      parent_(std::move(parent)),
      staging_name_(std::move(staging_name)),
      staging_(std::move(staging)),
      current_(staging_.get()),
      name_(std::move(name)) {}

OutputDir::~OutputDir() {
  if (!staging_name_.empty()) {
    // To remove folders takes descriptors, which may be what there are none left of.
    unsynced_.clear();
    folders_.clear();
    remove_tree(parent_, staging_name_);
  }
}

std::string OutputDir::shown(const FileName& name) const {
  return target_ + "/" + (at_ == "." ? "" : at_ + "/") + name.text();
}

Result<Done> OutputDir::go_to(const RelPath& path) {
  if (path.text() == at_) {
    return Done{};
  }
  at_ = path.text();
  current_ = staging_.get();
  if (at_ == ".") {
    return Done{};
  }
  for (const std::string_view part : split(at_, '/')) {
    const std::string name(part);
    if (::mkdirat(current_, name.c_str(), 0755) != 0 && errno != EEXIST) {
      return io_error("cannot make the folder", target_ + "/" + at_, errno);
    }
    Fd folder(::openat(current_, name.c_str(), kFolderFlags));
    if (!folder.is_open() || ::fchmod(folder.get(), 0755) != 0) {
      return io_error("cannot open the folder", target_ + "/" + at_, errno);
    }
    current_ = folder.get();
    folders_.push_back(std::move(folder));
  }
  return Done{};
}

Result<OutputFile> OutputDir::create(const FileName& name) {
  Fd fd(::openat(current_, name.text().c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
                 0600));
  if (!fd.is_open()) {
    if (errno == EEXIST) {
      return Error{.code = Errc::conflict,
                   .what = "two files of the tree have one name",
                   .subject = shown(name)};
    }
    return io_error("cannot make the file", shown(name), errno);
  }
  return OutputFile(std::move(fd), shown(name));
}

Result<Done> OutputDir::finish(OutputFile file, const FileName& name, FileMode mode) {
  Fd fd = file.release();
  // An exact mode whatever the umask: a tree made for others must be readable by them.
  if (::fchmod(fd.get(), static_cast<mode_t>(mode)) != 0) {
    return io_error("cannot set the mode of", shown(name), errno);
  }
  if (durability_ == Durability::none) {
    return Done{};
  }
  // Starts the write-out and does not wait; where it is refused, fsync() in commit() does it all.
  static_cast<void>(::sync_file_range(fd.get(), 0, 0, SYNC_FILE_RANGE_WRITE));
  unsynced_.push_back({shown(name), std::move(fd)});
  return unsynced_.size() > kUnsyncedMax ? sync_oldest() : Result<Done>(Done{});
}

/// Waits until the file that was finished first is on disk, and closes it.
Result<Done> OutputDir::sync_oldest() {
  const Unsynced oldest = std::move(unsynced_.front());
  unsynced_.pop_front();
  if (fsync_retrying(oldest.fd.get()) != 0) {
    return io_error("cannot write to disk", oldest.name, errno);
  }
  return Done{};
}

Result<Done> OutputDir::write_text(const FileName& name, std::string_view content, FileMode mode) {
  CP_TRY(OutputFile file, create(name));
  CP_CHECK(file.write(as_bytes(content)));
  return finish(std::move(file), name, mode);
}

Result<Done> OutputDir::link(const FileName& name, const FileName& target) {
  if (::symlinkat(target.text().c_str(), current_, name.text().c_str()) != 0) {
    return io_error("cannot make the link", shown(name), errno);
  }
  return Done{};
}

Result<Done> OutputDir::rename(const FileName& from, const FileName& to) {
  if (::renameat2(current_, from.text().c_str(), current_, to.text().c_str(), RENAME_NOREPLACE) ==
      0) {
    return Done{};
  }
  // EINVAL: a file system without the flag. Names of a plan are unique, so the plain call is as
  // good.
  if (errno == EINVAL &&
      ::renameat(current_, from.text().c_str(), current_, to.text().c_str()) == 0) {
    return Done{};
  }
  return io_error("cannot rename to", shown(to), errno);
}

Result<Done> OutputDir::copy(const FileName& from, const FileName& to, FileMode mode) {
  const Fd source(::openat(current_, from.text().c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!source.is_open()) {
    return io_error("cannot open", shown(from), errno);
  }
  CP_TRY(const MappedBytes mapped, map_file(source, shown(from)));
  CP_TRY(OutputFile file, create(to));
  CP_CHECK(file.write(mapped.bytes()));
  return finish(std::move(file), to, mode);
}

Result<Done> OutputDir::remove(const FileName& name) {
  if (::unlinkat(current_, name.text().c_str(), 0) != 0) {
    return io_error("cannot remove", shown(name), errno);
  }
  return Done{};
}

Result<Done> OutputDir::sync() {
  while (!unsynced_.empty()) {
    CP_CHECK(sync_oldest());
  }
  if (::fchmod(staging_.get(), 0755) != 0) {
    return io_error("cannot set the mode of", target_, errno);
  }
  if (durability_ == Durability::none) {
    return Done{};
  }
  for (const Fd& folder : folders_) {
    CP_CHECK(sync_folder(folder));
  }
  return sync_folder(staging_);
}

Result<Done> OutputDir::commit(Replace replace) {
  CP_CHECK(sync());
  CP_CHECK(publish(replace));
  made_.keep();
  if (durability_ == Durability::none) {
    return Done{};
  }
  // The tree is there; that its name lasts through a power cut is asked for, and cannot be undone.
  static_cast<void>(fsync_retrying(parent_.get()));
  for (const int folder : made_.parents()) {
    static_cast<void>(fsync_retrying(folder));
  }
  return Done{};
}

Result<Done> OutputDir::sync_folder(const Fd& folder) const {
  if (fsync_retrying(folder.get()) != 0 && errno != EINVAL) {
    return io_error("cannot write to disk", target_, errno);
  }
  return Done{};
}

/// The rename. After it, `staging_name_` names what is to be removed, or nothing.
Result<Done> OutputDir::publish(Replace replace) {
  const int parent = parent_.get();
  const char* const staging = staging_name_.c_str();
  const char* const name = name_.c_str();
  if (::renameat2(parent, staging, parent, name, RENAME_NOREPLACE) == 0) {
    staging_name_.clear();
    return Done{};
  }
  struct stat facts {};
  const bool taken = ::fstatat(parent, name, &facts, AT_SYMLINK_NOFOLLOW) == 0;
  if (taken && replace == Replace::directory) {
    return swap_with_target();
  }
  // An empty folder is no one's: rename() replaces it in one step, and refuses any other.
  const bool plain = !taken || is_empty_folder(parent_, name_);
  if (plain && ::renameat(parent, staging, parent, name) == 0) {
    staging_name_.clear();
    return Done{};
  }
  const int reason = plain ? errno : EEXIST;
  if (taken && (reason == EEXIST || reason == ENOTEMPTY || reason == ENOTDIR)) {
    return Error{.code = Errc::conflict, .what = "something else stands there", .subject = target_};
  }
  Error error = io_error("cannot put the tree in place", target_, reason);
  if (reason == EBUSY) {
    error.hint = "it is a mount point; name a folder below it";
  }
  return error;
}

/// Puts the staging folder in the target's place, and removes what stood there.
Result<Done> OutputDir::swap_with_target() {
  const int parent = parent_.get();
  const char* const staging = staging_name_.c_str();
  const char* const name = name_.c_str();
  if (::renameat2(parent, staging, parent, name, RENAME_EXCHANGE) == 0) {
    remove_tree(parent_, std::exchange(staging_name_, {}));
    return Done{};
  }
  if (errno != EINVAL && errno != ENOSYS) {
    const int reason = errno;
    Error error = io_error("cannot put the tree in place", target_, reason);
    if (reason == EXDEV) {
      error.hint =
          "the old tree stands in a lower layer of an overlay, as of an image that is built upon, "
          "and cannot be moved there; remove it first";
    }
    return error;
  }
  // No exchange on this file system: the old tree steps aside first. A crash between the two leaves
  // it under its aside name, which stage() does not take for a staging folder's.
  const std::string aside = "." + name_ + ".compatpack-old-" + random_suffix();
  if (::renameat(parent, name, parent, aside.c_str()) != 0) {
    return io_error("cannot move the old tree aside", target_, errno);
  }
  if (::renameat(parent, staging, parent, name) != 0) {
    const int reason = errno;
    static_cast<void>(::renameat(parent, aside.c_str(), parent, name));
    return io_error("cannot put the tree in place", target_, reason);
  }
  staging_name_.clear();
  remove_tree(parent_, aside);
  return Done{};
}

std::string OutputDir::staged_at() const {
  const auto path = split_target(target_);  // it was one when this was made
  return path->parent + "/" + staging_name_;
}

std::vector<AllowedFolder> OutputDir::allowed_folders() {
  std::vector<AllowedFolder> allowed{{staging_.get(), AllowedFolder::What::contents},
                                     {parent_.get(), AllowedFolder::What::entries}};
  for (const int folder : made_.parents()) {
    allowed.push_back({folder, AllowedFolder::What::entries});
  }
  old_ = Fd(::openat(parent_.get(), name_.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (old_.is_open()) {
    allowed.push_back({old_.get(), AllowedFolder::What::removal});
  }
  return allowed;
}

bool OutputDir::is_noexec() const {
  struct statvfs facts {};
  return ::fstatvfs(staging_.get(), &facts) == 0 && (facts.f_flag & ST_NOEXEC) != 0;
}

}  // namespace compatpack::io
