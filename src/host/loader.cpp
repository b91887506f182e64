// SPDX-License-Identifier: Apache-2.0
#include "compatpack/host/loader.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include <fnmatch.h>

#include "compatpack/base/bytes.hpp"
#include "compatpack/base/text.hpp"
#include "compatpack/formats/elf.hpp"
#include "compatpack/knowledge/catalog.hpp"

namespace compatpack::host {
namespace {

constexpr const char* kLibcuda = "libcuda.so.1";

// A program with PyTorch's libraries loads some 150.
constexpr std::size_t kObjectsMax = 500;
constexpr std::size_t kConfFilesMax = 500;
constexpr std::size_t kFoldersMax = 2'000;

// A libcuda has 8 MB at least; the toolkit's stub has 0.1.
constexpr std::uint64_t kStubSizeMax = 1U << 20U;

/// A folder that the loader looks into, and why.
struct Place {
  std::string folder;
  std::string how;
};

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

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
        places_.push_back({without_slashes(line), path});
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
      if (::fnmatch(std::string(file_name(pattern)).c_str(), name.c_str(), FNM_PERIOD) == 0) {
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
        "/usr/lib/aarch64-linux-gnu", "/lib64", "/usr/lib64", "/lib", "/usr/lib"}) {
    places.push_back({folder, "a default folder"});
  }
  return places;
}

/// LD_LIBRARY_PATH's elements; an empty one is the current folder.
std::vector<Place> environment_places(Environment environment) {
  std::vector<Place> places;
  const std::string value(value_of(environment, "LD_LIBRARY_PATH").value_or(""));
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
      places.push_back({element.empty() ? "." : without_slashes(element), "LD_LIBRARY_PATH"});
    }
    element.clear();
  }
  return places;
}

std::optional<FoundLibrary> find_in(const HostRoot& root, const Place& place,
                                    const std::string& name) {
  const std::string path = place.folder + "/" + name;
  const auto entry = root.look(path);
  if (!entry || entry->kind != HostEntry::Kind::file) {
    return std::nullopt;
  }
  FoundLibrary found{.path = path, .real_path = entry->real_path, .how = place.how};
  if (const auto parts = knowledge::parse_library_name(file_name(found.real_path))) {
    found.driver = DriverVersion::parse(parts->suffix);
    const bool in_stubs =
        file_name(folder_of(path)) == "stubs" || file_name(folder_of(found.real_path)) == "stubs";
    found.is_stub =
        parts->stem == "libcuda" && (in_stubs || (!found.driver && entry->size < kStubSizeMax));
  }
  return found;
}

bool is_driver_library(std::string_view name) {
  const auto parts = knowledge::parse_library_name(name);
  return parts && !knowledge::library_rows(parts->stem).empty();
}

/// Follows a program's libraries as the loader does.
class Follower {
 public:
  Follower(const HostRoot& root, std::vector<Place> environment, std::vector<Place> system)
      : root_(root), environment_(std::move(environment)), system_(std::move(system)) {}

  Result<Application> follow(const std::string& path) {
    Application app{.path = path, .arch = {}};
    const auto entry = root_.look(path);
    CP_TRY(Object program, read_object(path, -1));
    app.arch = name_of(program.identity.head);
    arch_ = app.arch;
    constexpr unsigned kSetIds = 06000;
    app.ignores_environment = entry && (entry->mode_bits & kSetIds) != 0;
    if (app.ignores_environment) {
      environment_.clear();
    }
    objects_.push_back(std::move(program));
    for (std::size_t i = 0; i < objects_.size(); ++i) {
      look_at(i, app);
    }
    return app;
  }

 private:
  struct Object {
    std::string path;
    int parent;  // that loaded it; -1: the program
    formats::ElfIdentity identity;
    std::vector<std::string> opens;  // driver libraries whose names are in its text
  };

  Result<Object> read_object(const std::string& path, int parent) const {
    CP_TRY(const io::MappedBytes file, root_.map(path));
    auto identity = formats::parse_elf(file.bytes());
    if (!identity) {
      Error error = std::move(identity).error();
      error.subject = path;
      if (error.code == Errc::not_recognized) {
        error.hint = "name the program that runs it, such as python3";
      }
      return error;
    }
    Object object{path, parent, *std::move(identity), {}};
    const std::string_view text = as_text(file.bytes());
    for (const char* const name :
         {"libcuda.so.1", "libcuda.so", "libnvidia-ml.so.1", "libnvidia-ptxjitcompiler.so.1"}) {
      if (text.find(std::string(name) + '\0') != std::string_view::npos) {
        object.opens.emplace_back(name);
      }
    }
    return object;
  }

