// SPDX-License-Identifier: Apache-2.0
#include "compatpack/knowledge/gpu_names.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "compatpack/base/text.hpp"

namespace compatpack::knowledge {
namespace {

using Arch = Architecture;

// NVIDIA's CUDA toolkit, driver and architecture matrix, as of September 2026.
constexpr auto kArchitectures = std::to_array<ArchitectureRow>({
    {Arch::unknown, "", {0, 0}, 0},
    {Arch::kepler, "Kepler", {6, 0}, 470},
    {Arch::maxwell, "Maxwell", {6, 5}, 580},
    {Arch::pascal, "Pascal", {8, 0}, 580},
    {Arch::volta, "Volta", {9, 0}, 580},
    {Arch::turing, "Turing", {10, 0}, 0},
    {Arch::ampere, "Ampere", {11, 0}, 0},
    {Arch::ada, "Ada", {11, 8}, 0},
    {Arch::hopper, "Hopper", {11, 8}, 0},
    {Arch::blackwell, "Blackwell", {12, 8}, 0},
});

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Letters, then digits, then the rest: "A100-SXM4" is "A", "100", "-SXM4".
struct Model {
  std::string_view letters;
  std::string_view digits;
  std::string_view rest;
};

Model take_apart(std::string_view word) {
  const auto letters =
      static_cast<std::size_t>(std::find_if(word.begin(), word.end(), is_digit) - word.begin());
  std::size_t end = letters;
  while (end < word.size() && is_digit(word[end])) {
    ++end;
  }
  return {word.substr(0, letters), word.substr(letters, end - letters), word.substr(end)};
}

/// The profile of a virtual GPU at a name's end: "-8Q", "-1-5C". Sizes such as "-80GB" are none.
bool is_virtual(std::string_view name) {
  const std::size_t dash = name.rfind('-');
  if (dash == std::string_view::npos || name.size() - dash < 3) {
    return false;
  }
  const std::string_view number = name.substr(dash + 1, name.size() - dash - 2);
  return std::all_of(number.begin(), number.end(), is_digit) &&
         std::string_view("ABCQ").find(name.back()) != std::string_view::npos;
}

struct NameRow {
  std::string_view letters;
  Arch architecture;
};

// Model numbers of data-center boards begin with their architecture's letter.
constexpr auto kDataCenter = std::to_array<NameRow>({{"A", Arch::ampere},
                                                     {"AX", Arch::ampere},
                                                     {"H", Arch::hopper},
                                                     {"GH", Arch::hopper},
                                                     {"L", Arch::ada},
                                                     {"B", Arch::blackwell},
                                                     {"GB", Arch::blackwell},
                                                     {"PG", Arch::unknown}});

// "Tesla" boards, whose name has it in older drivers only for some of them.
constexpr auto kTesla = std::to_array<NameRow>({{"K", Arch::kepler},
                                                {"M", Arch::maxwell},
                                                {"P", Arch::pascal},
                                                {"V", Arch::volta},
                                                {"T", Arch::turing},
                                                {"PG", Arch::unknown}});

template <std::size_t N>
const NameRow* find(const std::array<NameRow, N>& rows, std::string_view letters) {
  for (const NameRow& row : rows) {
    if (row.letters == letters) {
      return &row;
    }
  }
  return nullptr;
}

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// From here on names are in capitals.

/// "GEFORCE RTX 4090", "GEFORCE GTX 1080 TI", "GEFORCE 940MX".
Arch geforce_architecture(std::string_view name) {
  for (const std::string_view word : split(name, ' ')) {
    const Model model = take_apart(word);
    if (model.digits.size() != 4 || !model.letters.empty()) {
      continue;
    }
    const std::string_view series = model.digits.substr(0, 2);
    if (has(name, "RTX")) {
      return series == "20"   ? Arch::turing
             : series == "30" ? Arch::ampere
             : series == "40" ? Arch::ada
             : series == "50" ? Arch::blackwell
                              : Arch::unknown;
    }
    return series == "16" ? Arch::turing : series == "10" ? Arch::pascal : Arch::unknown;
  }
  return Arch::unknown;
}

/// "RTX 4090", as people and some makers of boards write it: a series, 0, the rank in it, 0.
/// Numbers of workstation boards are round, "RTX 4000", but for one, "RTX 5880".
bool is_bare_geforce(std::string_view name) {
  if (name.starts_with("GTX ")) {
    return true;
  }
  constexpr std::string_view kRtx = "RTX ";
  if (!name.starts_with(kRtx)) {
    return false;
  }
  const Model model =
      take_apart(name.substr(kRtx.size(), name.find(' ', kRtx.size()) - kRtx.size()));
  return model.letters.empty() && model.digits.size() == 4 && model.digits[1] == '0' &&
         model.digits[2] != '0';
}

/// "QUADRO RTX 8000", "QUADRO P4000", "RTX A2000", "RTX 6000 ADA GENERATION", "T1000".
Arch workstation_architecture(std::string_view name) {
  if (name.starts_with("QUADRO RTX")) {
    return Arch::turing;
  }
  if (has(name, "BLACKWELL") || has(name, "ADA")) {
    return has(name, "BLACKWELL") ? Arch::blackwell : Arch::ada;
  }
  if (name.starts_with("RTX A")) {
    return Arch::ampere;
  }
  constexpr std::string_view kQuadro = "QUADRO ";
  const Model model = take_apart(name.starts_with(kQuadro) ? name.substr(kQuadro.size()) : name);
  if (model.letters == "GV") {
    return Arch::volta;
  }
  if (model.letters == "GP" || model.letters == "P") {
    return Arch::pascal;
  }
  // Some boards of the K series are Maxwells.
  return model.letters == "T" ? Arch::turing : model.letters == "M" ? Arch::maxwell : Arch::unknown;
}

Arch titan_architecture(std::string_view name) {
  if (name == "TITAN V" || name.starts_with("TITAN V ")) {
    return Arch::volta;
  }
  return name == "TITAN RTX" ? Arch::turing : name == "TITAN XP" ? Arch::pascal : Arch::unknown;
}

bool is_t_series(const Model& model) {
  return model.letters == "T" && (model.digits.size() == 3 || model.digits.size() == 4);
}

}  // namespace

GpuKind classify_gpu(std::string_view written) {
  std::string capitals(trim(written));
  std::transform(capitals.begin(), capitals.end(), capitals.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  std::string_view name = capitals;
  for (const std::string_view maker : {"NVIDIA ", "TESLA "}) {
    const bool tesla = maker == "TESLA " && name.starts_with(maker);
    if (name.starts_with(maker)) {
      name.remove_prefix(maker.size());
    }
    if (tesla && !is_virtual(name)) {
      const NameRow* const row = find(kTesla, take_apart(name).letters);
      return {GpuClass::data_center, row != nullptr ? row->architecture : Arch::unknown};
    }
  }
  if (name.starts_with("GEFORCE") || is_bare_geforce(name)) {
    return {GpuClass::geforce, geforce_architecture(name)};
  }
  if (name.starts_with("TITAN")) {
    return {GpuClass::geforce, titan_architecture(name)};
  }
  if (name.starts_with("CMP")) {
    return {GpuClass::mining, Arch::unknown};
  }
  if (name.starts_with("GRID") || is_virtual(name)) {
    return {GpuClass::unclear, Arch::unknown};
  }
  const std::string_view word = name.substr(0, name.find_first_of(" -"));
  const Model model = take_apart(word);
  if (name.starts_with("QUADRO") || name.starts_with("RTX") || name.starts_with("MATROX") ||
      is_t_series(model)) {
    return {GpuClass::workstation, workstation_architecture(name)};
  }
  // Sold for workstations, under the name of a data-center board.
  if (name.starts_with("A800 40GB ACTIVE")) {
    return {GpuClass::workstation, Arch::ampere};
  }
  const bool plain = !model.digits.empty() && model.rest.size() <= 1;
  // The small computer DGX Spark; its GPU is no data-center board.
  if (word == "GB10" || !plain) {
    return {GpuClass::unclear, word == "GB10" ? Arch::blackwell : Arch::unknown};
  }
  if (const NameRow* const row = find(kDataCenter, model.letters)) {
    return {GpuClass::data_center, row->architecture};
  }
  if (const NameRow* const row = find(kTesla, model.letters)) {
    return {GpuClass::data_center, row->architecture};
  }
  return {GpuClass::unclear, Arch::unknown};
}

const ArchitectureRow& row_of(Architecture architecture) {
  for (const ArchitectureRow& row : kArchitectures) {
    if (row.architecture == architecture) {
      return row;
    }
  }
  return kArchitectures[0];
}

std::string_view name_of(GpuClass gpu_class) {
  switch (gpu_class) {
    case GpuClass::data_center:
      return "data center";
    case GpuClass::workstation:
      return "workstation";
    case GpuClass::geforce:
      return "GeForce or Titan";
    case GpuClass::mining:
      return "mining";
    case GpuClass::unclear:
      break;
  }
  return "unclear";
}

}  // namespace compatpack::knowledge
