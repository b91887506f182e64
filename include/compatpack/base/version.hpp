// SPDX-License-Identifier: Apache-2.0
#pragma once

// Versions of drivers and of CUDA. Driver versions have two or three parts (570.144, 460.73.01);
// they are compared part by part as numbers, and a missing part counts as 0.

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace compatpack {

class DriverVersion {
 public:
  /// Two or three dot-separated decimal numbers of at most nine digits; nullopt for anything else.
  [[nodiscard]] static std::optional<DriverVersion> parse(std::string_view text);

  /// As it was written: "535.54.03" keeps its zero.
  [[nodiscard]] const std::string& text() const { return text_; }

  /// The first part, which names the branch: 535 for 535.54.03.
  [[nodiscard]] std::uint32_t branch() const { return parts_[0]; }

  friend std::strong_ordering operator<=>(const DriverVersion& a, const DriverVersion& b);
  friend bool operator==(const DriverVersion& a, const DriverVersion& b);

 private:
  std::string text_;
  std::vector<std::uint32_t> parts_;
};

struct CudaVersion {
  std::uint32_t major;
  std::uint32_t minor;

  /// "12.2"; nullopt for anything else.
  [[nodiscard]] static std::optional<CudaVersion> parse(std::string_view text);
  [[nodiscard]] std::string text() const;

  friend auto operator<=>(const CudaVersion&, const CudaVersion&) = default;
};

/// Whether version `a` is newer than `b`, by number, part by part: of glibc, "2.34" and "2.2.5".
/// Text that is no version is older than any that is.
[[nodiscard]] bool is_newer_version(std::string_view a, std::string_view b);

}  // namespace compatpack
