// SPDX-License-Identifier: Apache-2.0
#include "compatpack/pipeline/selection.hpp"

#include <algorithm>

#include <fnmatch.h>

#include "compatpack/base/text.hpp"

namespace compatpack::pipeline {
namespace {

using knowledge::Component;
using Use = Selection::Use;

constexpr std::uint16_t kSharedObject = 3;  // ET_DYN

bool matches(const std::vector<std::string>& globs, const RelPath& path) {
  return std::any_of(globs.begin(), globs.end(),
                     [&](const std::string& glob) { return matches_glob(glob, path); });
}

/// The bundle's own licence: a driver's, a redistributable archive's, or a package's.
bool is_licence(const RelPath& path) {
  constexpr int kNoDeeper = FNM_PATHNAME;
  return path.text() == "LICENSE" ||
         ::fnmatch("*-archive/LICENSE", path.text().c_str(), kNoDeeper) == 0 ||
         ::fnmatch("usr/share/doc/*/copyright", path.text().c_str(), kNoDeeper) == 0 ||
         ::fnmatch("usr/share/licenses/*/LICENSE", path.text().c_str(), kNoDeeper) == 0;
}

std::string known_components() {
  std::string names;
  for (const auto& row : knowledge::components()) {
    if (row.component != Component::host) {
      names += std::string(row.name) + ", ";
    }
  }
  return names + "all";
}

/// The verdict on a file that has a shared library's name and is no decoy.
Selection select_library(const knowledge::LibraryName& name, const SelectionRequest& request) {
  const auto rows = knowledge::library_rows(name.stem);
  if (rows.empty()) {
    return request.all
               ? Selection{Use::library, "", ""}
               : Selection{Use::none, "", "no component knows it; --include takes it", true};
  }
  for (const auto& row : rows) {
    const bool asked = request.all || request.components.contains(row.component);
    if (asked && row.component != Component::host) {
      return {Use::library, std::string(knowledge::row_of(row.component).name), ""};
    }
  }
  const std::string component(knowledge::row_of(rows.front().component).name);
  return {Use::none, component,
          rows.front().component == Component::host
              ? "belongs to the host's driver installation"
              : "component " + component + " was not asked for"};
}

}  // namespace

bool matches_glob(const std::string& glob, const RelPath& path) {
  const std::string name(path.name());
  return ::fnmatch(glob.c_str(), path.text().c_str(), 0) == 0 ||
         ::fnmatch(glob.c_str(), name.c_str(), 0) == 0;
}

Result<SelectionRequest> parse_components(std::string_view list) {
  SelectionRequest request;
  for (const std::string_view part : split(list, ',')) {
    const std::string_view name = trim(part);
    const auto component = knowledge::component_named(name);
    if (name == "all") {
      request.all = true;
    } else if (component && *component != Component::host) {
      request.components.insert(*component);
    } else {
      return Error{.code = Errc::usage,
                   .what = "no such component",
                   .subject = "--components",
                   .expected = known_components(),
                   .found = std::string(name)};
    }
  }
  if (!request.all && request.components.empty()) {
    return Error{.code = Errc::usage,
                 .what = "no component named",
                 .subject = "--components",
                 .expected = known_components()};
  }
  return request;
}

Selection select_by_path(const RelPath& path, const SelectionRequest& request) {
  if (path.text() == ".manifest") {
    return {Use::manifest, "", ""};
  }
  if (is_licence(path)) {
    return {Use::licence, "", ""};
  }
  if (matches(request.exclude, path)) {
    return {Use::none, "", "--exclude names it"};
  }
  const auto name = knowledge::parse_library_name(path.name());
  if (matches(request.include, path)) {
    const auto rows =
        name ? knowledge::library_rows(name->stem) : std::vector<knowledge::LibraryRow>();
    const std::string component =
        rows.empty() ? "" : std::string(knowledge::row_of(rows.front().component).name);
    return {Use::file, component, ""};
  }
  if (knowledge::is_decoy_folder(path.folder())) {
    return {Use::none, "", "a look-alike for tests or linking, not for use"};
  }
  if (!name) {
    return {Use::none, "", "not a shared library"};
  }
  return select_library(*name, request);
}

std::string unfit_content(std::span<const std::byte> head, const Selection& selection,
                          const SelectionRequest& request) {
  const auto elf = formats::parse_elf_head(head);
  if (!elf) {
    return selection.use == Use::library ? "not a shared library in its content" : "";
  }
  if (selection.use == Use::library && elf->type != kSharedObject) {
    return "not a shared library in its content";
  }
  const std::string_view arch = formats::name_of(*elf);
  return arch == request.arch ? "" : "built for " + std::string(arch);
}

}  // namespace compatpack::pipeline
