// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace compatpack::test {

/// A fresh empty folder, removed with all that it holds at the end of the scope.
class TempDir {
 public:
  TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  ~TempDir();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace compatpack::test
