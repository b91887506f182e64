// SPDX-License-Identifier: Apache-2.0
#include "compatpack/io/text_file.hpp"

#include <cerrno>
#include <memory>

#include <unistd.h>

#include "compatpack/io/file_source.hpp"

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

}  // namespace compatpack::io