  void look_at(std::size_t number, Application& app) {
    const std::vector<std::string> needed = objects_[number].identity.needed;
    for (const std::string& name : needed) {
      auto found = resolve(number, name);
      if (is_driver_library(name)) {
        app.needs.push_back({name, objects_[number].path, false, std::move(found)});
        continue;
      }
      if (!loaded_.insert(name).second) {
        continue;
      }
      if (!found) {
        app.missing.push_back(name);
      } else if (objects_.size() < kObjectsMax) {
        if (auto object = read_object(found->path, static_cast<int>(number))) {
          objects_.push_back(*std::move(object));
        }
      }
    }
    for (const std::string& name : objects_[number].opens) {
      const bool is_needed = std::find(needed.begin(), needed.end(), name) != needed.end();
      if (!is_needed) {
        app.needs.push_back({name, objects_[number].path, true, resolve(number, name)});
      }
    }
  }

  /// $ORIGIN and $LIB as the loader fills them in.
  [[nodiscard]] static std::string expanded(std::string_view element, const std::string& object) {
    std::string out(element);
    const std::string origin(folder_of(object));
    for (const auto& [word, value] : {std::pair<std::string, std::string>{"${ORIGIN}", origin},
                                      {"$ORIGIN", origin},
                                      {"${LIB}", "lib64"},
                                      {"$LIB", "lib64"}}) {
      for (std::size_t at = out.find(word); at != std::string::npos; at = out.find(word)) {
        out.replace(at, word.size(), value);
      }
    }
    return out;
  }

  static void add_path(std::vector<Place>& places, const std::string& path,
                       const std::string& object, const char* tag) {
    for (const std::string_view element : split(path, ':')) {
      if (!element.empty()) {
        places.push_back({without_slashes(expanded(element, object)),
                          std::string(tag) + " of " + std::string(file_name(object))});
      }
    }
  }

  [[nodiscard]] std::optional<FoundLibrary> resolve(std::size_t asker,
                                                    const std::string& name) const {
    std::vector<Place> places;
    if (objects_[asker].identity.runpath.empty()) {
      for (int i = static_cast<int>(asker); i >= 0;
           i = objects_[static_cast<std::size_t>(i)].parent) {
        const Object& object = objects_[static_cast<std::size_t>(i)];
        if (object.identity.runpath.empty()) {
          add_path(places, object.identity.rpath, object.path, "DT_RPATH");
        }
      }
    }
    places.insert(places.end(), environment_.begin(), environment_.end());
    add_path(places, objects_[asker].identity.runpath, objects_[asker].path, "DT_RUNPATH");
    places.insert(places.end(), system_.begin(), system_.end());
    if (name.find('/') != std::string::npos) {
      return find_in(root_, {std::string(folder_of(name)), "its full path"},
                     std::string(file_name(name)));
    }
    for (const Place& place : places) {
      if (auto found = find_in(root_, place, name); found && fits(*found)) {
        return found;
      }
    }
    return std::nullopt;
  }

  /// The loader passes over libraries of another architecture.
  [[nodiscard]] bool fits(const FoundLibrary& found) const {
    const auto file = root_.map(found.path);
    if (!file) {
      return false;
    }
    const auto head = formats::parse_elf_head(
        file->bytes().first(std::min(file->bytes().size(), formats::kElfHeadSize)));
    return head && name_of(*head) == arch_;
  }

  const HostRoot& root_;
  std::vector<Place> environment_;
  std::vector<Place> system_;
  std::vector<Object> objects_;
  std::set<std::string, std::less<>> loaded_;
  std::string arch_;
};

std::string described(const FoundLibrary& found) {
  std::string text = found.path;
  if (found.is_stub) {
    text += " (a stub)";
  } else if (found.driver) {
    text += " (driver " + found.driver->text() + ")";
  }
  return text;
}

bool is_below(const std::string& path, const std::string& folder) {
  return !folder.empty() && path.starts_with(folder + "/");
}

