// SPDX-License-Identifier: Apache-2.0
#include "compatpack/formats/fwd_compat_note.hpp"

#include <nlohmann/json.hpp>

namespace compatpack::formats {
namespace {

// Sixty branches would be all that there ever were; a note beyond this is not one.
constexpr std::size_t kBranchesMax = 1'000;
constexpr std::size_t kTextMax = 64U << 10U;

std::optional<std::vector<std::uint32_t>> parse_branches(const nlohmann::json& list) {
  if (!list.is_array() || list.size() > kBranchesMax) {
    return std::nullopt;
  }
  std::vector<std::uint32_t> branches;
  for (const auto& one : list) {
    if (!one.is_number_unsigned()) {
      return std::nullopt;
    }
    branches.push_back(one.get<std::uint32_t>());
  }
  return branches;
}

}  // namespace

std::optional<FwdCompatNote> parse_fwd_compat_note(std::string_view json) {
  if (json.size() > kTextMax) {
    return std::nullopt;
  }
  const auto document = nlohmann::json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (!document.is_object()) {
    return std::nullopt;
  }
  FwdCompatNote note;
  if (const auto cuda = document.find("CUDA version"); cuda != document.end()) {
    if (!cuda->is_string()) {
      return std::nullopt;
    }
    note.cuda = CudaVersion::parse(cuda->get_ref<const std::string&>());
  }
  if (const auto driver = document.find("driver"); driver != document.end()) {
    note.branches = parse_branches(*driver);
    if (!note.branches) {
      return std::nullopt;
    }
  }
  return note;
}

}  // namespace compatpack::formats
