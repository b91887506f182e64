// SPDX-License-Identifier: Apache-2.0
#include "compatpack/knowledge/compat_table.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "compatpack/base/text.hpp"

#include "compat_matrix_csv.hpp"
#include "csv.hpp"

namespace compatpack::knowledge {
namespace {

std::optional<PairStatus> status_of(std::string_view word) {
  constexpr auto kWords = std::to_array<std::pair<std::string_view, PairStatus>>(
      {{"C", PairStatus::accepted},
       {"X", PairStatus::refused},
       {"NOT_NEEDED", PairStatus::own_branch},
       {"C_IF_PACKAGE_NEWER", PairStatus::if_newer},
       {"LISTED", PairStatus::start_gate}});
  for (const auto& [name, status] : kWords) {
    if (name == word) {
      return status;
    }
  }
  return std::nullopt;
}

/// A table that names no basis speaks as NVIDIA's page does: its user has looked there.
std::optional<Basis> basis_of(std::string_view word) {
  constexpr auto kWords =
      std::to_array<std::pair<std::string_view, Basis>>({{"", Basis::nvidia_page},
                                                         {"library_note", Basis::library_note},
                                                         {"nvidia_page", Basis::nvidia_page},
                                                         {"nvidia_jetson_page", Basis::nvidia_page},
                                                         {"nvidia_image", Basis::nvidia_image},
                                                         {"transcription", Basis::transcription}});
  for (const auto& [name, basis] : kWords) {
    if (name == word) {
      return basis;
    }
  }
  return std::nullopt;
}

class RowReader {
 public:
  explicit RowReader(const CsvTable& table) : table_(table) {}

  Result<PairRow> read(const CsvRow& row) const {
    std::string_view cuda = cell(row, "compat_cuda");
    const bool or_later = cuda.ends_with('+');
    cuda.remove_suffix(or_later ? 1 : 0);
    const auto version = CudaVersion::parse(cuda);
    if (!version) {
      return bad(row, "compat_cuda", "a CUDA version such as 12.4 or 12.4+");
    }
    const auto status = status_of(cell(row, "status"));
    if (!status) {
      return bad(row, "status", "C, X, NOT_NEEDED, C_IF_PACKAGE_NEWER or LISTED");
    }
    const auto basis = basis_of(cell(row, "basis"));
    if (!basis) {
      return bad(row, "basis", "library_note, nvidia_page, nvidia_image or transcription");
    }
    PairRow pair{.cuda = *version,
                 .or_later = or_later,
                 .driver = std::string(cell(row, "compat_driver")),
                 .status = *status,
                 .basis = *basis,
                 .as_of = std::string(cell(row, "as_of")),
                 .source = std::string(cell(row, "source"))};
    constexpr std::string_view kJetPack = "JetPack ";
    constexpr std::uint64_t kBranchMax = 99'999;
    const std::string_view host = cell(row, "host_branch");
    if (host.starts_with(kJetPack)) {
      pair.jetpack = host.substr(kJetPack.size());
      return pair;
    }
    const auto branch = parse_decimal(host);
    if (!branch || *branch > kBranchMax) {
      return bad(row, "host_branch", "a driver branch such as 535, or JetPack and its release");
    }
    pair.branch = static_cast<std::uint32_t>(*branch);
    return pair;
  }

 private:
  [[nodiscard]] std::string_view cell(const CsvRow& row, std::string_view name) const {
    const auto at = table_.column(name);
    return at ? trim(row.cells[*at]) : std::string_view();
  }

  [[nodiscard]] Error bad(const CsvRow& row, std::string_view column, std::string expected) const {
    return Error{.code = Errc::corrupt,
                 .what = "line " + std::to_string(row.line) + ": " + std::string(column) +
                         " is none that is known",
                 .expected = std::move(expected),
                 .found = std::string(cell(row, column))};
  }

  const CsvTable& table_;
};

// Both are of other mechanisms: R470's and R525's place as hosts is in the table above.
constexpr auto kCirculating = std::to_array<CirculatingNumber>({
    {{12, 2}, "470.82.01", "the driver that came with the CUDA 11.4 Update 3 toolkit"},
    {{12, 4},
     "525.60.13",
     "where minor-version compatibility of CUDA 12.x begins, without a package"},
});

}  // namespace

std::string_view name_of(Basis basis) {
  switch (basis) {
    case Basis::library_note:
      return "its libcuda's note";
    case Basis::nvidia_page:
      return "NVIDIA's table";
    case Basis::nvidia_image:
      return "NVIDIA's container images";
    case Basis::transcription:
      return "copies of older NVIDIA tables";
  }
  return "";
}

std::string CompatTable::as_of() const {
  std::string newest;
  for (const PairRow& row : rows) {
    newest = std::max(newest, row.as_of);
  }
  return newest;
}

Result<CompatTable> parse_compat_table(std::string_view csv) {
  CP_TRY(const CsvTable cells, parse_csv(csv));
  for (const char* const name : {"compat_cuda", "host_branch", "status"}) {
    if (!cells.column(name)) {
      return Error{.code = Errc::corrupt,
                   .what = "table lacks a column",
                   .expected = std::string(name) + " among the names in its first line"};
    }
  }
  const RowReader reader(cells);
  CompatTable table;
  for (const CsvRow& row : cells.rows) {
    CP_TRY(PairRow pair, reader.read(row));
    table.rows.push_back(std::move(pair));
  }
  return table;
}

CompatTable built_in_compat_table() {
  auto table = parse_compat_table(kCompatMatrixCsv);
  if (!table) {
    return {};  // a test reads it: this does not happen
  }
  table->name = "compatpack's table";
  return *std::move(table);
}

const CirculatingNumber* circulating_number(CudaVersion cuda, std::uint32_t branch) {
  for (const CirculatingNumber& one : kCirculating) {
    const auto driver = DriverVersion::parse(one.driver);
    if (one.cuda == cuda && driver && driver->branch() == branch) {
      return &one;
    }
  }
  return nullptr;
}

}  // namespace compatpack::knowledge
