// SPDX-License-Identifier: Apache-2.0
#include "compatpack/pipeline/activation.hpp"

#include "compatpack/base/text.hpp"

#include "activation_templates.hpp"

namespace compatpack::pipeline {
namespace {

/// `text` as one word of fish: within single quotes, where only \ and ' are special.
std::string fish_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') {
      out += '\\';
    }
    out += c;
  }
  return out + "'";
}

/// Whether `c` means nothing to csh anywhere in a word. Bytes of UTF-8 do not.
bool is_plain_in_csh(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("/._-+,@%").find(c) != std::string_view::npos ||
         static_cast<unsigned char>(c) >= 0x80;
}

/// `text` as one word of csh. Each special character is escaped by itself, as quotes would not
/// protect it: ! is history there too, and what \ is there hangs on $backslash_quote. Only a
/// newline needs both.
std::string csh_quoted(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n') {
      out += "'\\\n'";
    } else {
      if (!is_plain_in_csh(c)) {
        out += '\\';
      }
      out += c;
    }
  }
  return out;
}

/// `text` with @PREFIX@ and @DRIVER@ filled in. What is filled in is not looked at again, so that a
/// path may hold such words.
std::string filled(std::string_view text, std::string_view prefix, std::string_view driver) {
  constexpr std::string_view kPrefix = "@PREFIX@";
  constexpr std::string_view kDriver = "@DRIVER@";
  std::string out;
  while (!text.empty()) {
    if (text.starts_with(kPrefix)) {
      out += prefix;
      text.remove_prefix(kPrefix.size());
    } else if (text.starts_with(kDriver)) {
      out += driver;
      text.remove_prefix(kDriver.size());
    } else {
      out += text.front();
      text.remove_prefix(1);
    }
  }
  return out;
}

}  // namespace

std::string make_env_sh(const ActivationFacts& facts) {
  return filled(kEnvShTemplate, shell_quoted(facts.prefix), facts.driver.text());
}

std::string make_env_fish(const ActivationFacts& facts) {
  return filled(kEnvFishTemplate, fish_quoted(facts.prefix), facts.driver.text());
}

std::string make_env_csh(const ActivationFacts& facts) {
  return filled(kEnvCshTemplate, csh_quoted(facts.prefix), facts.driver.text());
}

Result<std::string> make_eval_code(Shell shell, std::string_view tree) {
  const std::string path(tree);
  switch (shell) {
    case Shell::sh:
      return "_compatpack_at=" + shell_quoted(path) + "; . " + shell_quoted(path + "/env.sh") +
             "\n";
    case Shell::fish:
      return "set -g _compatpack_at " + fish_quoted(path) + "; source " +
             fish_quoted(path + "/env.fish") + "\n";
    case Shell::csh:
      break;
  }
  if (path.find('\n') != std::string::npos) {
    return Error{.code = Errc::usage,
                 .what = "csh cannot evaluate code with a newline in it",
                 .subject = path,
                 .hint = "move the tree to a path without one"};
  }
  return "set _compatpack_at = " + csh_quoted(path) + "; source " + csh_quoted(path + "/env.csh") +
         "\n";
}

}  // namespace compatpack::pipeline