void add_application_hazards(const Application& app, const std::string& tree,
                             std::vector<Hazard>& hazards) {
  if (app.ignores_environment) {
    hazards.push_back({true, app.path + " is setuid or setgid: the loader ignores LD_LIBRARY_PATH",
                       "run it without the set-id bits, or install the driver for all"});
    return;
  }
  std::set<std::string> told;
  for (const DriverNeed& need : app.needs) {
    if (need.takes && !is_below(need.takes->path, tree) && need.library.starts_with("libcuda.so") &&
        need.takes->how.starts_with("DT_RPATH") && told.insert(need.takes->path).second) {
      hazards.push_back({true,
                         need.takes->how + " is stronger than LD_LIBRARY_PATH: it takes " +
                             described(*need.takes),
                         "take the path out of it (patchelf --remove-rpath), or start it with "
                         "LD_PRELOAD=" +
                             tree + "/" + kLibcuda});
    }
  }
}

}  // namespace

Result<LoaderFacts> read_loader(const HostRoot& root, Environment environment,
                                const std::string& tree, const std::string& application) {
  LoaderFacts facts;
  const std::vector<Place> ours = environment_places(environment);
  const std::vector<Place> system = system_places(root);
  std::vector<Place> all = ours;
  all.insert(all.end(), system.begin(), system.end());
  std::set<std::string> seen;
  bool tree_seen = false;
  for (const Place& place : all) {
    if (file_name(place.folder) == "stubs" && place.how == "LD_LIBRARY_PATH") {
      facts.stub_folders.push_back(place.folder);
    }
    if (!tree.empty() && place.folder == tree) {
      tree_seen = true;
      continue;
    }
    auto found = find_in(root, place, kLibcuda);
    if (!found || !seen.insert(found->real_path).second) {
      continue;
    }
    const bool tree_follows =
        place.how == "LD_LIBRARY_PATH" && !tree_seen &&
        std::any_of(ours.begin(), ours.end(), [&](const Place& one) { return one.folder == tree; });
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
      active.insert(active.begin(), {tree, "LD_LIBRARY_PATH"});
    }
    CP_TRY(facts.application, Follower(root, std::move(active), system).follow(application));
  }
  return facts;
}

std::vector<Hazard> find_hazards(const LoaderFacts& facts, const std::string& mps,
                                 const std::string& tree) {
  std::vector<Hazard> hazards;
  for (const std::string& preloaded : facts.preloaded) {
    if (file_name(preloaded).starts_with("libcuda.so") && !is_below(preloaded, tree)) {
      hazards.push_back(
          {true, "LD_PRELOAD loads " + preloaded + " before anything else", "unset LD_PRELOAD"});
    }
  }
  for (const std::string& folder : facts.stub_folders) {
    hazards.push_back({false,
                       "LD_LIBRARY_PATH holds " + folder +
                           ": a libcuda there is for linking only (error 34 if it comes first)",
                       "take it out of LD_LIBRARY_PATH; LIBRARY_PATH is the place for it"});
  }
  for (const FoundLibrary& found : facts.libcudas) {
    if (found.how == "LD_LIBRARY_PATH" && file_name(folder_of(found.path)) != "stubs") {
      hazards.push_back(
          {false,
           "LD_LIBRARY_PATH also leads to " + described(found) +
               (facts.tree_is_behind ? ", which comes before the tree" : ", if it comes first"),
           facts.tree_is_behind ? "activate the tree last"
                                : "activate the tree after what sets it"});
    } else if (found.how.starts_with("/etc/") &&
               folder_of(found.path).find("compat") != std::string_view::npos) {
      hazards.push_back(
          {false, found.how + " gives every program " + described(found) + ", also without a tree",
           "remove that file and run ldconfig, if it is not meant"});
    }
  }
  if (!facts.injection.empty()) {
    hazards.push_back({false,
                       "CUDA_INJECTION64_PATH loads " + facts.injection +
                           ", which may bring the host's libcuda along",
                       "unset it while the tree is active"});
  }
  if (!mps.empty()) {
    hazards.push_back({false,
                       "MPS runs (" + mps +
                           "): its server uses the host's libraries, and clients must use the same",
                       "stop MPS, or start it with the tree active"});
  }
  if (facts.application) {
    add_application_hazards(*facts.application, tree, hazards);
  }
  return hazards;
}

}  // namespace compatpack::host
