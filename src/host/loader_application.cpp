// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>
#include <utility>

#include "compatpack/base/bytes.hpp"
#include "compatpack/base/text.hpp"
#include "compatpack/formats/elf.hpp"
#include "compatpack/knowledge/catalog.hpp"

#include "loader_parts.hpp"

namespace compatpack::host {
namespace {

// A program with PyTorch's libraries loads some 150.
constexpr std::size_t kObjectsMax = 500;

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
                       const std::string& object, FoundBy by) {
    const std::string tag = by == FoundBy::rpath ? "DT_RPATH" : "DT_RUNPATH";
    for (const std::string_view element : split(path, ':')) {
      if (!element.empty()) {
        places.push_back({without_slashes(expanded(element, object)), by,
                          tag + " of " + std::string(last_component(object))});
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
          add_path(places, object.identity.rpath, object.path, FoundBy::rpath);
        }
      }
    }
    places.insert(places.end(), environment_.begin(), environment_.end());
    add_path(places, objects_[asker].identity.runpath, objects_[asker].path, FoundBy::runpath);
    places.insert(places.end(), system_.begin(), system_.end());
    if (name.find('/') != std::string::npos) {
      return find_in(root_, {std::string(folder_of(name)), FoundBy::full_path, "its full path"},
                     std::string(last_component(name)));
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

}  // namespace

Result<Application> follow_application(const HostRoot& root, const std::string& path,
                                       std::vector<Place> environment, std::vector<Place> system) {
  return Follower(root, std::move(environment), std::move(system)).follow(path);
}

}  // namespace compatpack::host
