// SPDX-License-Identifier: Apache-2.0
#include "compatpack/io/output_file.hpp"

#include <cerrno>
#include <cstdlib>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace compatpack::io {

MappedBytes::MappedBytes(MappedBytes&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedBytes::~MappedBytes() {
  if (size_ > 0) {
    ::munmap(const_cast<void*>(data_), size_);  // NOLINT(cppcoreguidelines-pro-type-const-cast)
  }
}

Result<MappedBytes> map_file(const Fd& fd, const std::string& name) {
  struct stat facts {};
  if (::fstat(fd.get(), &facts) != 0) {
    return io_error("cannot look at", name, errno);
  }
  const auto size = static_cast<std::size_t>(facts.st_size);
  if (size == 0) {
    return MappedBytes(nullptr, 0);
  }
  void* const data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd.get(), 0);
  if (data == MAP_FAILED) {  // NOLINT: the macro's cast
    return io_error("cannot map into memory", name, errno);
  }
  return MappedBytes(data, size);
}

Result<OutputFile> OutputFile::in_memory(const std::string& name) {
  Fd fd(::memfd_create("compatpack", MFD_CLOEXEC));
  if (!fd.is_open()) {
    return io_error("cannot make a file in memory", name, errno);
  }
  return OutputFile(std::move(fd), name);
}

Result<OutputFile> OutputFile::temporary(const std::string& folder, const std::string& name) {
  Fd fd(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (!fd.is_open()) {
    // NFS, overlayfs before Linux 6.6 and others have no O_TMPFILE.
    std::string path = folder + "/.compatpack-XXXXXX";
    fd = Fd(::mkostemp(path.data(), O_CLOEXEC));
    if (!fd.is_open()) {
      return io_error("cannot make a temporary file in", folder, errno);
    }
    ::unlink(path.c_str());
  }
  return OutputFile(std::move(fd), name);
}

Result<Done> OutputFile::write(std::span<const std::byte> bytes) {
  std::span<const std::byte> rest = bytes;
  while (!rest.empty()) {
    const ssize_t count = ::write(fd_.get(), rest.data(), rest.size());
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count <= 0) {
      Error error = io_error("cannot write", name_, count == 0 ? ENOSPC : errno);
      error.at = ByteOffset{size_.value};
      return error;
    }
    rest = rest.subspan(static_cast<std::size_t>(count));
    size_.value += static_cast<std::uint64_t>(count);
  }
  return Done{};
}

}  // namespace compatpack::io
