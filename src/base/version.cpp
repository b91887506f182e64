// SPDX-License-Identifier: Apache-2.0
#include "compatpack/base/version.hpp"

#include <algorithm>

#include "compatpack/base/text.hpp"

namespace compatpack {
namespace {

// Nine digits fit in 32 bits; no driver's part has more than three.
constexpr std::size_t kDigitsMax = 9;

std::optional<std::vector<std::uint32_t>> parse_parts(std::string_view text) {
  std::vector<std::uint32_t> parts;
  for (const std::string_view part : split(text, '.')) {
    const auto number = parse_decimal(part);
    if (!number || part.size() > kDigitsMax) {
      return std::nullopt;
    }
    parts.push_back(static_cast<std::uint32_t>(*number));
  }
  return parts;
}

std::strong_ordering compare_parts(const std::vector<std::uint32_t>& a,
                                   const std::vector<std::uint32_t>& b) {
  const auto part = [](const std::vector<std::uint32_t>& parts, std::size_t i) {
    return i < parts.size() ? parts[i] : 0U;
  };
  for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    if (const auto order = part(a, i) <=> part(b, i); order != 0) {
      return order;
    }
  }
  return std::strong_ordering::equal;
}

}  // namespace

std::optional<DriverVersion> DriverVersion::parse(std::string_view text) {
  auto parts = parse_parts(text);
  if (!parts || parts->size() < 2 || parts->size() > 3) {
    return std::nullopt;
  }
  DriverVersion version;
  version.text_ = text;
  version.parts_ = *std::move(parts);
  return version;
}

std::strong_ordering operator<=>(const DriverVersion& a, const DriverVersion& b) {
  return compare_parts(a.parts_, b.parts_);
}

bool operator==(const DriverVersion& a, const DriverVersion& b) { return (a <=> b) == 0; }

std::optional<CudaVersion> CudaVersion::parse(std::string_view text) {
  const auto parts = parse_parts(text);
  if (!parts || parts->size() != 2) {
    return std::nullopt;
  }
  return CudaVersion{(*parts)[0], (*parts)[1]};
}

std::string CudaVersion::text() const {
  return std::to_string(major) + "." + std::to_string(minor);
}

bool is_newer_version(std::string_view a, std::string_view b) {
  const auto left = parse_parts(a);
  const auto right = parse_parts(b);
  const bool left_is_one = left && !left->empty();
  const bool right_is_one = right && !right->empty();
  return left_is_one && (!right_is_one || compare_parts(*left, *right) > 0);
}

}  // namespace compatpack
