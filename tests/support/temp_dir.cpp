// SPDX-License-Identifier: Apache-2.0
#include "support/temp_dir.hpp"

#include <cstdlib>
#include <stdexcept>
#include <string>

namespace compatpack::test {

TempDir::TempDir() {
  std::string name = (std::filesystem::temp_directory_path() / "compatpack-test-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) {
    throw std::runtime_error("mkdtemp: " + name);
  }
  path_ = name;
}

TempDir::~TempDir() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace compatpack::test
