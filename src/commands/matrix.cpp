// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "compatpack/base/text.hpp"
#include "compatpack/commands/commands.hpp"
#include "compatpack/knowledge/driver_branches.hpp"

#include "host_steps.hpp"
#include "json.hpp"
#include "rows.hpp"

namespace compatpack::commands {
namespace {

using knowledge::Basis;
using knowledge::CompatTable;
using knowledge::PairRow;
using knowledge::PairStatus;

/// What of the table is asked for.
struct Filter {
  std::optional<CudaVersion> cuda;
  std::optional<std::uint32_t> branch;

  [[nodiscard]] bool is_any() const { return cuda || branch; }

  /// "CUDA 12.4 on R525", as far as it is asked for.
  [[nodiscard]] std::string text() const {
    const std::string package = cuda ? "CUDA " + cuda->text() : "packages";
    return package + (branch ? " on R" + std::to_string(*branch) : "");
  }
  [[nodiscard]] bool takes(const PairRow& row) const {
    return (!cuda || row.is_of(*cuda)) && (!branch || row.branch == branch);
  }
};

std::string padded(std::string text, std::size_t width) {
  text.resize(std::max(width, text.size() + 1), ' ');
  return text;
}

std::string_view word_of(PairStatus status) {
  switch (status) {
    case PairStatus::accepted:
      return "C";
    case PairStatus::refused:
      return "X";
    case PairStatus::own_branch:
    case PairStatus::if_newer:
      return "own";
    case PairStatus::start_gate:
      return "listed";
  }
  return "";
}

/// What a row is worth: what NVIDIA supports today, what a library itself accepts, or what only
/// hints at that. `check` uses the same words.
std::string_view kind_of(Basis basis) {
  switch (basis) {
    case Basis::nvidia_page:
      return "policy";
    case Basis::library_note:
      return "mechanism";
    case Basis::nvidia_image:
    case Basis::transcription:
      break;
  }
  return "indirect";
}

std::string_view long_word_of(PairStatus status) {
  switch (status) {
    case PairStatus::accepted:
      return "compatible";
    case PairStatus::refused:
      return "not compatible";
    case PairStatus::own_branch:
      return "own, not needed";
    case PairStatus::if_newer:
      return "own, if newer";
    case PairStatus::start_gate:
      return "an image starts";
  }
  return "";
}

/// Old tables of NVIDIA's say what was so.
std::string status_of(const PairRow& row) {
  const bool was = row.basis == Basis::transcription && row.status == PairStatus::accepted;
  return (was ? "was " : "") + std::string(long_word_of(row.status));
}

std::string package_of(const PairRow& row) {
  return row.cuda.text() + (row.or_later ? "+" : "") +
         (row.driver.empty() ? "" : " (" + row.driver + ")");
}

std::string host_of(const PairRow& row) {
  return row.branch ? "R" + std::to_string(*row.branch) : "JetPack " + row.jetpack;
}

/// NVIDIA's page as it prints itself: packages down, host branches across.
void print_page(const CompatTable& table, Rows& rows, Console& console) {
  std::set<std::uint32_t> branches;
  std::map<CudaVersion, std::map<std::uint32_t, PairStatus>, std::greater<>> cells;
  std::set<std::string> sources;
  for (const PairRow& row : table.rows) {
    if (row.basis == Basis::nvidia_page && row.branch) {
      branches.insert(*row.branch);
      cells[row.cuda][*row.branch] = row.status;
      sources.insert(row.source);
    }
  }
  constexpr std::size_t kFirst = 9;
  constexpr std::size_t kColumn = 6;
  std::string head = padded("package", kFirst);
  std::string cuda = padded("", kFirst);
  for (const std::uint32_t branch : branches) {
    head += padded("R" + std::to_string(branch), kColumn);
    const auto native = knowledge::cuda_of_branch(branch);
    cuda += padded(native ? native->text() : "", kColumn);
  }
  console.answer(std::string(trim(head)));
  console.answer(cuda.substr(0, cuda.find_last_not_of(' ') + 1));
  for (const auto& [version, row] : cells) {
    std::string line = padded(version.text(), kFirst);
    for (const std::uint32_t branch : branches) {
      const auto cell = row.find(branch);
      line += padded(cell == row.end() ? "-" : std::string(word_of(cell->second)), kColumn);
    }
    console.answer(line.substr(0, line.find_last_not_of(' ') + 1));
  }
  console.answer("");
  rows.remark(
      "C compatible, X not, own: the package's own branch, - not listed: not supported today. "
      "Across: the host's branch, and its CUDA version.");
  for (const std::string& source : sources) {
    console.answer("from " + printable(source.empty() ? table.name : source) +
                   (table.as_of().empty() ? "" : ", as of " + table.as_of()));
  }
  rows.remark(
      "This is policy: what NVIDIA supports today. What libraries accept, and what is known of "
      "branches past their end of life: --cuda X.Y, --driver V.");
}

void print_rows(const std::vector<const PairRow*>& rows, Console& console) {
  console.answer(padded("package", 18) + padded("host", 13) + padded("kind", 11) +
                 padded("status", 17) + padded("as of", 9) + "by");
  for (const PairRow* const row : rows) {
    console.answer(padded(package_of(*row), 18) + padded(host_of(*row), 13) +
                   padded(std::string(kind_of(row->basis)), 11) + padded(status_of(*row), 17) +
                   padded(printable(row->as_of), 9) + std::string(name_of(row->basis)));
  }
  console.answer("");
}

void print_branch(std::uint32_t branch, Rows& rows) {
  const auto* const row = knowledge::find_branch(branch);
  if (row != nullptr) {
    rows.remark("R" + std::to_string(branch) + " gives CUDA " + row->cuda.text() + " by itself" +
                (name_of(row->type).empty() ? "" : "; it is a " + std::string(name_of(row->type))) +
                (row->end_of_life.empty() ? "" : ", end of life " + std::string(row->end_of_life)));
  }
}

void print_remarks(const Filter& filter, const std::vector<const PairRow*>& found, Rows& rows,
                   Console& console) {
  rows.remark(
      "policy: what NVIDIA supports today; mechanism: what a library itself accepts; indirect: "
      "older tables, and container images that start on the branch. What is not policy is not "
      "supported, though the library may accept it.");
  if (filter.branch) {
    print_branch(*filter.branch, rows);
  }
  for (const auto& row : knowledge::branches()) {
    const auto* const number = filter.cuda && (!filter.branch || filter.branch == row.branch)
                                   ? knowledge::circulating_number(*filter.cuda, row.branch)
                                   : nullptr;
    if (number != nullptr) {
      rows.remark(std::string(number->driver) +
                  " circulates as a minimum driver for this package; it is " +
                  std::string(number->truth));
    }
  }
  std::set<std::string> sources;
  for (const PairRow* const row : found) {
    if (!row->source.empty() && sources.insert(row->source).second) {
      console.answer("from " + printable(row->source));
    }
  }
}

Json document(const CompatTable& table, const Filter& filter,
              const std::vector<const PairRow*>& rows) {
  Json list = Json::array();
  for (const PairRow* const row : rows) {
    list.push_back({{"cuda_version", row->cuda.text()},
                    {"or_later", row->or_later},
                    {"package_driver", text_or_null(row->driver)},
                    {"host_branch", row->branch ? Json(*row->branch) : Json()},
                    {"jetpack", text_or_null(row->jetpack)},
                    {"status", status_of(*row)},
                    {"kind", kind_of(row->basis)},
                    {"basis", name_of(row->basis)},
                    {"as_of", text_or_null(row->as_of)},
                    {"source", text_or_null(row->source)}});
  }
  Json json = {{"table", table.name}, {"as_of", table.as_of()}};
  if (filter.cuda && filter.branch) {
    const host::PairJudgement pair = host::judge_pair(table, *filter.cuda, *filter.branch);
    json["verdict"] = name_of(pair.verdict);
    json["reason"] = pair.reason;
  }
  json["rows"] = std::move(list);
  return json;
}

Result<Filter> parse_filter(const MatrixOptions& options) {
  Filter filter;
  if (!options.cuda.empty()) {
    filter.cuda = CudaVersion::parse(options.cuda);
    if (!filter.cuda) {
      return Error{.code = Errc::usage,
                   .what = "not a CUDA version",
                   .subject = "--cuda",
                   .expected = "two numbers, such as 12.4",
                   .found = options.cuda};
    }
  }
  if (!options.driver.empty()) {
    CP_TRY(const DriverVersion driver, parse_driver_option(options.driver));
    filter.branch = driver.branch();
  }
  return filter;
}

/// The rows that are asked for, newest package first. A row "of 13.1 and later" alone says nothing
/// of a version that no table has heard of.
std::vector<const PairRow*> matching(const CompatTable& table, const Filter& filter) {
  std::vector<const PairRow*> rows;
  for (const PairRow& row : table.rows) {
    if (filter.takes(row)) {
      rows.push_back(&row);
    }
  }
  const bool is_known = std::any_of(rows.begin(), rows.end(), [&](const PairRow* row) {
    return !filter.cuda || row->cuda == *filter.cuda;
  });
  if (!is_known) {
    rows.clear();
  }
  std::stable_sort(rows.begin(), rows.end(), [](const PairRow* a, const PairRow* b) {
    return a->cuda != b->cuda ? a->cuda > b->cuda : a->branch < b->branch;
  });
  return rows;
}

/// What the table does have, for who asks for something else.
Error no_row(const CompatTable& table, const Filter& filter) {
  std::set<CudaVersion> versions;
  std::set<std::uint32_t> branches;
  for (const PairRow& row : table.rows) {
    versions.insert(row.cuda);
    if (row.branch) {
      branches.insert(*row.branch);
    }
  }
  std::string covered;
  if (!versions.empty()) {
    covered = "packages of CUDA " + versions.begin()->text() + " to " + versions.rbegin()->text();
  }
  if (!branches.empty()) {
    covered += ", hosts of R" + std::to_string(*branches.begin()) + " to R" +
               std::to_string(*branches.rbegin());
  }
  return Error{.code = Errc::io,
               .what = "no row for " + filter.text(),
               .subject = table.name,
               .expected = covered,
               .hint = "a newer table may have it: --table FILE"};
}

}  // namespace

Result<int> run_matrix(const MatrixOptions& options, const Env& env, Console& console) {
  CP_TRY(const Filter filter, parse_filter(options));
  CP_TRY(const CompatTable table, open_table(options.table));
  const std::vector<const PairRow*> found = matching(table, filter);
  if (found.empty()) {
    return no_row(table, filter);
  }
  if (console.json()) {
    console.document(rendered(document(table, filter, found)));
    return 0;
  }
  Rows rows(env, console);
  if (!filter.is_any()) {
    print_page(table, rows, console);
    return 0;
  }
  if (filter.cuda && filter.branch) {
    const host::PairJudgement pair = host::judge_pair(table, *filter.cuda, *filter.branch);
    rows.remark(filter.text() + ": " + std::string(words_of(pair.verdict)) + ": " + pair.reason);
    console.answer("");
  }
  print_rows(found, console);
  print_remarks(filter, found, rows, console);
  return 0;
}

}  // namespace compatpack::commands
