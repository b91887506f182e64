// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "compatpack/base/text.hpp"

#include "makeself_fields.hpp"

namespace compatpack::formats {
namespace {

// makeself itself never made more than the files one appends by hand.
constexpr std::size_t kChunksMax = 1'000;

Error wrong_length(bool too_short, ByteOffset at, std::string expected, std::string found) {
  return Error{.code = Errc::corrupt,
               .what = too_short ? "bundle is shorter than its header says"
                                 : "bundle is longer than its header says",
               .at = at,
               .expected = std::move(expected),
               .found = std::move(found),
               .hint = too_short ? "the download is incomplete; fetch it again"
                                 : "something was appended to it, or it was changed in transit"};
}

Error malformed_size(const ShellAssignment& line, std::string expected) {
  return Error{.code = Errc::corrupt,
               .what = "makeself header has a malformed size",
               .at = line.at,
               .expected = std::string(line.name) + "= with " + std::move(expected),
               .found = line.value};
}

/// The ranges that filesizes= gives, one behind the other from `payload` on.
Result<std::vector<ByteRange>> read_chunks(const ShellAssignment& sizes, ByteOffset payload,
                                           ByteCount file_size) {
  std::vector<ByteRange> chunks;
  ByteOffset end = payload;
  for (const std::string_view word : split_words(sizes.value)) {
    const auto size = parse_decimal(word);
    if (!size) {
      return malformed_size(sizes, "sizes in bytes");
    }
    if (chunks.size() == kChunksMax) {
      return Error{.code = Errc::limit,
                   .what = "bundle holds too many archives",
                   .at = sizes.at,
                   .expected = "at most " + std::to_string(kChunksMax),
                   .found = sizes.value};
    }
    if (*size > file_size.value - end.value) {
      return wrong_length(true, sizes.at,
                          "filesizes= of at most " +
                              std::to_string(file_size.value - payload.value) + " bytes together",
                          sizes.value);
    }
    chunks.push_back({end, {end.value + *size}});
    end.value += *size;
  }
  if (chunks.empty()) {
    return malformed_size(sizes, "a size in bytes");
  }
  return chunks;
}

/// From 2.4.3 on nothing may follow the payload; before, installers append archives of their own.
Result<Done> check_total(const Assignments& all, ByteOffset payload, ByteCount file_size) {
  const auto* const line = find_field(all, "totalsize");
  if (line == nullptr) {
    return Done{};
  }
  const auto total = parse_decimal(line->value);
  if (!total) {
    return malformed_size(*line, "a size in bytes");
  }
  const std::uint64_t room = file_size.value - payload.value;
  if (*total != room) {
    return wrong_length(*total > room, line->at, "totalsize=" + line->value,
                        std::to_string(room) + " bytes behind the header");
  }
  return Done{};
}

}  // namespace

Result<Done> read_upstream_fields(MakeselfHeader& into, ByteOffset payload, const Assignments& all,
                                  ByteCount file_size) {
  const auto* const decrypt = find_field(all, "decrypt_cmd");
  if (decrypt != nullptr && !trim(decrypt->value).empty()) {
    into.is_base64 = split_words(decrypt->value).front() == "base64" &&
                     decrypt->value.find('|') == std::string::npos;
    if (!into.is_base64) {
      return Error{.code = Errc::unsupported,
                   .what = "bundle is encrypted",
                   .at = decrypt->at,
                   .expected = "a payload that needs no password",
                   .found = decrypt->value,
                   .hint = "ask whoever made it for one that is not encrypted"};
    }
  }
  into.is_signed = !value_of(all, "SIGNATURE").empty();
  CP_TRY(into.chunks, read_chunks(*find_field(all, "filesizes"), payload, file_size));
  CP_CHECK(check_total(all, payload, file_size));
  CP_TRY(into.claims, read_claims(all, into.chunks));
  return Done{};
}

}  // namespace compatpack::formats
