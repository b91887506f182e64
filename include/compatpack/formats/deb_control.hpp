// SPDX-License-Identifier: Apache-2.0
#pragma once

// The two texts of a .deb's control archive that say what the package is.
//
//   control                                    md5sums
//     Package: cuda-compat-12-4                  <32 hexadecimal digits>  usr/local/cuda-12.4/...
//     Version: 550.54.15-1                       \<digits>  a\\b    GNU md5sum's escapes, after '\'
//     Description: one line
//      and lines that go on from it,
//      .
//      after a blank or tab
//     # a comment

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "compatpack/base/bytes.hpp"
#include "compatpack/base/rel_path.hpp"
#include "compatpack/base/result.hpp"

namespace compatpack::formats {

struct DebField {
  std::string name;   ///< as it is written
  std::string value;  ///< without blanks at its ends; lines that go on are joined with '\n'
  ByteOffset at;      ///< of the name
};

struct DebControl {
  std::string package;       ///< "cuda-compat-12-4"
  std::string version;       ///< "1:550.54.15-1ubuntu1": with epoch and revision
  std::string architecture;  ///< Debian's name: "amd64", "arm64", "all"
  std::string source = {};   ///< of the source package, without a version; `package` if not said
  std::vector<DebField> fields = {};  ///< all, in order

  /// The upstream part of `version`: "550.54.15".
  [[nodiscard]] std::string_view upstream_version() const;

  /// The field of that name, upper and lower case alike, or null.
  [[nodiscard]] const DebField* find(std::string_view name) const;
};

/// Parses `control`. Nothing of `text` is kept.
///
/// Errors, with `at` set, all corrupt but limit for over 200 fields: no Package, Version or
/// Architecture, or an empty one; one field twice; a line that is no field; a line that goes on
/// from none; a second paragraph; a NUL.
Result<DebControl> parse_deb_control(std::string_view text);

struct DebSum {
  RelPath path;
  std::string md5;  ///< in lower case
};

/// Parses `md5sums`, in its order. A package may leave files out of it: conffiles always are.
///
/// Errors, with `at` set: corrupt for a line of another form, or one path twice; unsafe_path for a
/// path that RelPath refuses.
Result<std::vector<DebSum>> parse_md5sums(std::string_view text);

}  // namespace compatpack::formats
