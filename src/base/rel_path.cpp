// SPDX-License-Identifier: Apache-2.0
#include "compatpack/base/rel_path.hpp"

#include "compatpack/base/text.hpp"

namespace compatpack {
namespace {

constexpr std::size_t kComponentMax = 255;  // NAME_MAX
constexpr std::size_t kPathMax = 4'095;     // PATH_MAX without its NUL

Error unsafe(std::string_view text, std::string what, std::string expected) {
  return Error{.code = Errc::unsafe_path,
               .what = std::move(what),
               .expected = std::move(expected),
               .found = std::string(text),
               .hint = "do not use this bundle; nothing was written"};
}

/// What is wrong with one component, or nullptr.
const char* fault_of(std::string_view component) {
  if (component.empty()) {
    return "member name has an empty part";
  }
  if (component == "." || component == "..") {
    return "member name leaves the output directory";
  }
  if (component.size() > kComponentMax) {
    return "member name has a part that is too long";
  }
  if (component.find('\0') != std::string_view::npos) {
    return "member name holds a NUL byte";
  }
  return nullptr;
}

}  // namespace

Result<RelPath> RelPath::parse(std::string_view text) {
  constexpr const char* kExpected = "a relative path without \"..\"";
  if (text.empty()) {
    return unsafe(text, "member has no name", kExpected);
  }
  if (text.starts_with('/')) {
    return unsafe(text, "member name is absolute", kExpected);
  }
  std::string_view path = text;
  while (path.starts_with("./")) {
    path.remove_prefix(2);
  }
  while (path.ends_with('/')) {
    path.remove_suffix(1);
  }
  if (path.empty() || path == ".") {
    return RelPath(".");
  }
  if (path.size() > kPathMax) {
    return unsafe(text, "member name is too long",
                  "at most " + std::to_string(kPathMax) + " bytes");
  }
  for (const std::string_view component : split(path, '/')) {
    if (const char* const fault = fault_of(component)) {
      return unsafe(text, fault, kExpected);
    }
  }
  return RelPath(std::string(path));
}

std::string_view RelPath::name() const {
  const std::string_view text = text_;
  const std::size_t slash = text.rfind('/');
  return slash == std::string_view::npos ? text : text.substr(slash + 1);
}

std::string_view RelPath::folder() const {
  const std::string_view text = text_;
  const std::size_t slash = text.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : text.substr(0, slash);
}

Result<FileName> FileName::parse(std::string_view text) {
  if (text.find('/') != std::string_view::npos) {
    return unsafe(text, "file name holds a slash", "one plain file name");
  }
  if (const char* const fault = fault_of(text)) {
    return unsafe(text, fault, "one plain file name");
  }
  return FileName(std::string(text));
}

}  // namespace compatpack
