// SPDX-License-Identifier: Apache-2.0
#include "compatpack/pipeline/modulefile.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "modulefile_templates.hpp"
#include "text_template.hpp"

namespace compatpack::pipeline {
namespace {

/// `text` within double quotes, with a backslash before each of `special`.
std::string quoted(std::string_view text, std::string_view special) {
  std::string out = "\"";
  for (const char c : text) {
    if (special.find(c) != std::string_view::npos) {
      out += '\\';
    }
    out += c;
  }
  return out + '"';
}

/// `text` as a string of `format`'s language. Tcl expands variables and commands within quotes, and
/// counts braces there where the quotes stand within a pair of them.
std::string quoted_for(ModuleFormat format, std::string_view text) {
  return quoted(text, format == ModuleFormat::lua ? "\\\"" : "\\\"$[]{}");
}

bool is_control(char c) { return (c >= 0 && c < ' ') || c == '\x7f'; }

}  // namespace

Result<std::string> make_modulefile(ModuleFormat format, const ModuleFacts& facts) {
  if (std::any_of(facts.tree.begin(), facts.tree.end(), is_control)) {
    return Error{.code = Errc::usage,
                 .what = "module systems cannot carry a path with a control character in it",
                 .subject = facts.tree,
                 .hint = "move the tree to a path without one"};
  }
  const std::string tree = quoted_for(format, facts.tree);
  const std::string driver = quoted_for(format, facts.driver ? facts.driver->text() : "");
  const std::string cuda = quoted_for(format, facts.cuda);
  const std::array<TemplatePlace, 3> places{
      {{"@TREE@", tree}, {"@DRIVER@", driver}, {"@CUDA@", cuda}}};
  return filled_template(format == ModuleFormat::lua ? kModuleLuaTemplate : kModuleTclTemplate,
                         places);
}

}  // namespace compatpack::pipeline
