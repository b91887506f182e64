// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads tables of comma-separated values (RFC 4180): our own, and those that a user gives.
//
//   # a comment           lines that begin with #, between records; RFC 4180 has none
//   name,name             the first record names the columns
//   cell,"a ""quoted""
//   cell",                a quoted cell may hold commas, quotes (doubled) and line ends
//
// Lines end in LF or CRLF. A record may lack cells at its end: they are empty.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compatpack/base/result.hpp"

namespace compatpack::knowledge {

inline constexpr std::size_t kCsvRowsMax = 100'000;  ///< our largest table has 330
inline constexpr std::size_t kCsvColumnsMax = 64;    ///< our widest has 7

struct CsvRow {
  std::uint64_t line;              ///< where it begins, from 1
  std::vector<std::string> cells;  ///< one a column
};

struct CsvTable {
  std::vector<std::string> columns;
  std::vector<CsvRow> rows;

  /// The place of the column of that name; nullopt if there is none.
  [[nodiscard]] std::optional<std::size_t> column(std::string_view name) const;
};

/// Reads `text`. Keeps nothing of it.
///
/// Errors, without `subject`: corrupt for a quote that never ends, text behind one, a record with
/// more cells than there are columns, or no record at all; limit beyond the constants above.
Result<CsvTable> parse_csv(std::string_view text);

}  // namespace compatpack::knowledge
