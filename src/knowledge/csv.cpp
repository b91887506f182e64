// SPDX-License-Identifier: Apache-2.0
#include "csv.hpp"

#include <algorithm>
#include <utility>

namespace compatpack::knowledge {
namespace {

Error bad_line(Errc code, std::string what, std::uint64_t line) {
  return Error{.code = code, .what = std::move(what), .found = "line " + std::to_string(line)};
}

class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  [[nodiscard]] bool at_end() const { return rest_.empty(); }

  /// Passes over comments and empty lines.
  void skip_to_record() {
    while (!rest_.empty() &&
           (rest_.front() == '#' || rest_.front() == '\n' || rest_.starts_with("\r\n"))) {
      const std::size_t end = rest_.find('\n');
      rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
      ++line_;
    }
  }

  Result<CsvRow> record() {
    CsvRow row{line_, {}};
    for (;;) {
      if (row.cells.size() == kCsvColumnsMax) {
        return bad_line(Errc::limit, "table has too many columns", row.line);
      }
      CP_TRY(std::string cell, next_cell());
      row.cells.push_back(std::move(cell));
      if (rest_.starts_with(',')) {
        rest_.remove_prefix(1);
        continue;
      }
      end_line();
      return row;
    }
  }

 private:
  /// Requires: the rest is empty or begins with a line's end.
  void end_line() {
    if (rest_.starts_with('\r')) {
      rest_.remove_prefix(1);
    }
    if (rest_.starts_with('\n')) {
      rest_.remove_prefix(1);
      ++line_;
    }
  }

  [[nodiscard]] bool is_cell_over() const {
    return rest_.empty() || rest_.front() == ',' || rest_.front() == '\n' ||
           rest_.starts_with("\r\n") || rest_ == "\r";
  }

  Result<std::string> next_cell() {
    std::string cell;
    if (!rest_.starts_with('"')) {
      while (!is_cell_over()) {
        cell += rest_.front();
        rest_.remove_prefix(1);
      }
      return cell;
    }
    const std::uint64_t begun = line_;
    rest_.remove_prefix(1);
    for (;;) {
      if (rest_.empty()) {
        return bad_line(Errc::corrupt, "quoted cell never ends", begun);
      }
      const char c = rest_.front();
      rest_.remove_prefix(1);
      if (c == '"' && !rest_.starts_with('"')) {
        break;
      }
      if (c == '"') {
        rest_.remove_prefix(1);
      }
      line_ += c == '\n' ? 1U : 0U;
      cell += c;
    }
    if (!is_cell_over()) {
      return bad_line(Errc::corrupt, "quoted cell has text behind its end", line_);
    }
    return cell;
  }

  std::string_view rest_;
  std::uint64_t line_ = 1;
};

}  // namespace

std::optional<std::size_t> CsvTable::column(std::string_view name) const {
  const auto found = std::find(columns.begin(), columns.end(), name);
  return found == columns.end() ? std::nullopt
                                : std::optional(static_cast<std::size_t>(found - columns.begin()));
}

Result<CsvTable> parse_csv(std::string_view text) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";  // as spreadsheets write
  if (text.starts_with(kByteOrderMark)) {
    text.remove_prefix(kByteOrderMark.size());
  }
  Reader reader(text);
  reader.skip_to_record();
  if (reader.at_end()) {
    return bad_line(Errc::corrupt, "table is empty", 1);
  }
  CsvTable table;
  CP_TRY(CsvRow head, reader.record());
  table.columns = std::move(head.cells);
  for (reader.skip_to_record(); !reader.at_end(); reader.skip_to_record()) {
    CP_TRY(CsvRow row, reader.record());
    if (row.cells.size() > table.columns.size()) {
      return bad_line(Errc::corrupt, "row has more cells than the table has columns", row.line);
    }
    if (table.rows.size() == kCsvRowsMax) {
      return bad_line(Errc::limit, "table has too many rows", row.line);
    }
    row.cells.resize(table.columns.size());
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace compatpack::knowledge
