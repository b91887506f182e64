// SPDX-License-Identifier: Apache-2.0
#include "csv.hpp"

#include <array>

#include <doctest/doctest.h>

using namespace compatpack;
using namespace compatpack::knowledge;

TEST_CASE("csv: cells are as written, quoted or not, with any line end") {
  const auto table = parse_csv(
      "\xEF\xBB\xBF# of 2026\r\na,b,c\r\n1,\"x, \"\"y\"\"\n z\",\n\n# between\n ,,\n4,5,6");

  REQUIRE(table);
  CHECK(table->columns == std::vector<std::string>{"a", "b", "c"});
  REQUIRE(table->rows.size() == 3);
  CHECK(table->rows[0].cells == std::vector<std::string>{"1", "x, \"y\"\n z", ""});
  CHECK(table->rows[0].line == 3);
  CHECK(table->rows[1].cells == std::vector<std::string>{" ", "", ""});
  CHECK(table->rows[1].line == 7);
  CHECK(table->rows[2].cells == std::vector<std::string>{"4", "5", "6"});
  CHECK(table->column("c") == 2U);
  CHECK_FALSE(table->column("d"));
}

TEST_CASE("csv: a row may lack cells at its end") {
  const auto table = parse_csv("a,b\n1\n");

  REQUIRE(table);
  CHECK(table->rows[0].cells == std::vector<std::string>{"1", ""});
}

TEST_CASE("csv: what is broken is refused, with its line") {
  struct Case {
    const char* text;
    Errc code;
    const char* what;
    const char* found;
  };
  const auto cases = std::to_array<Case>({
      {"", Errc::corrupt, "table is empty", "line 1"},
      {"# only\n", Errc::corrupt, "table is empty", "line 1"},
      {"a\n\"x\n", Errc::corrupt, "quoted cell never ends", "line 2"},
      {"a\n\"x\"y\n", Errc::corrupt, "quoted cell has text behind its end", "line 2"},
      {"a\n1\n1,2\n", Errc::corrupt, "row has more cells than the table has columns", "line 3"},
  });
  for (const Case& c : cases) {
    CAPTURE(c.text);

    const auto table = parse_csv(c.text);

    REQUIRE_FALSE(table);
    CHECK(table.error().code == c.code);
    CHECK(table.error().what == c.what);
    CHECK(table.error().found == c.found);
  }
  CHECK(parse_csv(std::string(kCsvColumnsMax, ',')).error().code == Errc::limit);
  std::string many = "a\n";
  for (std::size_t i = 0; i <= kCsvRowsMax; ++i) {
    many += "1\n";
  }
  CHECK(parse_csv(many).error().code == Errc::limit);
}
