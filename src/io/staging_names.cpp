// SPDX-License-Identifier: Apache-2.0
#include "staging_names.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "compatpack/io/output_dir.hpp"

namespace compatpack::io {
namespace {

/// Whether a lock on a staging folder keeps out processes of other machines, or there are none:
/// local file systems. On NFS, flock() of a folder is known to the own machine only.
bool locks_hold_everywhere(const Fd& folder) {
  struct statfs facts {};
  if (::fstatfs(folder.get(), &facts) != 0) {
    return false;
  }
  constexpr std::uint32_t kXfs = 0x58465342;  // linux/magic.h lacks it, and the next
  constexpr std::uint32_t kZfs = 0x2FC12FC1;
  constexpr std::array<std::uint32_t, 7> kLocal{EXT4_SUPER_MAGIC,
                                                BTRFS_SUPER_MAGIC,
                                                TMPFS_MAGIC,
                                                OVERLAYFS_SUPER_MAGIC,
                                                F2FS_SUPER_MAGIC,
                                                kXfs,
                                                kZfs};
  return std::find(kLocal.begin(), kLocal.end(), static_cast<std::uint32_t>(facts.f_type)) !=
         kLocal.end();
}

/// Whether nothing has been made in a folder for so long that no extraction can be going on there.
bool is_old(const Fd& folder) {
  constexpr std::time_t kDay{86'400};  // seconds
  struct stat facts {};
  return ::fstat(folder.get(), &facts) == 0 && facts.st_mtime < std::time(nullptr) - kDay;
}

}  // namespace

std::string random_suffix() {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz234567";  // 32 of them
  std::array<unsigned char, 6> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    // Only to keep names apart: mkdir refuses a taken one.
    bytes.fill(static_cast<unsigned char>(::getpid()));
  }
  std::string out;
  for (const unsigned char byte : bytes) {
    out += kLetters[byte % kLetters.size()];
  }
  return out;
}

std::string staging_prefix(const std::string& name) {
  return "." + name + std::string(kStagingMark);
}

void remove_stale_staging(const Fd& parent, const std::string& name) {
  const auto names = list_folder(parent, "");
  if (!names) {
    return;  // a parent that can be written but not read; nothing is lost but tidiness
  }
  // A file may be one too. Without waiting, should it be a FIFO.
  constexpr int kFlags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  for (const std::string& one : *names) {
    if (!one.starts_with(staging_prefix(name)) ||
        one.size() != staging_prefix(name).size() + random_suffix().size()) {
      continue;
    }
    const Fd folder(::openat(parent.get(), one.c_str(), kFlags));
    if (folder.is_open() && ::flock(folder.get(), LOCK_EX | LOCK_NB) == 0 &&
        (locks_hold_everywhere(folder) || is_old(folder))) {
      remove_tree(parent, one);
    }
  }
}

int fsync_retrying(int fd) {
  int result = -1;
  do {
    result = ::fsync(fd);
  } while (result != 0 && errno == EINTR);
  return result;
}

}  // namespace compatpack::io
