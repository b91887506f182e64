// SPDX-License-Identifier: Apache-2.0
#include "compatpack/cli/manual.hpp"

#include <doctest/doctest.h>

using namespace compatpack;
using namespace compatpack::cli;

namespace {

constexpr const char* kPlace = ".\\\" from the reference\nold\n.\\\" to here\n";

Reference sample() {
  return {{.name = "", .text = "makes things"},
          {{.name = "extract",
            .text = ".run files, 'n all; a\\b",
            .arguments = {{"BUNDLE", "one", true, true}},
            .groups = {{"", {{{"-o", "--out"}, "DIR", {}, "where-to", true}}}}}}};
}

}  // namespace

TEST_CASE("manual: both parts are made anew, what people wrote stays, and again it is the same") {
  const std::string page = std::string("head\n") + kPlace + "prose\n" + kPlace + "tail\n";

  const auto made = manual_page(page, sample(), "extract", "1.2");

  REQUIRE(made);
  CHECK(made->starts_with("head\n"));
  CHECK(made->ends_with(".\\\" to here\ntail\n"));
  CHECK(made->find("old") == std::string::npos);
  CHECK(made->find("\nprose\n") != std::string::npos);
  CHECK(made->find("BUNDLE... \\-\\-out DIR\n") != std::string::npos);
  CHECK(made->find("\\fB\\-o\\fR, \\fB\\-\\-out\\fR \\fIDIR\\fR\nwhere\\-to (required)\n") !=
        std::string::npos);
  CHECK(made->find("compatpack\\-extract \\- \\&.run files, 'n all; a\\eb\n") != std::string::npos);
  CHECK(*manual_page(*made, sample(), "extract", "1.2") == *made);
}

TEST_CASE("manual: a page without its two parts, or of no command, is an error") {
  CHECK(manual_page(kPlace, sample(), "", "1").error().what ==
        "page lacks a part that is made from the reference");
  CHECK(manual_page("", sample(), "exrtact", "1").error().what == "no such command: exrtact");
}
