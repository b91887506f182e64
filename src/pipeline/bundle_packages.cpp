// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <utility>

#include "compatpack/base/arch.hpp"
#include "compatpack/formats/ar.hpp"
#include "compatpack/formats/archive.hpp"
#include "compatpack/formats/deb_control.hpp"
#include "compatpack/formats/rpm.hpp"
#include "compatpack/knowledge/driver_branches.hpp"

#include "bundle_kinds.hpp"

namespace compatpack::pipeline {
namespace {

/// What a .deb's control archive may unpack to: NVIDIA's come to 100 KB at most. A few KB of it
/// could otherwise keep a reader busy for minutes.
constexpr ByteCount kControlMax{16U << 20U};

/// What is wanted of a .deb's control archive; empty texts where it has no such member.
struct ControlTexts {
  std::string control;
  std::string md5sums;
};

Result<std::string> read_control_text(formats::EntryReader& reader, const formats::Entry& entry,
                                      const Limits& limits) {
  formats::EntryContent content(reader);
  auto text = io::read_text(content, entry.size, limits.kept_text);
  if (!text && text.error().code == Errc::limit) {
    text.error().found = entry.path + ", " + text.error().found + " bytes";
  }
  return text;
}

Result<ControlTexts> read_texts(io::Source& unpacked, const Limits& limits) {
  CP_TRY(const auto reader, formats::ArchiveReader::open(unpacked, limits));
  ControlTexts texts;
  for (;;) {
    CP_TRY(const auto entry, reader->next());
    if (!entry) {
      break;
    }
    const auto path = RelPath::parse(entry->path);
    if (!path || entry->type != formats::EntryType::file) {
      continue;  // maintainer scripts and their like, which are never run
    }
    if (path->text() == "control") {
      CP_TRY(texts.control, read_control_text(*reader, *entry, limits));
    } else if (path->text() == "md5sums") {
      CP_TRY(texts.md5sums, read_control_text(*reader, *entry, limits));
    }
  }
  CP_CHECK(io::drain(unpacked));
  return texts;
}

Result<ControlTexts> read_control(std::span<const std::byte> stored, const Limits& limits) {
  io::MemorySource source(stored);
  CP_TRY(const auto decoder, formats::open_decoder(source, {.memory_max = limits.decoder_memory}));
  io::LimitedSource unpacked(*decoder, kControlMax);
  auto texts = read_texts(unpacked, limits);
  if (unpacked.missing().value == 0) {
    return Error{.code = Errc::limit,
                 .what = "control archive unpacks to too much",
                 .expected = "less than " + std::to_string(kControlMax.value) + " bytes",
                 .found = "more"};
  }
  return texts;
}

/// An Error about a part of the bundle says which.
Error in_part(Error error, std::string part) {
  if (error.stream.empty()) {
    error.stream = std::move(part);
  }
  return error;
}

}  // namespace

std::optional<CudaVersion> cuda_of_package(std::string_view name) {
  for (const std::string_view start : {"cuda-compat-orin-", "cuda-compat-"}) {
    if (name.starts_with(start)) {
      std::string version(name.substr(start.size()));
      std::replace(version.begin(), version.end(), '-', '.');
      return CudaVersion::parse(version);
    }
  }
  return std::nullopt;
}

Result<Done> read_deb(BundleInfo& info, const io::FileSource& file, const Limits& limits) {
  const auto read_at = [&file](ByteOffset at, std::span<std::byte> into) {
    return file.read_at(at, into);
  };
  CP_TRY(const formats::DebLayout layout, formats::plan_deb(info.size, read_at));
  const ByteRange control = layout.control.content;
  if (control.size() > limits.header) {
    return Error{.code = Errc::limit,
                 .what = "control archive is too large",
                 .at = control.begin,
                 .expected = "at most " + std::to_string(limits.header.value) + " bytes",
                 .found = std::to_string(control.size().value)};
  }
  std::vector<std::byte> stored(static_cast<std::size_t>(control.size().value));
  CP_TRY(const std::size_t count, file.read_at(control.begin, stored));
  stored.resize(count);
  auto texts = read_control(stored, limits);
  if (!texts) {
    return in_part(std::move(texts).error(), layout.control.name);
  }
  auto package = formats::parse_deb_control(texts->control);
  if (!package) {
    return in_part(std::move(package).error(), "control");
  }
  auto sums = formats::parse_md5sums(texts->md5sums);
  if (!sums) {
    return in_part(std::move(sums).error(), "md5sums");
  }
  info.kind = BundleKind::deb;
  info.dialect = "Debian package " + layout.format;
  info.label = package->package + " " + package->version;
  info.driver = knowledge::parse_driver(package->upstream_version());
  info.cuda = cuda_of_package(package->package);
  info.arch = our_arch(package->architecture);
  info.payloads = {layout.data.content};
  for (const formats::Signature& one : layout.signatures) {
    info.signature += (info.signature.empty() ? "OpenPGP signature in " : ", ") + one.name;
  }
  info.signatures = layout.signatures;
  for (formats::DebSum& sum : *sums) {
    info.member_claims.emplace(sum.path.text(),
                               MemberClaim{DigestAlgorithm::md5, std::move(sum.md5)});
  }
  info.member_claims_origin = info.member_claims.empty() ? "" : "its md5sums";
  return Done{};
}

Result<Done> read_rpm(BundleInfo& info, std::span<const std::byte> head, const Limits& limits) {
  CP_TRY(formats::RpmHeader header, formats::parse_rpm_header(head, info.size, limits));
  info.kind = BundleKind::rpm;
  info.dialect = "RPM package";
  info.label = header.name + " " +
               (header.epoch ? std::to_string(*header.epoch) + ":" : std::string()) +
               header.version + "-" + header.release;
  info.driver = knowledge::parse_driver(header.version);
  info.cuda = cuda_of_package(header.name);
  info.arch = our_arch(header.arch);
  info.payloads = {header.payload};
  info.claims = std::move(header.claims);
  // The digest of the payload as it is unpacked is for those who have it no longer as it was
  // stored: rpm wants one of the two.
  if (!are_payloads_covered(info, info.claims)) {
    info.unpacked = std::move(header.unpacked);
  }
  for (const formats::Signature& one : header.signatures) {
    info.signature += (info.signature.empty() ? "" : ", ") + one.name;
  }
  info.signatures = std::move(header.signatures);
  for (const formats::RpmFile& file : header.files) {
    if (file.digest && file.type == formats::EntryType::file && !file.is_ghost) {
      info.member_claims.emplace(file.path.text(),
                                 MemberClaim{file.digest->algorithm, file.digest->digest});
    }
  }
  info.member_claims_origin = info.member_claims.empty() ? "" : "its header's list of files";
  info.unread_digests = std::move(header.unread_digests);
  info.rpm_files = std::move(header.files);
  return Done{};
}

bool looks_like_tar(std::span<const std::byte> head) {
  constexpr std::size_t kMagicAt = 257;
  const std::string_view text = as_text(head);
  return (text.size() > kMagicAt && text.substr(kMagicAt).starts_with("ustar")) ||
         formats::sniff_compression(head.first(std::min(head.size(), formats::kSniffSize))) !=
             formats::Compression::none;
}

void read_tar(BundleInfo& info) {
  info.kind = BundleKind::tar;
  info.dialect = "tar archive";
  info.payloads = {ByteRange{{0}, {info.size.value}}};
}

}  // namespace compatpack::pipeline
