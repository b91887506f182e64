// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads the variables at the head of a shell script without running it. What a makeself header says
// of itself stands in such lines, and so does free text (a licence, a label) that may look like
// them:
//
//   licensetxt="You may          one assignment; what its value holds is not looked at
//   skip=5
//   "
//   skip="666"                   another

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "compatpack/base/bytes.hpp"

namespace compatpack::formats {

/// `name=value` at the start of a line.
struct ShellAssignment {
  std::string_view name;
  std::string value;  ///< as the shell would have it: without quotes and escapes; $ and ` stay
  ByteOffset at;      ///< of the name, in the script
  ByteOffset end;     ///< behind the value
};

/// More than these are not looked for: a makeself script has 41 (2.4.5), and without a cap 4 MiB of
/// "a=" would be a million.
inline constexpr std::size_t kShellAssignmentsMax = 1'000;

/// The first kShellAssignmentsMax assignments in `script`, in order. Their names are views into
/// `script`.
///
/// A value is one word of shell: double quotes with backslash escapes, single quotes, backquotes,
/// and bare text may follow each other, and quoted parts may go on over lines. This is no shell: it
/// knows neither here-documents nor indented code, which headers of makeself allow it to ignore.
[[nodiscard]] std::vector<ShellAssignment> scan_shell_assignments(std::string_view script);

}  // namespace compatpack::formats
