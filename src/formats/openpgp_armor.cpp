// SPDX-License-Identifier: Apache-2.0
#include "compatpack/formats/openpgp_armor.hpp"

#include <utility>

#include "compatpack/base/text.hpp"
#include "compatpack/formats/base64.hpp"

namespace compatpack::formats {
namespace {

constexpr std::string_view kBegin = "-----BEGIN PGP PUBLIC KEY BLOCK-----";
constexpr std::string_view kEndLine = "-----END PGP PUBLIC KEY BLOCK-----";

/// Takes lines up to one that is `last`, and returns those that are base64; nullopt if none is.
std::optional<std::string> take_block(std::string_view& rest) {
  bool in_headers = true;
  std::string base64;
  while (!rest.empty()) {
    const std::string_view line = trim(take_line(rest));
    if (line == kEndLine) {
      return base64;
    }
    if (in_headers) {
      // Headers have a colon, which base64 has not: some writers leave the empty line out.
      in_headers = line.find(':') != std::string_view::npos;
      if (in_headers) {
        continue;
      }
    }
    if (!line.empty() && !line.starts_with('=')) {
      base64.append(line).append("\n");
    }
  }
  return std::nullopt;
}

}  // namespace

bool is_armored_keyring(std::string_view text) {
  return text.find(kBegin) != std::string_view::npos;
}

Result<std::string> dearmor_keyring(std::string_view text) {
  std::string keys;
  std::string_view rest = text;
  while (!rest.empty()) {
    const ByteOffset at{text.size() - rest.size()};
    if (trim(take_line(rest)) != kBegin) {
      continue;
    }
    const auto bad = [at](std::string found) {
      return Error{.code = Errc::corrupt,
                   .what = "armored key is damaged",
                   .at = at,
                   .expected = "base64, and a line " + std::string(kEndLine),
                   .found = std::move(found)};
    };
    const auto base64 = take_block(rest);
    if (!base64) {
      return bad("end of file");
    }
    io::MemorySource source(as_bytes(*base64));
    Base64Source decoder(source);
    std::string block(base64->size(), '\0');
    const auto count = io::read_full(decoder, std::as_writable_bytes(std::span(block)));
    if (base64->empty() || !count) {
      return bad(base64->empty() ? "nothing" : count.error().found);
    }
    keys.append(block, 0, *count);
  }
  return keys;
}

}  // namespace compatpack::formats
