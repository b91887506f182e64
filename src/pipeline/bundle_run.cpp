// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "compatpack/base/arch.hpp"
#include "compatpack/formats/base64.hpp"
#include "compatpack/formats/makeself.hpp"

#include "bundle_kinds.hpp"

namespace compatpack::pipeline {
namespace {

// GPG's and OpenSSL's ciphertexts, the latter also in base64: makeself up to 2.6 does not say in
// the header that there is one, or only from 2.4.2 on.
constexpr std::array<std::string_view, 3> kCiphertexts{"-----BEGIN PGP MESSAGE", "Salted__",
                                                       "U2FsdGVkX1"};

Result<Done> check_not_encrypted(std::string_view payload, ByteOffset at) {
  for (const std::string_view start : kCiphertexts) {
    if (payload.starts_with(start)) {
      return Error{.code = Errc::unsupported,
                   .what = "bundle is encrypted",
                   .at = at,
                   .expected = "a payload that needs no password",
                   .found = std::string(start),
                   .hint = "ask whoever made it for one that is not encrypted"};
    }
  }
  return Done{};
}

}  // namespace

Result<Done> read_run(BundleInfo& info, std::span<const std::byte> head) {
  CP_TRY(formats::MakeselfHeader header, formats::parse_makeself_header(head, info.size));
  const bool nvidia = header.family == formats::MakeselfFamily::nvidia;
  info.kind = BundleKind::run;
  info.dialect = nvidia ? "NVIDIA makeself" : "makeself";
  if (!header.generator.empty()) {
    info.dialect += " " + header.generator;
  }
  info.label = header.label;
  info.driver = DriverVersion::parse(header.version);
  info.arch = our_arch(header.target_arch);
  info.payloads = std::move(header.chunks);
  info.claims = std::move(header.claims);
  info.signature = header.is_signed ? "GPG signature of makeself" : "";
  const ByteOffset start = info.payloads.front().begin;
  const auto payload = head.subspan(static_cast<std::size_t>(start.value));
  CP_CHECK(check_not_encrypted(as_text(payload), start));
  info.is_base64 = header.is_base64 || formats::looks_like_base64(payload.first(
                                           std::min(payload.size(), formats::kBase64SniffSize)));
  return Done{};
}

}  // namespace compatpack::pipeline
