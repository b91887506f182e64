// SPDX-License-Identifier: Apache-2.0
#include "compatpack/host/toolkits.hpp"

#include <algorithm>

#include "compatpack/base/text.hpp"
#include "compatpack/knowledge/catalog.hpp"

namespace compatpack::host {
namespace {

bool is_version(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789.") == std::string_view::npos;
}

/// "12.4.1" of version.json: {"cuda": {"name": "CUDA SDK", "version": "12.4.1"}, ...}.
std::string version_in_json(std::string_view text) {
  const std::size_t cuda = text.find("\"cuda\"");
  if (cuda == std::string_view::npos) {
    return {};
  }
  text.remove_prefix(cuda);
  constexpr std::string_view kKey = "\"version\"";
  const std::size_t key = text.find(kKey);
  if (key == std::string_view::npos) {
    return {};
  }
  text.remove_prefix(key + kKey.size());
  const std::size_t begin = text.find('"');
  const std::size_t end = text.find('"', begin + 1);
  if (begin == std::string_view::npos || end == std::string_view::npos) {
    return {};
  }
  const std::string_view version = text.substr(begin + 1, end - begin - 1);
  return is_version(version) ? std::string(version) : "";
}

class Finder {
 public:
  explicit Finder(const HostRoot& root) : root_(root) {}

  void look_for_toolkit(const std::string& folder) {
    const std::string json = folder + "/version.json";
    add(version_in_json(root_.read(json).text), json);
    // "CUDA Version 10.2.89", up to CUDA 11.0.
    const std::string old = folder + "/version.txt";
    const std::string text = root_.read(old).text;
    const std::string_view line = trim(text);
    const std::string_view version = line.substr(line.rfind(' ') + 1);
    add(is_version(version) ? std::string(version) : "", old);
    look_for_runtime(folder + "/lib64");
  }

  void look_for_runtime(const std::string& folder) {
    for (const std::string& name : root_.list(folder)) {
      const auto parts = knowledge::parse_library_name(name);
      const auto entry = parts && parts->stem == "libcudart" && is_version(parts->suffix)
                             ? root_.look(std::string(folder).append("/").append(name))
                             : std::nullopt;
      if (!entry || entry->kind != HostEntry::Kind::file) {
        continue;
      }
      const std::string& real = entry->real_path;
      const auto real_parts = knowledge::parse_library_name(last_component(real));
      add(std::string(real_parts ? real_parts->suffix : parts->suffix), real);
    }
  }

  /// The toolkit of the nvcc that a shell would start.
  void look_for_compiler(std::string_view search_path) {
    for (const std::string_view folder : split(search_path, ':')) {
      const auto entry =
          folder.empty() ? std::nullopt : root_.look(std::string(folder).append("/nvcc"));
      if (!entry || entry->kind != HostEntry::Kind::file) {
        continue;
      }
      // .../cuda-12.4/bin/nvcc
      constexpr std::string_view kPlace = "/bin/nvcc";
      if (entry->real_path.ends_with(kPlace)) {
        look_for_toolkit(entry->real_path.substr(0, entry->real_path.size() - kPlace.size()));
      }
      return;
    }
  }

  /// The runtimes that pip has put below `prefix`.
  void look_for_python(const std::string& prefix) {
    for (const std::string& version : root_.list(prefix + "/lib")) {
      const std::string packages =
          std::string(prefix).append("/lib/").append(version).append("/site-packages/nvidia/");
      look_for_runtime(packages + "cuda_runtime/lib");
      look_for_runtime(packages + "cu13/lib");
    }
  }

  std::vector<Runtime> take() { return std::move(found_); }

 private:
  /// /usr/local/cuda is a link as a rule: one toolkit under two names is told once.
  void add(std::string version, const std::string& path) {
    if (version.empty()) {
      return;
    }
    const auto entry = root_.look(path);
    std::string real = entry ? entry->real_path : path;
    const bool known = std::any_of(found_.begin(), found_.end(),
                                   [&](const Runtime& one) { return one.path == real; });
    if (!known) {
      found_.push_back({std::move(version), std::move(real)});
    }
  }

  const HostRoot& root_;
  std::vector<Runtime> found_;
};

}  // namespace

std::vector<Runtime> read_runtimes(const HostRoot& root, Environment environment) {
  Finder finder(root);
  const auto variable = [&](const char* name) {
    return std::string(value_of(environment, name).value_or(""));
  };
  for (const std::string& folder :
       {variable("CUDA_HOME"), variable("CUDA_PATH"), std::string("/usr/local/cuda")}) {
    if (!folder.empty()) {
      finder.look_for_toolkit(folder);
    }
  }
  finder.look_for_compiler(variable("PATH"));
  const std::string library_path = variable("LD_LIBRARY_PATH");
  for (const std::string_view folder : split(library_path, ':')) {
    if (!folder.empty()) {
      finder.look_for_runtime(std::string(folder));
    }
  }
  if (const std::string conda = variable("CONDA_PREFIX"); !conda.empty()) {
    finder.look_for_runtime(conda + "/lib");
    finder.look_for_python(conda);
  }
  if (const std::string venv = variable("VIRTUAL_ENV"); !venv.empty()) {
    finder.look_for_python(venv);
  }
  if (const std::string home = variable("HOME"); !home.empty()) {
    finder.look_for_python(home + "/.local");
  }
  return finder.take();
}

}  // namespace compatpack::host
