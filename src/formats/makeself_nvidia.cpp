// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "compatpack/base/text.hpp"

#include "makeself_fields.hpp"

namespace compatpack::formats {
namespace {

/// The number in the stub's own check,  tail -n +N $0 | cksum,  or nullopt.
std::optional<unsigned> checked_from_line(std::string_view script) {
  constexpr std::string_view kTail = "tail ";
  constexpr std::uint64_t kLineMax = 99;  // it is 4 or 6; a header has some hundred lines
  std::string_view rest = script;
  while (!rest.empty()) {
    std::string_view line = take_line(rest);
    line.remove_prefix(std::min(line.find(kTail), line.size()));
    const bool checks = line.find("cksum") != std::string_view::npos ||
                        line.find("md5") != std::string_view::npos ||
                        line.find("MD5") != std::string_view::npos;
    line.remove_prefix(std::min(kTail.size(), line.size()));
    if (line.starts_with("-n ")) {
      line.remove_prefix(3);
    }
    if (!checks || !line.starts_with('+')) {
      continue;
    }
    line.remove_prefix(1);
    const auto number = parse_decimal(line.substr(0, line.find_first_not_of("0123456789")));
    if (number && *number >= 2 && *number <= kLineMax) {
      return static_cast<unsigned>(*number);
    }
  }
  return std::nullopt;
}

/// The bytes between script and payload, or nullopt if nothing is there.
std::optional<ByteRange> find_program(std::string_view header, const Assignments& all) {
  const auto line = parse_decimal(value_of(all, "skip_decompress"));
  if (!line || *line < 2) {
    return std::nullopt;
  }
  const auto begin = after_lines(header, *line - 1);
  return begin ? std::optional(ByteRange{*begin, {header.size()}}) : std::nullopt;
}

}  // namespace

Result<Done> read_nvidia_fields(MakeselfHeader& into, std::string_view header,
                                const Assignments& all, ByteOffset skip_at, ByteCount file_size) {
  into.version = value_of(all, "version_string");
  into.target_arch = value_of(all, "TARGET_ARCH");
  into.embedded_program = find_program(header, all);
  into.chunks = {{{header.size()}, {file_size.value}}};

  const std::string_view script =
      into.embedded_program ? header.substr(0, into.embedded_program->begin.value) : header;
  const auto* const crc = find_field(all, "CRCsum");
  const bool layout_a = crc == nullptr || skip_at < crc->at;
  into.checksums_from_line = checked_from_line(script).value_or(layout_a ? 6 : 4);
  const auto begin = after_lines(header, into.checksums_from_line - 1);
  if (!begin) {
    return Error{.code = Errc::corrupt,
                 .what = "makeself header is too short",
                 .at = ByteOffset{header.size()},
                 .expected = "at least " + std::to_string(into.checksums_from_line) + " lines",
                 .found = "the payload"};
  }
  const ByteRange covers{*begin, {file_size.value}};
  CP_TRY(into.claims, read_claims(all, std::span(&covers, 1)));
  return Done{};
}

}  // namespace compatpack::formats
