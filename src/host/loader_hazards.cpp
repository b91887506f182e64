// SPDX-License-Identifier: Apache-2.0
#include <set>

#include "compatpack/base/text.hpp"

#include "loader_parts.hpp"

namespace compatpack::host {
namespace {

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
                             const std::string& tree_libcuda, std::vector<Hazard>& hazards) {
  if (app.ignores_environment) {
    hazards.push_back({true, app.path + " is setuid or setgid: the loader ignores LD_LIBRARY_PATH",
                       "run it without the set-id bits, or install the driver for all"});
    return;
  }
  std::set<std::string> told;
  for (const DriverNeed& need : app.needs) {
    if (need.takes && !is_below(need.takes->path, tree) && need.takes->real_path != tree_libcuda &&
        need.library.starts_with("libcuda.so") && need.takes->by == FoundBy::rpath &&
        told.insert(need.takes->path).second) {
      hazards.push_back(
          {true,
           need.takes->how + " is stronger than LD_LIBRARY_PATH: it takes " +
               described(*need.takes),
           "take the path out of it (patchelf --remove-rpath)" +
               (tree.empty() ? "" : ", or start it with LD_PRELOAD=" + tree + "/" + kLibcuda)});
    }
  }
}

}  // namespace

std::vector<Hazard> find_hazards(const LoaderFacts& facts, const std::string& mps,
                                 const std::string& tree) {
  std::vector<Hazard> hazards;
  for (const std::string& preloaded : facts.preloaded) {
    if (last_component(preloaded).starts_with("libcuda.so") && !is_below(preloaded, tree)) {
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
    if (found.by == FoundBy::environment && !is_below(found.path, tree) &&
        last_component(folder_of(found.path)) != "stubs") {
      hazards.push_back(
          {false,
           "LD_LIBRARY_PATH also leads to " + described(found) +
               (facts.tree_is_behind ? ", which comes before the tree" : ", if it comes first"),
           facts.tree_is_behind ? "activate the tree last"
                                : "activate the tree after what sets it"});
    } else if (found.by == FoundBy::configuration &&
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
    add_application_hazards(*facts.application, tree, facts.tree_libcuda, hazards);
  }
  return hazards;
}

}  // namespace compatpack::host
