// SPDX-License-Identifier: Apache-2.0
#include "compatpack/host/root.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <memory>
#include <span>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "compatpack/base/text.hpp"

namespace compatpack::host {
namespace {

// The longest of what is read is /proc/self/maps of a program with many libraries.
constexpr std::size_t kTextMax = 64U << 10U;

// A folder of libraries has some 3,000 names; more than this are not looked at.
constexpr std::size_t kNamesMax = 100'000;

/// For kernels before 5.6, and sandboxes that forbid openat2: no link is followed at all.
io::Fd open_by_component(int root, std::string_view path, int flags) {
  io::Fd at(::openat(root, ".", O_PATH | O_DIRECTORY | O_CLOEXEC));
  std::vector<std::string_view> parts;
  for (const std::string_view part : split(path, '/')) {
    if (part == "..") {
      errno = EXDEV;
      return {};
    }
    if (!part.empty() && part != ".") {
      parts.push_back(part);
    }
  }
  for (std::size_t i = 0; i < parts.size() && at.is_open(); ++i) {
    const bool last = i + 1 == parts.size();
    at = io::Fd(::openat(at.get(), std::string(parts[i]).c_str(),
                         (last ? flags : O_PATH | O_DIRECTORY) | O_NOFOLLOW | O_CLOEXEC));
  }
  return at;
}

std::string link_of(const std::string& path) {
  std::array<char, PATH_MAX> target{};
  const ssize_t length = ::readlink(path.c_str(), target.data(), target.size());
  return length < 0 ? "" : std::string(target.data(), static_cast<std::size_t>(length));
}

}  // namespace

Result<HostRoot> HostRoot::open(const std::string& path) {
  io::Fd fd(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!fd.is_open()) {
    return io_error("cannot open the folder", path, errno);
  }
  std::string real = link_of("/proc/self/fd/" + std::to_string(fd.get()));
  if (real.empty()) {
    real = path;
  }
  return HostRoot(std::move(fd), std::move(real));
}

io::Fd HostRoot::open_below(const std::string& path, int flags) const {
  flags |= O_CLOEXEC;
  if ((flags & O_PATH) == 0) {
    // Without this a FIFO would hold us up, and a terminal could become ours. With O_PATH nothing
    // is opened, and openat2 refuses it.
    flags |= O_NONBLOCK | O_NOCTTY;
  }
  if (is_own()) {
    return io::Fd(::open(path.c_str(), flags));
  }
  open_how how{};
  how.flags = static_cast<unsigned>(flags);
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  const long fd = ::syscall(SYS_openat2, fd_.get(), path.c_str(), &how, sizeof how);
  if (fd >= 0 || (errno != ENOSYS && errno != EPERM)) {
    return io::Fd(static_cast<int>(fd));
  }
  return open_by_component(fd_.get(), path, flags);
}

HostText HostRoot::read(const std::string& path) const { return read(path, kTextMax); }

HostText HostRoot::read(const std::string& path, std::size_t max) const {
  const auto unreadable = [](std::string why) {
    return HostText{.state = HostText::State::unreadable, .text = {}, .why = std::move(why)};
  };
  const auto system_words = [](int number) {
    return std::string(std::strerror(number));  // NOLINT(concurrency-mt-unsafe): one thread
  };
  const auto entry = look(path);
  if (entry && entry->kind != HostEntry::Kind::file) {
    return unreadable(entry->kind == HostEntry::Kind::folder ? "is a folder" : "is a device");
  }
  const io::Fd file = open_below(path, O_RDONLY);
  if (!file.is_open()) {
    const bool absent = errno == ENOENT || errno == ENOTDIR;
    return absent ? HostText{} : unreadable(system_words(errno));
  }
  HostText text{.state = HostText::State::read};
  std::array<char, 4096> block{};
  while (text.text.size() < max) {
    const std::size_t wanted = std::min(block.size(), max - text.text.size());
    const ssize_t count = ::read(file.get(), block.data(), wanted);
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count < 0) {
      return unreadable(system_words(errno));
    }
    if (count == 0) {
      break;
    }
    text.text.append(block.data(), static_cast<std::size_t>(count));
  }
  return text;
}

std::vector<std::string> HostRoot::list(const std::string& path) const {
  std::vector<std::string> names;
  io::Fd fd = open_below(path, O_RDONLY | O_DIRECTORY);
  if (!fd.is_open()) {
    return names;
  }
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::fdopendir(fd.get()), &::closedir);
  if (!folder) {
    return names;
  }
  fd.release();
  while (names.size() < kNamesMax) {
    const dirent* const entry = ::readdir(folder.get());  // NOLINT(concurrency-mt-unsafe): our own
    if (entry == nullptr) {
      break;
    }
    std::string name = static_cast<const char*>(entry->d_name);
    if (name != "." && name != "..") {
      names.push_back(std::move(name));
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::optional<HostEntry> HostRoot::look(const std::string& path) const {
  const io::Fd fd = open_below(path, O_PATH);
  struct stat facts {};
  if (!fd.is_open() || ::fstat(fd.get(), &facts) != 0) {
    return std::nullopt;
  }
  std::string real = link_of("/proc/self/fd/" + std::to_string(fd.get()));
  if (!is_own() && real.starts_with(path_ + "/")) {
    real.erase(0, path_.size());
  }
  if (real.empty()) {
    real = path;
  }
  const auto kind = S_ISREG(facts.st_mode)   ? HostEntry::Kind::file
                    : S_ISDIR(facts.st_mode) ? HostEntry::Kind::folder
                                             : HostEntry::Kind::other;
  return HostEntry{.kind = kind,
                   .size = static_cast<std::uint64_t>(facts.st_size),
                   .mode_bits = facts.st_mode & 07777U,
                   .real_path = std::move(real)};
}

Result<io::MappedBytes> HostRoot::map(const std::string& path) const {
  const io::Fd file = open_below(path, O_RDONLY);
  if (!file.is_open()) {
    return io_error("cannot open", path, errno);
  }
  struct stat facts {};
  if (::fstat(file.get(), &facts) != 0) {
    return io_error("cannot look at", path, errno);
  }
  if (!S_ISREG(facts.st_mode)) {
    return Error{.code = Errc::not_recognized, .what = "not a regular file", .subject = path};
  }
  return io::map_file(file, path);
}

}  // namespace compatpack::host
