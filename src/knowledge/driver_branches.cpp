// SPDX-License-Identifier: Apache-2.0
#include "compatpack/knowledge/driver_branches.hpp"

#include <array>

namespace compatpack::knowledge {
namespace {

using Type = BranchType;

// As of September 2026. CUDA: NVIDIA's CUDA toolkit release notes (drivers that ship with each
// toolkit) and its page of supported drivers and CUDA toolkit versions; 565 ships no toolkit of its
// own, its libcuda answers 12.7; 620's is read off the order of releases. Type and end of life: the
// same page in its versions 580, 615 and 620, and NVIDIA_CUDA_Drivers_Support.pdf of March 2021;
// where NVIDIA gives no month, endoflife.date's (built from NVIDIA's releases.json) is taken for
// production branches, and none for new-feature branches. NVIDIA's pages give 2028-06 and 2028-08
// for 580: the earlier is taken. 560's and 565's type is endoflife.date's, 615's is inferred.
constexpr auto kBranches = std::to_array<BranchRow>({
    {410, {10, 0}, Type::unknown, ""},
    {418, {10, 1}, Type::long_term, "2022-03"},
    {440, {10, 2}, Type::new_feature, "2020-11"},
    {450, {11, 0}, Type::long_term, "2023-07"},
    {455, {11, 1}, Type::unknown, ""},
    {460, {11, 2}, Type::production, "2022-01"},
    {465, {11, 3}, Type::new_feature, ""},
    {470, {11, 4}, Type::long_term, "2024-07"},
    {495, {11, 5}, Type::new_feature, ""},
    {510, {11, 6}, Type::production, "2023-01"},
    {515, {11, 7}, Type::production, "2023-05"},
    {520, {11, 8}, Type::new_feature, ""},
    {525, {12, 0}, Type::production, "2023-12"},
    {530, {12, 1}, Type::new_feature, ""},
    {535, {12, 2}, Type::long_term, "2026-06"},
    {545, {12, 3}, Type::new_feature, ""},
    {550, {12, 4}, Type::production, "2025-04"},
    {555, {12, 5}, Type::new_feature, ""},
    {560, {12, 6}, Type::production, "2025-08"},
    {565, {12, 7}, Type::production, "2025-10"},
    {570, {12, 8}, Type::production, "2026-02"},
    {575, {12, 9}, Type::new_feature, ""},
    {580, {13, 0}, Type::long_term, "2028-06"},
    {590, {13, 1}, Type::new_feature, ""},
    {595, {13, 2}, Type::production, "2027-03"},
    {610, {13, 3}, Type::new_feature, "2026-08"},
    {615, {13, 4}, Type::new_feature, ""},
    {620, {13, 5}, Type::long_term, "2029-09"},
});

}  // namespace

std::optional<DriverVersion> parse_driver(std::string_view text) {
  constexpr std::uint32_t kFirstBranch = 100;
  auto version = DriverVersion::parse(text);
  return version && version->branch() >= kFirstBranch ? version : std::nullopt;
}

const BranchRow* find_branch(std::uint32_t branch) {
  for (const BranchRow& row : kBranches) {
    if (row.branch == branch) {
      return &row;
    }
  }
  return nullptr;
}

std::span<const BranchRow> branches() { return kBranches; }

std::string_view name_of(BranchType type) {
  switch (type) {
    case BranchType::long_term:
      return "Long Term Support Branch";
    case BranchType::production:
      return "Production Branch";
    case BranchType::new_feature:
      return "New Feature Branch";
    case BranchType::unknown:
      break;
  }
  return "";
}

std::optional<CudaVersion> cuda_of_branch(std::uint32_t branch) {
  const BranchRow* const row = find_branch(branch);
  return row == nullptr ? std::nullopt : std::optional(row->cuda);
}

std::optional<std::string_view> minor_version_floor(std::uint32_t cuda_major) {
  // NVIDIA's page on minor-version compatibility, and its older copies for the exact numbers.
  switch (cuda_major) {
    case 11:
      return "450.80.02";
    case 12:
      return "525.60.13";
    case 13:
      return "580.65.06";
    default:
      return std::nullopt;
  }
}

}  // namespace compatpack::knowledge
