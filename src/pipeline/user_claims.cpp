// SPDX-License-Identifier: Apache-2.0
#include "compatpack/pipeline/user_claims.hpp"

#include <array>
#include <cerrno>
#include <utility>

#include "compatpack/base/text.hpp"
#include "compatpack/io/text_file.hpp"

namespace compatpack::pipeline {
namespace {

// NVIDIA's side files have one line; a list of a whole download folder has some hundreds.
constexpr ByteCount kChecksumFileMax{4U << 20U};

constexpr std::array<DigestAlgorithm, 4> kAlgorithms{
    DigestAlgorithm::md5, DigestAlgorithm::sha1, DigestAlgorithm::sha256, DigestAlgorithm::sha512};

struct ChecksumLine {
  std::string_view digest;
  std::string_view name;  // "" where the line has none
};

std::optional<DigestAlgorithm> algorithm_of(std::string_view digest) {
  for (const DigestAlgorithm one : kAlgorithms) {
    if (parse_hex(digest, hex_digits(one))) {
      return one;
    }
  }
  return std::nullopt;
}

/// Takes a line apart; nullopt if it is of neither form.
std::optional<ChecksumLine> parse_line(std::string_view line) {
  if (const std::size_t close = line.rfind(") = "); close != std::string_view::npos) {
    const std::size_t open = line.find(" (");
    if (open < close) {
      return ChecksumLine{line.substr(close + 4), line.substr(open + 2, close - open - 2)};
    }
  }
  const std::size_t blank = line.find_first_of(" \t");
  if (blank == std::string_view::npos) {
    return ChecksumLine{line, {}};
  }
  std::string_view name = line.substr(blank + 1);
  if (name.starts_with(' ') || name.starts_with('*')) {
    name.remove_prefix(1);
  }
  return ChecksumLine{line.substr(0, blank), trim(name)};
}

Result<Done> add_option(std::vector<DigestClaim>& claims, const std::string& option,
                        DigestAlgorithm algorithm, const std::string& digest, ByteCount size) {
  if (digest.empty()) {
    return Done{};
  }
  auto hex = parse_hex(digest, hex_digits(algorithm));
  if (!hex) {
    return Error{.code = Errc::usage,
                 .what = "not a digest",
                 .subject = option,
                 .expected = std::to_string(hex_digits(algorithm)) + " hexadecimal digits",
                 .found = digest};
  }
  claims.push_back({algorithm, *std::move(hex), {{0}, {size.value}}, option});
  return Done{};
}

}  // namespace

Result<std::optional<DigestClaim>> parse_checksum_file(std::string_view text, std::string_view name,
                                                       ByteCount size, const std::string& origin) {
  std::string_view rest = text;
  std::optional<DigestClaim> claim;
  for (std::size_t at = 0; !rest.empty(); at = text.size() - rest.size()) {
    const std::string_view line = trim(take_line(rest));
    if (line.empty() || line.starts_with('#')) {
      continue;
    }
    const auto parts = parse_line(line);
    const auto algorithm = parts ? algorithm_of(parts->digest) : std::nullopt;
    if (!algorithm) {
      return Error{.code = Errc::corrupt,
                   .what = "not a file of checksums",
                   .subject = origin,
                   .at = ByteOffset{at},
                   .expected = "lines as sha256sum writes them",
                   .found = std::string(line.substr(0, 100))};
    }
    if (!claim && (parts->name.empty() || last_component(parts->name) == name)) {
      claim = DigestClaim{*algorithm,
                          *parse_hex(parts->digest, hex_digits(*algorithm)),
                          {{0}, {size.value}},
                          origin};
    }
  }
  return claim;
}

Result<std::vector<DigestClaim>> collect_user_claims(const BundleInfo& bundle,
                                                     const UserChecksums& said,
                                                     std::vector<std::string>& warnings) {
  std::vector<DigestClaim> claims;
  CP_CHECK(add_option(claims, "--sha256", DigestAlgorithm::sha256, said.sha256, bundle.size));
  CP_CHECK(add_option(claims, "--sha1", DigestAlgorithm::sha1, said.sha1, bundle.size));
  CP_CHECK(add_option(claims, "--md5", DigestAlgorithm::md5, said.md5, bundle.size));
  if (!said.checksum_file.empty()) {
    const std::string origin(last_component(said.checksum_file));
    CP_TRY(const auto text, io::read_text_file(said.checksum_file, kChecksumFileMax));
    if (!text) {
      return io_error("cannot open", said.checksum_file, ENOENT);
    }
    CP_TRY(auto claim, parse_checksum_file(*text, bundle.name, bundle.size, origin));
    if (!claim) {
      return Error{.code = Errc::corrupt,
                   .what = "file of checksums has no line for the bundle",
                   .subject = said.checksum_file,
                   .expected = "a line for " + bundle.name};
    }
    claims.push_back(*std::move(claim));
  }
  for (const char* const ending : {".sha256sum", ".sha256", ".md5sum"}) {
    const std::string origin = bundle.name + ending;
    const auto text = io::read_text_file(bundle.path + ending, kChecksumFileMax);
    if (text && !*text) {
      continue;
    }
    auto claim = text ? parse_checksum_file(**text, bundle.name, bundle.size, origin)
                      : Result<std::optional<DigestClaim>>(text.error());
    if (claim && *claim) {
      claims.push_back(**std::move(claim));
    } else {
      warnings.push_back(origin + " beside the bundle is not used: " +
                         (claim ? "it has no line for " + bundle.name : claim.error().what));
    }
  }
  return claims;
}

}  // namespace compatpack::pipeline
