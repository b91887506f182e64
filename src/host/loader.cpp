// SPDX-License-Identifier: Apache-2.0
#include "compatpack/host/loader.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include <fnmatch.h>

#include "compatpack/base/text.hpp"
#include "compatpack/knowledge/catalog.hpp"

#include "loader_parts.hpp"

namespace compatpack::host {
namespace {

constexpr std::string_view kLibraryPath = "LD_LIBRARY_PATH";

constexpr std::size_t kConfFilesMax = 500;
constexpr std::size_t kFoldersMax = 2'000;

// A libcuda has 8 MB at least; the toolkit's stub has 0.1.
constexpr std::uint64_t kStubSizeMax = 1U << 20U;

/// Reads ld.so.conf and what it includes.
class ConfReader {
 public:
  explicit ConfReader(const HostRoot& root) : root_(root) {}

  std::vector<Place> read() {
    read_file("/etc/ld.so.conf", 0);
    return std::move(places_);
  }

 private:
  // ld.so.conf includes a folder's files, which include nothing as a rule.
  static constexpr int kDepthMax = 8;

  void read_file(const std::string& path, int depth) {
    if (depth > kDepthMax || ++files_ > kConfFilesMax) {
      return;
    }
    const HostText file = root_.read(path);
    std::string_view rest = file.text;
    while (!rest.empty() && places_.size() < kFoldersMax) {
      std::string_view line = take_line(rest);
      line = trim(line.substr(0, line.find('#')));
      constexpr std::string_view kInclude = "include";
      if (line.starts_with(kInclude) && line.size() > kInclude.size() &&
          (line[kInclude.size()] == ' ' || line[kInclude.size()] == '\t')) {
        include(std::string(trim(line.substr(kInclude.size()))), path, depth);
      } else if (line.starts_with('/')) {
        places_.push_back({without_slashes(line), FoundBy::configuration, path});
      }
    }
  }

  /// Patterns are in the last component, as in include /etc/ld.so.conf.d/*.conf.
  void include(std::string pattern, const std::string& from, int depth) {
    if (!pattern.starts_with('/')) {
      pattern = std::string(folder_of(from)) + "/" + pattern;
    }
    const std::string folder(folder_of(pattern));
    for (const std::string& name : root_.list(folder)) {
      if (::fnmatch(std::string(last_component(pattern)).c_str(), name.c_str(), FNM_PERIOD) == 0) {
        read_file(std::string(folder).append("/").append(name), depth + 1);
      }
    }
  }

  const HostRoot& root_;
  std::vector<Place> places_;
  std::size_t files_ = 0;
};

std::vector<Place> system_places(const HostRoot& root) {
  std::vector<Place> places = ConfReader(root).read();
  for (const char* const folder :
       {"/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib/aarch64-linux-gnu",
        "/usr/lib/aarch64-linux-gnu", "/lib/powerpc64le-linux-gnu",
        "/usr/lib/powerpc64le-linux-gnu", "/lib64", "/usr/lib64", "/lib", "/usr/lib"}) {
    places.push_back({folder, FoundBy::default_folder, "a default folder"});
  }
  return places;
}

/// LD_LIBRARY_PATH's elements; an empty one is the current folder.
std::vector<Place> environment_places(Environment environment) {
  std::vector<Place> places;
  const std::string value(value_of(environment, kLibraryPath).value_or(""));
  if (value.empty()) {
    return places;
  }
  std::string element;
  for (const char c : value + ":") {
    if (c != ':' && c != ';') {
      element += c;
      continue;
    }
    if (places.size() < kFoldersMax) {
      places.push_back({element.empty() ? "." : without_slashes(element), FoundBy::environment,
                        std::string(kLibraryPath)});
    }
    element.clear();
  }
  return places;
}

}  // namespace

std::string_view folder_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? "." : path.substr(0, slash == 0 ? 1 : slash);
}

std::string without_slashes(std::string_view folder) {
  while (folder.size() > 1 && folder.ends_with('/')) {
    folder.remove_suffix(1);
  }
  return std::string(folder);
}

std::optional<FoundLibrary> find_in(const HostRoot& root, const Place& place,
                                    const std::string& name) {
  const std::string path = place.folder + "/" + name;
  const auto entry = root.look(path);
  if (!entry || entry->kind != HostEntry::Kind::file) {
    return std::nullopt;
  }
  FoundLibrary found{.path = path, .real_path = entry->real_path, .by = place.by, .how = place.how};
  if (const auto parts = knowledge::parse_library_name(last_component(found.real_path))) {
    found.driver = DriverVersion::parse(parts->suffix);
    const bool in_stubs = last_component(folder_of(path)) == "stubs" ||
                          last_component(folder_of(found.real_path)) == "stubs";
    found.is_stub =
        parts->stem == "libcuda" && (in_stubs || (!found.driver && entry->size < kStubSizeMax));
  }
  return found;
}

Result<LoaderFacts> read_loader(const HostRoot& root, Environment environment,
                                const std::string& tree, const std::string& application) {
  LoaderFacts facts;
  const std::vector<Place> ours = environment_places(environment);
  const std::vector<Place> system = system_places(root);
  std::vector<Place> all = ours;
  all.insert(all.end(), system.begin(), system.end());
  if (!tree.empty()) {
    if (const auto own = find_in(root, {tree, FoundBy::full_path, {}}, kLibcuda)) {
      facts.tree_libcuda = own->real_path;
    }
  }
  // By its libcuda: several paths may lead to it, such as a link to the current tree.
  const auto is_tree = [&](const Place& place) {
    const auto found = find_in(root, place, kLibcuda);
    return found && found->real_path == facts.tree_libcuda;
  };
  std::set<std::string> seen;
  bool tree_seen = false;
  for (const Place& place : all) {
    if (last_component(place.folder) == "stubs" && place.by == FoundBy::environment) {
      facts.stub_folders.push_back(place.folder);
    }
    if (is_tree(place)) {
      tree_seen = true;
      continue;
    }
    auto found = find_in(root, place, kLibcuda);
    if (!found || !seen.insert(found->real_path).second) {
      continue;
    }
    const bool tree_follows = place.by == FoundBy::environment && !tree_seen &&
                              std::any_of(ours.begin(), ours.end(), is_tree);
    facts.tree_is_behind = facts.tree_is_behind || tree_follows;
    facts.libcudas.push_back(*std::move(found));
  }
  std::string preload(value_of(environment, "LD_PRELOAD").value_or(""));
  std::replace(preload.begin(), preload.end(), ':', ' ');
  for (const std::string_view element : split(preload, ' ')) {
    if (!element.empty()) {
      facts.preloaded.emplace_back(element);
    }
  }
  facts.injection = value_of(environment, "CUDA_INJECTION64_PATH").value_or("");
  if (!application.empty()) {
    std::vector<Place> active = ours;
    if (!tree.empty()) {
      active.insert(active.begin(), {tree, FoundBy::environment, std::string(kLibraryPath)});
    }
    CP_TRY(facts.application, follow_application(root, application, std::move(active), system));
  }
  return facts;
}

}  // namespace compatpack::host
