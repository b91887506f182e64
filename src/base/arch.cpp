// SPDX-License-Identifier: Apache-2.0
#include "compatpack/base/arch.hpp"

#include <algorithm>
#include <array>

namespace compatpack {
namespace {

constexpr auto kArchs = std::to_array<ArchRow>({
    {"x86_64", "amd64", "amd64", 62, 64},
    {"i386", "i386", "386", 3, 32},
    {"aarch64", "arm64", "arm64", 183, 64},
    {"ppc64le", "ppc64el", "ppc64le", 21, 64},
});

}  // namespace

std::span<const ArchRow> archs() { return kArchs; }

std::string our_arch(std::string_view name) {
  if (name == "all" || name == "noarch") {
    return "";
  }
  const bool is_x86 = name == "x86" || (name.size() == 4 && name[0] == 'i' && name.ends_with("86"));
  const std::string_view wanted = is_x86 ? "i386" : name;
  const auto* const row = std::find_if(kArchs.begin(), kArchs.end(), [wanted](const ArchRow& one) {
    return one.name == wanted || one.debian == wanted;
  });
  return std::string(row == kArchs.end() ? wanted : row->name);
}

}  // namespace compatpack
