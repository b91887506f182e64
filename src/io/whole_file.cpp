// SPDX-License-Identifier: Apache-2.0
#include "compatpack/io/whole_file.hpp"

#include <cerrno>
#include <cstdio>
#include <utility>

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "staging_names.hpp"

namespace compatpack::io {

Result<std::unique_ptr<WholeFile>> WholeFile::stage(const std::string& target) {
  CP_TRY(TargetPath path, split_target(target));
  MadeFolders made;
  CP_TRY(Fd parent, made.make(path.parent));
  remove_stale_staging(parent, path.name);
  for (int i = 0; i < kNameTries; ++i) {
    std::string staging_name = staging_prefix(path.name) + random_suffix();
    Fd fd(::openat(parent.get(), staging_name.c_str(),
                   O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!fd.is_open()) {
      if (errno == EEXIST) {
        continue;
      }
      return io_error("cannot make a file in", path.parent, errno);
    }
    // As for OutputDir: another process may take it for a dead one's, and remove it, before this.
    struct stat facts {};
    const bool locked_out = ::flock(fd.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (locked_out || ::fstat(fd.get(), &facts) != 0 || facts.st_nlink == 0) {
      ::unlinkat(parent.get(), staging_name.c_str(), 0);
      continue;
    }
    return std::unique_ptr<WholeFile>(new WholeFile(target, std::move(made), std::move(parent),
                                                    std::move(staging_name), std::move(path.name),
                                                    OutputFile(std::move(fd), target)));
  }
  return io_error("cannot find a free name in", path.parent, EEXIST);
}

WholeFile::WholeFile(std::string target, MadeFolders made, Fd parent, std::string staging_name,
                     std::string name, OutputFile file)
    : made_(std::move(made)),
      target_(std::move(target)),
      parent_(std::move(parent)),
      staging_name_(std::move(staging_name)),
      name_(std::move(name)),
      file_(std::move(file)) {}

WholeFile::~WholeFile() {
  if (!staging_name_.empty()) {
    ::unlinkat(parent_.get(), staging_name_.c_str(), 0);
  }
}

Result<Done> WholeFile::sync() {
  const int file = file_.fd().get();
  if (::fchmod(file, static_cast<mode_t>(FileMode::data)) != 0) {
    return io_error("cannot set the mode of", target_, errno);
  }
  if (fsync_retrying(file) != 0) {
    return io_error("cannot write to disk", target_, errno);
  }
  return Done{};
}

Result<Done> WholeFile::commit(Replace replace) {
  CP_CHECK(sync());
  const int reason = publish(replace);
  if (reason == EEXIST || reason == EISDIR) {
    return Error{.code = Errc::conflict, .what = "something else stands there", .subject = target_};
  }
  if (reason != 0) {
    return io_error("cannot put the file in place", target_, reason);
  }
  staging_name_.clear();
  // The file is there; that its name lasts through a power cut is asked for, and cannot be undone.
  static_cast<void>(fsync_retrying(parent_.get()));
  for (const int folder : made_.parents()) {
    static_cast<void>(fsync_retrying(folder));
  }
  made_.keep();
  return Done{};
}

/// The rename; 0, or why it failed.
int WholeFile::publish(Replace replace) const {
  const int parent = parent_.get();
  const char* const staging = staging_name_.c_str();
  if (replace == Replace::file) {
    return ::renameat(parent, staging, parent, name_.c_str()) == 0 ? 0 : errno;
  }
  if (::renameat2(parent, staging, parent, name_.c_str(), RENAME_NOREPLACE) == 0) {
    return 0;
  }
  // A file system without the flag: a link never replaces anything.
  if (errno != EINVAL || ::linkat(parent, staging, parent, name_.c_str(), 0) != 0) {
    return errno;
  }
  ::unlinkat(parent, staging, 0);
  return 0;
}

std::vector<AllowedFolder> WholeFile::allowed_folders() const {
  std::vector<AllowedFolder> allowed{{parent_.get(), AllowedFolder::What::files}};
  // Those that were made are removed where nothing comes of it.
  for (const int folder : made_.parents()) {
    allowed.push_back({folder, AllowedFolder::What::entries});
  }
  return allowed;
}

}  // namespace compatpack::io
