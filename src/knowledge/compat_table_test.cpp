// SPDX-License-Identifier: Apache-2.0
#include "compatpack/knowledge/compat_table.hpp"

#include <algorithm>
#include <array>

#include <doctest/doctest.h>

using namespace compatpack;
using namespace compatpack::knowledge;

namespace {

/// How many rows of the built-in table say `status` of a package and a host, on that basis.
auto count(const CompatTable& table, CudaVersion cuda, std::uint32_t branch, PairStatus status,
           Basis basis) {
  return std::count_if(table.rows.begin(), table.rows.end(), [&](const PairRow& row) {
    return row.cuda == cuda && row.branch == branch && row.status == status && row.basis == basis;
  });
}

}  // namespace

TEST_CASE("compat table: the built-in one is read whole, dated, with a source for each row") {
  const CompatTable table = built_in_compat_table();

  CHECK(table.rows.size() > 300);
  CHECK(table.as_of() == "2026-09");
  for (const PairRow& row : table.rows) {
    CAPTURE(row.cuda.text());
    CHECK_FALSE(row.source.empty());
    CHECK_FALSE(row.as_of.empty());
    CHECK(row.branch.has_value() != !row.jetpack.empty());
  }
}

TEST_CASE("compat table: it is a set of branches, not a minimum") {
  const CompatTable table = built_in_compat_table();

  CHECK(count(table, {12, 4}, 535, PairStatus::accepted, Basis::nvidia_page) == 1);
  CHECK(count(table, {12, 4}, 570, PairStatus::refused, Basis::nvidia_page) == 1);
  CHECK(count(table, {13, 0}, 580, PairStatus::own_branch, Basis::nvidia_page) == 1);
  CHECK(count(table, {12, 9}, 560, PairStatus::accepted, Basis::library_note) == 1);
}

TEST_CASE("compat table: numbers of other mechanisms are known for what they are") {
  REQUIRE(circulating_number({12, 4}, 525) != nullptr);
  CHECK(circulating_number({12, 4}, 525)->driver == "525.60.13");
  REQUIRE(circulating_number({12, 2}, 470) != nullptr);
  CHECK(circulating_number({12, 2}, 470)->driver == "470.82.01");
  CHECK(circulating_number({12, 4}, 535) == nullptr);
  CHECK(circulating_number({12, 6}, 525) == nullptr);
}

TEST_CASE("compat table: a user's table needs three columns, and may have others") {
  const auto table = parse_compat_table(
      "host_branch,mine,compat_cuda,status\n620,x,13.6+,C\nJetPack 8.x,,14.0,X\n");

  REQUIRE(table);
  REQUIRE(table->rows.size() == 2);
  CHECK(table->rows[0].branch == 620U);
  CHECK(table->rows[0].or_later);
  CHECK(table->rows[0].basis == Basis::nvidia_page);
  CHECK(table->rows[1].jetpack == "8.x");
  CHECK_FALSE(table->rows[1].branch);
}

TEST_CASE("compat table: what it cannot read it names, with the line") {
  struct Case {
    const char* text;
    const char* what;
    const char* found;
  };
  const auto cases = std::to_array<Case>({
      {"compat_cuda,status\n", "table lacks a column", ""},
      {"compat_cuda,host_branch,status\n13.0,535,C\n13,535,C\n",
       "line 3: compat_cuda is none that is known", "13"},
      {"compat_cuda,host_branch,status\n13.0,x,C\n", "line 2: host_branch is none that is known",
       "x"},
      {"compat_cuda,host_branch,status\n13.0,535,yes\n", "line 2: status is none that is known",
       "yes"},
      {"compat_cuda,host_branch,status,basis\n13.0,535,C,rumour\n",
       "line 2: basis is none that is known", "rumour"},
  });
  for (const Case& c : cases) {
    CAPTURE(c.text);

    const auto table = parse_compat_table(c.text);

    REQUIRE_FALSE(table);
    CHECK(table.error().what == c.what);
    CHECK(table.error().found == c.found);
  }
}
