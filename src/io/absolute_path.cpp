// SPDX-License-Identifier: Apache-2.0
#include "compatpack/io/absolute_path.hpp"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <system_error>

#include <sys/stat.h>
#include <unistd.h>

#include "compatpack/io/output_dir.hpp"

namespace compatpack::io {
namespace {

std::string whole(const TargetPath& path) {
  return path.parent == "/" ? "/" + path.name : path.parent + "/" + path.name;
}

/// With the folder above it, which must exist, resolved.
Result<std::string> with_real_parent(TargetPath path) {
  auto parent = resolved(path.parent);
  if (!parent) {
    return io_error("cannot open the folder", path.parent, errno);
  }
  path.parent = *std::move(parent);
  return whole(path);
}

}  // namespace

std::optional<std::string> resolved(const std::string& path) {
  const std::unique_ptr<char, void (*)(void*)> real(::realpath(path.c_str(), nullptr), &std::free);
  return real ? std::optional<std::string>(real.get()) : std::nullopt;
}

Result<std::string> absolute_tree(const std::string& path) {
  CP_TRY(const TargetPath parts, split_target(path));
  if (::access(parts.parent.c_str(), F_OK) != 0 && errno == ENOENT) {
    std::error_code fault;
    const auto real =
        std::filesystem::weakly_canonical(std::filesystem::absolute(whole(parts), fault), fault);
    if (fault) {
      return io_error("cannot look at", path, fault.value());
    }
    return real.string();
  }
  CP_TRY(std::string target, with_real_parent(parts));
  struct stat facts {};
  if (::lstat(target.c_str(), &facts) != 0 || !S_ISLNK(facts.st_mode)) {
    return target;
  }
  auto real = resolved(target);
  if (!real) {
    return Error{.code = Errc::conflict,
                 .what = "a link that leads nowhere stands there",
                 .subject = path,
                 .hint = "remove it, or make the folder that it leads to"};
  }
  return *std::move(real);
}

Result<std::string> absolute_folder(const std::string& path) {
  if (auto parts = split_target(path)) {
    return with_real_parent(*std::move(parts));
  }
  auto real = resolved(path);
  if (!real) {
    return io_error("cannot open the folder", path, errno);
  }
  return *std::move(real);
}

}  // namespace compatpack::io
