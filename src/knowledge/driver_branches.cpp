// SPDX-License-Identifier: Apache-2.0
#include "compatpack/knowledge/driver_branches.hpp"

namespace compatpack::knowledge {
namespace {

struct BranchRow {
  std::uint32_t branch;
  CudaVersion cuda;
};

// NVIDIA's CUDA toolkit release notes (driver versions that ship with each toolkit) and its page of
// supported drivers and CUDA toolkit versions, as of September 2026. 565 ships no toolkit of its
// own; its libcuda answers 12.7. 620's is read off the order of releases.
constexpr BranchRow kBranches[] = {
    {410, {10, 0}}, {418, {10, 1}}, {440, {10, 2}}, {450, {11, 0}}, {455, {11, 1}}, {460, {11, 2}},
    {465, {11, 3}}, {470, {11, 4}}, {495, {11, 5}}, {510, {11, 6}}, {515, {11, 7}}, {520, {11, 8}},
    {525, {12, 0}}, {530, {12, 1}}, {535, {12, 2}}, {545, {12, 3}}, {550, {12, 4}}, {555, {12, 5}},
    {560, {12, 6}}, {565, {12, 7}}, {570, {12, 8}}, {575, {12, 9}}, {580, {13, 0}}, {590, {13, 1}},
    {595, {13, 2}}, {610, {13, 3}}, {615, {13, 4}}, {620, {13, 5}},
};

}  // namespace

std::optional<CudaVersion> cuda_of_branch(std::uint32_t branch) {
  for (const BranchRow& row : kBranches) {
    if (row.branch == branch) {
      return row.cuda;
    }
  }
  return std::nullopt;
}

}  // namespace compatpack::knowledge
