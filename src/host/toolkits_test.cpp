// SPDX-License-Identifier: Apache-2.0
#include "compatpack/host/toolkits.hpp"

#include <filesystem>
#include <fstream>

#include <doctest/doctest.h>

#include "support/temp_dir.hpp"

using namespace compatpack;
using namespace compatpack::host;
namespace fs = std::filesystem;

namespace {

class Machine {
 public:
  Machine& text(const std::string& path, const std::string& content) {
    const fs::path at = folder_.path() / path.substr(1);
    fs::create_directories(at.parent_path());
    std::ofstream(at) << content;
    return *this;
  }
  Machine& link(const std::string& path, const std::string& target) {
    fs::create_symlink(target, folder_.path() / path.substr(1));
    return *this;
  }
  [[nodiscard]] std::vector<Runtime> look(const std::vector<std::string>& environment) const {
    return read_runtimes(*HostRoot::open(folder_.path().string()), environment);
  }

 private:
  test::TempDir folder_;
};

constexpr const char* kToolkit = R"({"cuda" : {"name" : "CUDA SDK", "version" : "12.4.1"}})";

}  // namespace

TEST_CASE("toolkits: runtimes are found in a toolkit, an environment and a search path") {
  Machine machine;
  machine.text("/usr/local/cuda/version.json", kToolkit)
      .text("/old/version.txt", "CUDA Version 10.2.89\n")
      .text("/mine/libcudart.so.11.8.89", "")
      .text("/conda/lib/libcudart.so.12.4.127", "")
      .link("/conda/lib/libcudart.so.12", "libcudart.so.12.4.127")
      .text("/venv/lib/python3.11/site-packages/nvidia/cuda_runtime/lib/libcudart.so.12", "")
      .text("/home/me/.local/lib/python3.13/site-packages/nvidia/cu13/lib/libcudart.so.13", "");

  const auto found = machine.look({"CUDA_HOME=/old", "LD_LIBRARY_PATH=/none:/mine",
                                   "CONDA_PREFIX=/conda", "VIRTUAL_ENV=/venv", "HOME=/home/me"});

  REQUIRE(found.size() == 6);
  CHECK(found[0].version == "10.2.89");
  CHECK(found[1].version == "12.4.1");
  CHECK(found[2].path == "/mine/libcudart.so.11.8.89");
  CHECK(found[3].version == "12.4.127");
  CHECK(found[3].path == "/conda/lib/libcudart.so.12.4.127");
  CHECK(found[4].version == "12");
  CHECK(found[5].version == "13");
}

TEST_CASE("toolkits: the toolkit of the first nvcc in PATH counts, and one with two names once") {
  Machine machine;
  machine.text("/opt/cuda-12.4/bin/nvcc", "")
      .text("/opt/cuda-12.4/version.json", kToolkit)
      .text("/later/bin/nvcc", "")
      .text("/later/version.txt", "CUDA Version 10.2.89\n")
      .text("/usr/local/x", "")
      .link("/usr/local/cuda", "/opt/cuda-12.4");

  const auto found = machine.look({"PATH=/none:/usr/local/cuda/bin:/later/bin"});

  REQUIRE(found.size() == 1);
  CHECK(found[0].version == "12.4.1");
  CHECK(found[0].path == "/opt/cuda-12.4/version.json");
}
