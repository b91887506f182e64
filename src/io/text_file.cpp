// SPDX-License-Identifier: Apache-2.0
#include "compatpack/io/text_file.hpp"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <system_error>

#include <sys/stat.h>
#include <unistd.h>

#include "compatpack/io/file_source.hpp"
#include "compatpack/io/output_dir.hpp"

namespace compatpack::io {

Result<std::optional<std::string>> read_text_file(const std::string& path, ByteCount max) {
  if (::access(path.c_str(), F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR)) {
    return std::optional<std::string>();
  }
  auto opened = FileSource::open(path, nullptr);
  if (!opened) {
    Error error = std::move(opened).error();
    if (error.code == Errc::not_recognized) {
      error.what = "not a text file";
    }
    return error;
  }
  const std::unique_ptr<FileSource> file = *std::move(opened);
  auto text = read_text(*file, file->size(), max);
  if (!text) {
    text.error().subject = path;
    return std::move(text).error();
  }
  return std::optional(*std::move(text));
}

Result<std::string> absolute_folder(const std::string& path) {
  if (split_target(path)) {
    return absolute_target(path);
  }
  const std::unique_ptr<char, void (*)(void*)> whole(::realpath(path.c_str(), nullptr), &std::free);
  if (!whole) {
    return io_error("cannot open the folder", path, errno);
  }
  return std::string(whole.get());
}

Result<std::string> absolute_tree(const std::string& path) {
  CP_TRY(const TargetPath parts, split_target(path));
  if (::access(parts.parent.c_str(), F_OK) != 0 && errno == ENOENT) {
    // Folders that are to be made: links are resolved as far as there is something.
    std::error_code fault;
    const std::filesystem::path whole(parts.parent == "/" ? "/" + parts.name
                                                          : parts.parent + "/" + parts.name);
    const auto resolved =
        std::filesystem::weakly_canonical(std::filesystem::absolute(whole, fault), fault);
    if (fault) {
      return io_error("cannot look at", path, fault.value());
    }
    return resolved.string();
  }
  CP_TRY(std::string target, absolute_target(path));
  struct stat facts {};
  if (::lstat(target.c_str(), &facts) != 0 || !S_ISLNK(facts.st_mode)) {
    return target;
  }
  const std::unique_ptr<char, void (*)(void*)> resolved(::realpath(target.c_str(), nullptr),
                                                        &std::free);
  if (!resolved) {
    return Error{.code = Errc::conflict,
                 .what = "a link that leads nowhere stands there",
                 .subject = path,
                 .hint = "remove it, or make the folder that it leads to"};
  }
  return std::string(resolved.get());
}

Result<std::string> absolute_target(const std::string& path) {
  CP_TRY(const TargetPath target, split_target(path));
  const std::unique_ptr<char, void (*)(void*)> parent(::realpath(target.parent.c_str(), nullptr),
                                                      &std::free);
  if (!parent) {
    return io_error("cannot open the folder", target.parent, errno);
  }
  const std::string folder = parent.get();
  return folder == "/" ? "/" + target.name : folder + "/" + target.name;
}

}  // namespace compatpack::io
