// SPDX-License-Identifier: Apache-2.0
#include "makeself_fields.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "compatpack/base/text.hpp"

namespace compatpack::formats {
namespace {

Error malformed_digest(const ShellAssignment& line, std::string expected, std::string found) {
  return Error{.code = Errc::corrupt,
               .what = "makeself header has a malformed checksum",
               .at = line.at,
               .expected = std::string(line.name) + "= with " + std::move(expected),
               .found = std::move(found)};
}

/// The claim that `text` makes, or nullopt for zeros, which is how makeself says "none".
Result<std::optional<DigestClaim>> parse_claim(const ShellAssignment& line, std::string_view text,
                                               DigestAlgorithm algorithm, ByteRange covers) {
  std::string digest;
  if (algorithm == DigestAlgorithm::cksum) {
    const auto number = parse_decimal(text);
    if (!number || *number > std::numeric_limits<std::uint32_t>::max()) {
      return malformed_digest(line, "a number of 32 bits", std::string(text));
    }
    digest = *number == 0 ? "" : std::to_string(*number);
  } else {
    auto hex = parse_hex(text, hex_digits(algorithm));
    if (!hex) {
      return malformed_digest(line, std::to_string(hex_digits(algorithm)) + " hexadecimal digits",
                              std::string(text));
    }
    digest = hex->find_first_not_of('0') == std::string::npos ? "" : *std::move(hex);
  }
  if (digest.empty()) {
    return std::optional<DigestClaim>();
  }
  return std::optional(DigestClaim{algorithm, std::move(digest), covers, "its header"});
}

struct DigestField {
  std::string_view name;
  DigestAlgorithm algorithm;
};
constexpr std::array<DigestField, 3> kDigestFields{{{"CRCsum", DigestAlgorithm::cksum},
                                                    {"MD5", DigestAlgorithm::md5},
                                                    {"SHA", DigestAlgorithm::sha256}}};

/// Appends the claims of one digest field: a list, one for each of `covers`.
Result<Done> add_claims(std::vector<DigestClaim>& claims, const Assignments& all,
                        const DigestField& field, std::span<const ByteRange> covers) {
  const auto* const line = find_field(all, field.name);
  if (line == nullptr) {
    return Done{};
  }
  const auto words = split_words(line->value);
  if (words.empty()) {  // no checksum program on the machine that packed it
    return Done{};
  }
  if (words.size() < covers.size()) {
    return malformed_digest(*line, "one for each of " + std::to_string(covers.size()) + " chunks",
                            line->value);
  }
  for (std::size_t i = 0; i < covers.size(); ++i) {
    CP_TRY(auto claim, parse_claim(*line, words[i], field.algorithm, covers[i]));
    if (claim) {
      claims.push_back(*std::move(claim));
    }
  }
  return Done{};
}

}  // namespace

const ShellAssignment* find_field(const Assignments& all, std::string_view name) {
  const auto it = std::find_if(all.begin(), all.end(),
                               [name](const ShellAssignment& one) { return one.name == name; });
  return it == all.end() ? nullptr : &*it;
}

std::string value_of(const Assignments& all, std::string_view name) {
  const auto* const line = find_field(all, name);
  return line == nullptr ? std::string() : line->value;
}

std::optional<ByteOffset> after_lines(std::string_view text, std::uint64_t lines) {
  std::string_view rest = text;
  for (; lines > 0 && !rest.empty(); --lines) {
    take_line(rest);
  }
  return rest.empty() ? std::nullopt : std::optional(ByteOffset{text.size() - rest.size()});
}

Result<std::vector<DigestClaim>> read_claims(const Assignments& all,
                                             std::span<const ByteRange> covers) {
  std::vector<DigestClaim> claims;
  for (const DigestField& field : kDigestFields) {
    CP_CHECK(add_claims(claims, all, field, covers));
  }
  return claims;
}

}  // namespace compatpack::formats
