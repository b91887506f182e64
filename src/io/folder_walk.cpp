// SPDX-License-Identifier: Apache-2.0
#include "compatpack/io/folder_walk.hpp"

#include <array>
#include <cerrno>

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compatpack/io/fd.hpp"
#include "compatpack/io/output_dir.hpp"

namespace compatpack::io {
namespace {

// A driver's sources are eight folders deep.
constexpr int kDepthMax = 32;

/// The content of an open file.
class FdSource final : public Source {
 public:
  FdSource(const Fd& fd, std::string name) : fd_(fd), name_(std::move(name)) {}

  Result<std::size_t> read(std::span<std::byte> into) override {
    if (!fd_.is_open()) {
      return std::size_t{0};
    }
    ssize_t count = -1;
    do {
      count = ::read(fd_.get(), into.data(), into.size());
    } while (count < 0 && errno == EINTR);
    if (count < 0) {
      return io_error("cannot read", name_, errno);
    }
    return static_cast<std::size_t>(count);
  }

 private:
  const Fd& fd_;
  std::string name_;
};

class Walk {
 public:
  using Visit = std::function<Result<Done>(const FoundEntry&, Source&)>;

  Walk(std::string root, const Limits& limits, const Visit& visit)
      : root_(std::move(root)), limits_(limits), visit_(visit) {}

  Result<Done> below(const Fd& folder, const std::string& prefix, int depth) {
    if (depth == kDepthMax) {
      return Error{.code = Errc::limit,
                   .what = "folders are nested too deeply",
                   .subject = shown(prefix),
                   .expected = "at most " + std::to_string(kDepthMax) + " levels"};
    }
    CP_TRY(const auto names, list_folder(folder, shown(prefix)));
    for (const std::string& name : names) {
      CP_CHECK(one(folder, name, prefix.empty() ? name : prefix + "/" + name, depth));
    }
    return Done{};
  }

 private:
  [[nodiscard]] std::string shown(const std::string& path) const {
    return path.empty() ? root_ : root_ + "/" + path;
  }

  Result<Done> one(const Fd& folder, const std::string& name, const std::string& path, int depth) {
    if (++entries_ > limits_.members) {
      return Error{.code = Errc::limit,
                   .what = "folder holds too much",
                   .subject = root_,
                   .expected = "at most " + std::to_string(limits_.members) + " entries"};
    }
    struct stat facts {};
    if (::fstatat(folder.get(), name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0) {
      return io_error("cannot look at", shown(path), errno);
    }
    FoundEntry entry{
        .path = path, .kind = FoundEntry::Kind::special, .mode_bits = facts.st_mode & 07777U};
    Fd inner;
    if (S_ISREG(facts.st_mode) || S_ISDIR(facts.st_mode)) {
      inner =
          Fd(::openat(folder.get(), name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
      if (!inner.is_open()) {
        return io_error("cannot open", shown(path), errno);
      }
      entry.kind = S_ISDIR(facts.st_mode) ? FoundEntry::Kind::folder : FoundEntry::Kind::file;
      entry.size = {S_ISREG(facts.st_mode) ? static_cast<std::uint64_t>(facts.st_size) : 0};
    } else if (S_ISLNK(facts.st_mode)) {
      entry.kind = FoundEntry::Kind::link;
      std::array<char, PATH_MAX> target{};
      const ssize_t length = ::readlinkat(folder.get(), name.c_str(), target.data(), target.size());
      if (length < 0) {
        return io_error("cannot read the link", shown(path), errno);
      }
      entry.link_target.assign(target.data(), static_cast<std::size_t>(length));
    }
    const Fd none;
    FdSource content(entry.kind == FoundEntry::Kind::file ? inner : none, shown(path));
    CP_CHECK(visit_(entry, content));
    return entry.kind == FoundEntry::Kind::folder ? below(inner, path, depth + 1) : Done{};
  }

  std::string root_;
  const Limits& limits_;
  const Visit& visit_;
  std::uint64_t entries_ = 0;
};

}  // namespace

Result<Done> walk_folder(const std::string& path, const Limits& limits,
                         const std::function<Result<Done>(const FoundEntry&, Source&)>& visit) {
  const Fd folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.is_open()) {
    return io_error("cannot open the folder", path, errno);
  }
  return Walk(path, limits, visit).below(folder, "", 0);
}

}  // namespace compatpack::io
