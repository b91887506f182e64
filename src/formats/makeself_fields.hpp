// SPDX-License-Identifier: Apache-2.0
#pragma once

// What src/formats/makeself*.cpp share: the fields of a makeself header, and the two families that
// read them each in its own way.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compatpack/formats/makeself.hpp"

#include "shell_assignments.hpp"

namespace compatpack::formats {

using Assignments = std::vector<ShellAssignment>;

/// The first assignment to `name`, or nullptr: what follows the head of the script is code.
const ShellAssignment* find_field(const Assignments& all, std::string_view name);

/// What that assigns, or empty text.
std::string value_of(const Assignments& all, std::string_view name);

/// Offset behind the first `lines` lines, or nullopt if nothing comes there.
std::optional<ByteOffset> after_lines(std::string_view text, std::uint64_t lines);

/// The claims of CRCsum=, MD5= and SHA=, each a list with one for each of `covers`. Zeros are how
/// makeself says "none".
Result<std::vector<DigestClaim>> read_claims(const Assignments& all,
                                             std::span<const ByteRange> covers);

/// Fills in what the NVIDIA family says: one chunk to the end of the file, and checksums that begin
/// in the header. `header` is all before the payload; skip= stands at `skip_at`.
Result<Done> read_nvidia_fields(MakeselfHeader& into, std::string_view header,
                                const Assignments& all, ByteOffset skip_at, ByteCount file_size);

/// Fills in what upstream says: the chunks from `payload` on, and checksums of each. Requires:
/// there is a field filesizes=.
Result<Done> read_upstream_fields(MakeselfHeader& into, ByteOffset payload, const Assignments& all,
                                  ByteCount file_size);

}  // namespace compatpack::formats
