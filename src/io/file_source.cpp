// SPDX-License-Identifier: Apache-2.0
#include "compatpack/io/file_source.hpp"

#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace compatpack::io {
namespace {

const char* kind_of(mode_t mode) {
  switch (mode & static_cast<mode_t>(S_IFMT)) {
    case S_IFDIR:
      return "a folder";
    case S_IFIFO:
      return "a FIFO";
    case S_IFSOCK:
      return "a socket";
    default:
      return "a device";
  }
}

}  // namespace

Result<std::unique_ptr<FileSource>> FileSource::open(const std::string& path,
                                                     ReadObserver* observer) {
  // O_NONBLOCK: opening a FIFO must not wait for a writer. It means nothing for a regular file.
  Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd.is_open()) {
    return io_error("cannot open", path, errno);
  }
  struct stat opened {};
  if (::fstat(fd.get(), &opened) != 0) {
    return io_error("cannot look at", path, errno);
  }
  if (!S_ISREG(opened.st_mode)) {
    return Error{.code = Errc::not_recognized,
                 .what = "not a bundle",
                 .subject = path,
                 .expected = "a regular file",
                 .found = kind_of(opened.st_mode)};
  }
  // Advice: its failure costs speed only.
  static_cast<void>(::posix_fadvise(fd.get(), 0, 0, POSIX_FADV_SEQUENTIAL));
  return std::unique_ptr<FileSource>(new FileSource(std::move(fd), path, opened, observer));
}

Result<std::unique_ptr<FileSource>> FileSource::adopt(Fd fd, const std::string& name,
                                                      ReadObserver* observer) {
  struct stat opened {};
  if (::fstat(fd.get(), &opened) != 0 || ::lseek(fd.get(), 0, SEEK_SET) != 0) {
    return io_error("cannot look at", name, errno);
  }
  return std::unique_ptr<FileSource>(new FileSource(std::move(fd), name, opened, observer));
}

FileSource::FileSource(Fd fd, std::string path, const struct stat& opened, ReadObserver* observer)
    : fd_(std::move(fd)),
      path_(std::move(path)),
      opened_(opened),
      size_{static_cast<std::uint64_t>(opened.st_size)},
      observer_(observer) {}

Result<std::size_t> FileSource::read(std::span<std::byte> into) {
  const std::uint64_t left = size_.value - read_so_far_.value;
  const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(into.size(), left));
  if (wanted == 0) {
    return std::size_t{0};
  }
  ssize_t count = -1;
  do {
    count = ::read(fd_.get(), into.data(), wanted);
  } while (count < 0 && errno == EINTR);
  if (count < 0) {
    Error error = io_error("cannot read", path_, errno);
    error.at = ByteOffset{read_so_far_.value};
    return error;
  }
  read_so_far_.value += static_cast<std::uint64_t>(count);
  if (observer_ != nullptr) {
    CP_CHECK(observer_->on_read(read_so_far_, size_));
  }
  return static_cast<std::size_t>(count);
}

Result<std::size_t> FileSource::read_at(ByteOffset at, std::span<std::byte> into) const {
  std::size_t filled = 0;
  while (filled < into.size() && at.value + filled < size_.value) {
    const std::span<std::byte> rest = into.subspan(filled);
    const ssize_t count =
        ::pread(fd_.get(), rest.data(), rest.size(), static_cast<off_t>(at.value + filled));
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count < 0) {
      Error error = io_error("cannot read", path_, errno);
      error.at = ByteOffset{at.value + filled};
      return error;
    }
    if (count == 0) {
      break;
    }
    filled += static_cast<std::size_t>(count);
  }
  return filled;
}

Result<Done> FileSource::check_unchanged() const {
  struct stat now {};
  if (::fstat(fd_.get(), &now) != 0) {
    return io_error("cannot look at", path_, errno);
  }
  const bool same = now.st_size == opened_.st_size &&
                    now.st_mtim.tv_sec == opened_.st_mtim.tv_sec &&
                    now.st_mtim.tv_nsec == opened_.st_mtim.tv_nsec;
  if (!same) {
    return Error{.code = Errc::io,
                 .what = "bundle changed while it was read",
                 .subject = path_,
                 .hint = "wait until it is completely downloaded, then try again"};
  }
  return Done{};
}

}  // namespace compatpack::io
