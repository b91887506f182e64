// SPDX-License-Identifier: Apache-2.0
#include "compatpack/pipeline/activation.hpp"

#include <algorithm>
#include <utility>

#include <doctest/doctest.h>

using namespace compatpack;
using namespace compatpack::pipeline;

namespace {

ActivationFacts facts_with_prefix(std::string prefix) {
  return {.driver = *DriverVersion::parse("550.54.15"), .prefix = std::move(prefix)};
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("activation: the scripts hold the driver's version and the prefix, and no gap is left") {
  const auto facts = facts_with_prefix("/opt/compat");

  for (const std::string& script :
       {make_env_sh(facts), make_env_fish(facts), make_env_csh(facts)}) {
    CHECK(contains(script, "550.54.15"));
    CHECK(contains(script, "/opt/compat"));
    CHECK_FALSE(contains(script, "@DRIVER@"));
    CHECK_FALSE(contains(script, "@PREFIX@"));
    CHECK(script.ends_with("\n"));
  }
}

TEST_CASE("activation: where the tree's version is not known, none of the host's is too new") {
  const ActivationFacts facts{.driver = std::nullopt, .prefix = "/opt/compat"};

  for (const std::string& script :
       {make_env_sh(facts), make_env_fish(facts), make_env_csh(facts)}) {
    CHECK(contains(script, "999999999.0"));
    CHECK(contains(script, "driver of unknown version"));
    CHECK_FALSE(contains(script, "@COMPARED@"));
  }
}

TEST_CASE("activation: a prefix is one word of each shell, whatever it holds") {
  const auto facts = facts_with_prefix("/a 'b\\c!\n*");

  CHECK(contains(make_env_sh(facts),
                 "="
                 R"('/a '\''b\c!)"
                 "\n*'\n"));
  CHECK(contains(make_env_fish(facts),
                 " "
                 R"('/a \'b\\c!)"
                 "\n*'\n"));
  CHECK(contains(make_env_csh(facts),
                 "= "
                 R"(/a\ \'b\\c\!'\)"
                 "\n"
                 R"('\*)"
                 "\n"));
}

TEST_CASE("activation: a prefix that looks like a gap is left as it is") {
  const auto facts = facts_with_prefix("/@DRIVER@/@PREFIX@");

  CHECK(contains(make_env_sh(facts), "'/@DRIVER@/@PREFIX@'"));
}

TEST_CASE("activation: the scripts never touch LIBRARY_PATH or LD_PRELOAD") {
  const auto facts = facts_with_prefix("/opt/compat");

  for (const std::string& script :
       {make_env_sh(facts), make_env_fish(facts), make_env_csh(facts)}) {
    CHECK_FALSE(contains(script, " LIBRARY_PATH"));
    CHECK_FALSE(contains(script, "LD_PRELOAD"));
  }
}

TEST_CASE("activation: code to evaluate is one line that sources the tree's own script") {
  CHECK(*make_eval_code(Shell::sh, "/a b") == "_compatpack_at='/a b'; . '/a b/env.sh'\n");
  CHECK(*make_eval_code(Shell::fish, "/a'b") ==
        "set -g _compatpack_at '/a\\'b'; source '/a\\'b/env.fish'\n");
  CHECK(*make_eval_code(Shell::csh, "/a b!") ==
        "set _compatpack_at = /a\\ b\\!; source /a\\ b\\!/env.csh\n");
}

TEST_CASE("activation: csh has no code for a path with a newline, and says so") {
  const auto code = make_eval_code(Shell::csh, "/a\nb");

  REQUIRE_FALSE(code);
  CHECK(render(code.error()) ==
        "/a\\x0ab: csh cannot evaluate code with a newline in it\n"
        "  hint:     move the tree to a path without one\n");
  CHECK(make_eval_code(Shell::sh, "/a\nb"));
}

namespace {

using Lines = std::vector<std::string>;

Lines sorted(Lines lines) {
  std::sort(lines.begin(), lines.end());
  return lines;
}

const Lines kActive = {"COMPATPACK_TREE=/t", "JULIA_CUDA_USE_COMPAT=false", "LD_LIBRARY_PATH=/t",
                       "PATH=/bin", "TRITON_LIBCUDA_PATH=/t"};

}  // namespace

TEST_CASE("activation: a program's environment is as env.sh leaves it") {
  CHECK(sorted(activated({"PATH=/bin"}, "/t")) == kActive);
  CHECK(sorted(activated({"LD_LIBRARY_PATH=/a:/b", "JULIA_CUDA_USE_COMPAT=true"}, "/t")) ==
        Lines{"COMPATPACK_TREE=/t", "JULIA_CUDA_USE_COMPAT=false", "LD_LIBRARY_PATH=/t:/a:/b",
              "TRITON_LIBCUDA_PATH=/t", "_COMPATPACK_OLD_JULIA=true", "_COMPATPACK_OLD_LD=/a:/b"});
  CHECK(sorted(activated({"LD_LIBRARY_PATH="}, "/t"))[2] == "LD_LIBRARY_PATH=/t");
}

TEST_CASE("activation: twice is once, and another tree gives way") {
  CHECK(sorted(activated(activated({"PATH=/bin"}, "/t"), "/t")) == kActive);
  CHECK(sorted(activated(activated({"PATH=/bin"}, "/other"), "/t")) == kActive);

  Lines changed = activated({"PATH=/bin", "LD_LIBRARY_PATH=/a"}, "/other");
  for (std::string& line : changed) {
    if (line.starts_with("LD_LIBRARY_PATH=")) {
      line = "LD_LIBRARY_PATH=/new:/other:/a";
    }
  }
  const Lines after = activated(changed, "/t");
  CHECK(std::count(after.begin(), after.end(), "LD_LIBRARY_PATH=/t:/new:/a") == 1);
}
