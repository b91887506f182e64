// SPDX-License-Identifier: Apache-2.0
#include "compatpack/pipeline/modulefile.hpp"

#include <utility>

#include <doctest/doctest.h>

using namespace compatpack;
using namespace compatpack::pipeline;

namespace {

ModuleFacts facts_of(std::string tree) {
  return {.driver = *DriverVersion::parse("550.54.15"), .cuda = "12.4", .tree = std::move(tree)};
}

/// The value of the line that begins with `start`.
std::string value_after(const std::string& text, const std::string& start) {
  const std::size_t at = text.find("\n" + start);
  REQUIRE(at != std::string::npos);
  const std::size_t begin = at + 1 + start.size();
  return text.substr(begin, text.find('\n', begin) - begin);
}

}  // namespace

TEST_CASE("modulefile: it holds the tree and its versions, and no gap is left") {
  for (const ModuleFormat format : {ModuleFormat::lua, ModuleFormat::tcl}) {
    const auto text = make_modulefile(format, facts_of("/apps/compat"));

    REQUIRE(text);
    const bool is_lua = format == ModuleFormat::lua;
    CHECK(value_after(*text, is_lua ? "local tree = " : "set tree ") == "\"/apps/compat\"");
    CHECK(value_after(*text, is_lua ? "local driver = " : "set driver ")
              .starts_with(R"("550.54.15")"));
    CHECK(value_after(*text, is_lua ? "local cuda = " : "set cuda ").starts_with(R"("12.4")"));
    CHECK(text->find("@TREE@") == std::string::npos);
    CHECK(text->ends_with("\n"));
  }
}

TEST_CASE("modulefile: one for Environment Modules begins as these must") {
  CHECK(make_modulefile(ModuleFormat::tcl, facts_of("/t"))->starts_with("#%Module"));
}

TEST_CASE("modulefile: what nobody knows of the tree is an empty string") {
  const ModuleFacts facts{.driver = std::nullopt, .cuda = "", .tree = "/t"};

  CHECK(value_after(*make_modulefile(ModuleFormat::lua, facts), "local driver = ")
            .starts_with("\"\""));
  CHECK(value_after(*make_modulefile(ModuleFormat::tcl, facts), "set driver ") == "\"\"");
  CHECK(value_after(*make_modulefile(ModuleFormat::tcl, facts), "set cuda ") == "\"\"");
}

TEST_CASE("modulefile: a path is one string of each language, whatever it holds") {
  const auto facts = facts_of(R"(/a "b\c[d]{e$f} é'@TREE@)");

  CHECK(value_after(*make_modulefile(ModuleFormat::lua, facts), "local tree = ") ==
        R"("/a \"b\\c[d]{e$f} é'@TREE@")");
  CHECK(value_after(*make_modulefile(ModuleFormat::tcl, facts), "set tree ") ==
        R"("/a \"b\\c\[d\]\{e\$f\} é'@TREE@")");
}

TEST_CASE("modulefile: a path that the module systems would lose is refused") {
  for (const char* const path : {"/a\nb", "/a\tb", "/a\x7f"}) {
    CAPTURE(path);
    for (const ModuleFormat format : {ModuleFormat::lua, ModuleFormat::tcl}) {
      const auto text = make_modulefile(format, facts_of(path));

      REQUIRE_FALSE(text);
      CHECK(text.error().code == Errc::usage);
      CHECK(text.error().subject == path);
    }
  }
}
