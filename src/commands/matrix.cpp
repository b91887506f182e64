// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "compatpack/base/text.hpp"
#include "compatpack/commands/commands.hpp"
#include "compatpack/knowledge/driver_branches.hpp"

#include "bundle_steps.hpp"
#include "host_steps.hpp"

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

std::string_view long_word_of(PairStatus status) {
  switch (status) {
    case PairStatus::accepted:
      return "compatible";
    case PairStatus::refused:
      return "not compatible";
    case PairStatus::own_branch:
      return "own branch, not needed";
    case PairStatus::if_newer:
      return "own branch, if newer";
    case PairStatus::start_gate:
      return "let start";
  }
  return "";
}

std::string package_of(const PairRow& row) {
  return row.cuda.text() + (row.or_later ? "+" : "") +
         (row.driver.empty() ? "" : " (" + row.driver + ")");
}

std::string host_of(const PairRow& row) {
  return row.branch ? "R" + std::to_string(*row.branch) : "JetPack " + row.jetpack;
}

/// NVIDIA's page as it prints itself: packages down, host branches across.
void print_page(const CompatTable& table, Console& console) {
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
  console.answer(
      "C compatible, X not, own: the package's own branch, - not listed. Across: the host's "
      "branch, and its CUDA version.");
  for (const std::string& source : sources) {
    console.answer("from " + (source.empty() ? table.name : printable(source)) +
                   (table.as_of().empty() ? "" : ", as of " + table.as_of()));
  }
  console.answer(
      "Branches that the page leaves out are past their end of life; older sources have "
      "them: --cuda X.Y, --driver V.");
}

void print_rows(const std::vector<const PairRow*>& rows, Console& console) {
  console.answer(padded("package", 19) + padded("host", 13) + padded("status", 24) +
                 padded("as of", 9) + "by");
  std::set<std::string> sources;
  for (const PairRow* const row : rows) {
    console.answer(padded(package_of(*row), 19) + padded(host_of(*row), 13) +
                   padded(std::string(long_word_of(row->status)), 24) +
                   padded(printable(row->as_of), 9) + std::string(name_of(row->basis)));
    sources.insert(row->source);
  }
  console.answer("");
  for (const std::string& source : sources) {
    if (!source.empty()) {
      console.answer("from " + printable(source));
    }
  }
}

void print_remarks(const Filter& filter, Console& console) {
  if (filter.branch) {
    const auto* const row = knowledge::find_branch(*filter.branch);
    if (row != nullptr) {
      console.answer(
          "R" + std::to_string(*filter.branch) + " gives CUDA " + row->cuda.text() + " by itself" +
          (name_of(row->type).empty() ? "" : "; it is " + std::string(name_of(row->type))) +
          (row->end_of_life.empty() ? "" : ", end of life " + std::string(row->end_of_life)));
    }
  }
  for (const auto& row : knowledge::branches()) {
    const auto* const number = filter.cuda && (!filter.branch || filter.branch == row.branch)
                                   ? knowledge::circulating_number(*filter.cuda, row.branch)
                                   : nullptr;
    if (number != nullptr) {
      console.answer(std::string(number->driver) +
                     " circulates as a minimum driver for this package; it is " +
                     std::string(number->truth));
    }
  }
}

Json document(const CompatTable& table, const std::vector<const PairRow*>& rows) {
  Json list = Json::array();
  for (const PairRow* const row : rows) {
    list.push_back({{"cuda_version", row->cuda.text()},
                    {"or_later", row->or_later},
                    {"package_driver", row->driver.empty() ? Json() : Json(row->driver)},
                    {"host_branch", row->branch ? Json(*row->branch) : Json()},
                    {"jetpack", row->jetpack.empty() ? Json() : Json(row->jetpack)},
                    {"status", long_word_of(row->status)},
                    {"basis", name_of(row->basis)},
                    {"as_of", row->as_of.empty() ? Json() : Json(row->as_of)},
                    {"source", row->source.empty() ? Json() : Json(row->source)}});
  }
  return {{"table", table.name}, {"as_of", table.as_of()}, {"rows", std::move(list)}};
}

}  // namespace

Result<int> run_matrix(const MatrixOptions& options, Console& console) {
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
  CP_TRY(const CompatTable table, open_table(options.table));
  std::vector<const PairRow*> rows;
  for (const PairRow& row : table.rows) {
    if (filter.takes(row)) {
      rows.push_back(&row);
    }
  }
  if (console.json()) {
    console.document(rendered(document(table, rows)));
    return 0;
  }
  if (!filter.is_any()) {
    print_page(table, console);
    return 0;
  }
  if (rows.empty()) {
    console.answer("no row of " + printable(table.name) + " is of that package and host");
  } else {
    std::stable_sort(rows.begin(), rows.end(), [](const PairRow* a, const PairRow* b) {
      return a->cuda != b->cuda ? a->cuda > b->cuda : a->branch < b->branch;
    });
    print_rows(rows, console);
  }
  print_remarks(filter, console);
  return 0;
}

}  // namespace compatpack::commands
