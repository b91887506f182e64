// SPDX-License-Identifier: Apache-2.0
#include "compatpack/pipeline/activation.hpp"

#include <array>
#include <optional>
#include <utility>

#include "compatpack/base/environment.hpp"
#include "compatpack/base/text.hpp"

#include "activation_templates.hpp"
#include "text_template.hpp"

namespace compatpack::pipeline {
namespace {

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

// Newer than any driver, and still a number that every shell can compare.
constexpr std::string_view kNewerThanAny = "999999999.0";

std::string filled(std::string_view text, std::string_view prefix, const ActivationFacts& facts) {
  const std::string driver = facts.driver ? facts.driver->text() : "of unknown version";
  const std::string compared = facts.driver ? driver : std::string(kNewerThanAny);
  const std::array<TemplatePlace, 3> places{
      {{"@PREFIX@", prefix}, {"@DRIVER@", driver}, {"@COMPARED@", compared}}};
  return filled_template(text, places);
}

/// Variables of a process, looked up by name.
class Variables {
 public:
  explicit Variables(std::vector<std::string> lines) : lines_(std::move(lines)) {}

  [[nodiscard]] std::optional<std::string> get(std::string_view name) const {
    const auto value = value_of(lines_, name);
    return value ? std::optional<std::string>(*value) : std::nullopt;
  }

  void unset(std::string_view name) {
    std::erase_if(lines_, [&](const std::string& line) { return is_of_variable(line, name); });
  }

  /// Without a value: unsets.
  void set(std::string_view name, const std::optional<std::string>& value) {
    unset(name);
    if (value) {
      lines_.push_back(std::string(name) + "=" + *value);
    }
  }

  std::vector<std::string> take() { return std::move(lines_); }

 private:
  std::vector<std::string> lines_;
};

struct Saved {
  const char* name;
  const char* old;  // where its value from before is kept
};
constexpr auto kSaved = std::to_array<Saved>({{"LD_LIBRARY_PATH", "_COMPATPACK_OLD_LD"},
                                              {"TRITON_LIBCUDA_PATH", "_COMPATPACK_OLD_TRITON"},
                                              {"JULIA_CUDA_USE_COMPAT", "_COMPATPACK_OLD_JULIA"}});

/// Takes `tree` out of a search path, and the empty elements that this would leave at its ends.
std::string without_element(const std::string& path, const std::string& tree) {
  std::string out;
  for (const std::string_view element : split(path, ':')) {
    if (element != tree) {
      out += ":" + std::string(element);
    }
  }
  return out.empty() ? out : out.substr(1);
}

/// What compatpack_deactivate does: what others have changed since is kept.
void deactivate(Variables& variables) {
  const auto tree = variables.get("COMPATPACK_TREE");
  if (!tree) {
    return;
  }
  const auto old_path = variables.get(kSaved[0].old);
  if (const auto path = variables.get(kSaved[0].name)) {
    const std::string as_left =
        *tree + (old_path && !old_path->empty() ? ":" + *old_path : std::string());
    const std::string rest =
        *path == as_left ? old_path.value_or("") : without_element(*path, *tree);
    variables.set(kSaved[0].name, rest.empty() && !old_path ? std::nullopt : std::optional(rest));
  }
  if (variables.get(kSaved[1].name) == tree) {
    variables.set(kSaved[1].name, variables.get(kSaved[1].old));
  }
  if (variables.get(kSaved[2].name) == "false") {
    variables.set(kSaved[2].name, variables.get(kSaved[2].old));
  }
  for (const Saved& saved : kSaved) {
    variables.unset(saved.old);
  }
  variables.unset("COMPATPACK_TREE");
}

}  // namespace

std::vector<std::string> activated(std::vector<std::string> environment, const std::string& tree) {
  Variables variables(std::move(environment));
  const auto before = variables.get("LD_LIBRARY_PATH");
  const bool is_first = before && (*before + ":").starts_with(tree + ":");
  if (is_first && variables.get("COMPATPACK_TREE") == tree) {
    return variables.take();
  }
  deactivate(variables);
  for (const Saved& saved : kSaved) {
    variables.set(saved.old, variables.get(saved.name));
  }
  const std::string path = variables.get("LD_LIBRARY_PATH").value_or("");
  if (!(path + ":").starts_with(tree + ":")) {
    variables.set("LD_LIBRARY_PATH", path.empty() ? tree : tree + ":" + path);
  }
  variables.set("TRITON_LIBCUDA_PATH", tree);
  variables.set("JULIA_CUDA_USE_COMPAT", "false");
  variables.set("COMPATPACK_TREE", tree);
  return variables.take();
}

std::string make_env_sh(const ActivationFacts& facts) {
  return filled(kEnvShTemplate, shell_quoted(facts.prefix), facts);
}

std::string make_env_fish(const ActivationFacts& facts) {
  return filled(kEnvFishTemplate, fish_quoted(facts.prefix), facts);
}

std::string make_env_csh(const ActivationFacts& facts) {
  return filled(kEnvCshTemplate, csh_quoted(facts.prefix), facts);
}

std::map<std::string, std::string> make_scripts(const ActivationFacts& facts) {
  return {{std::string(kScriptNames[0]), make_env_sh(facts)},
          {std::string(kScriptNames[1]), make_env_fish(facts)},
          {std::string(kScriptNames[2]), make_env_csh(facts)}};
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
