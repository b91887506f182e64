// SPDX-License-Identifier: Apache-2.0
#include "compatpack/pipeline/bundle.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "compatpack/base/text.hpp"
#include "compatpack/formats/base64.hpp"
#include "compatpack/formats/makeself.hpp"
#include "compatpack/io/digest.hpp"

namespace compatpack::pipeline {
namespace {

/// One source behind another.
class ChainedSource final : public io::Source {
 public:
  ChainedSource(std::span<const std::byte> first, io::Source& second)
      : first_(first), second_(second) {}

  Result<std::size_t> read(std::span<std::byte> into) override {
    CP_TRY(const std::size_t count, first_.read(into));
    if (count > 0) {
      return count;
    }
    return second_.read(into);
  }

 private:
  io::MemorySource first_;
  io::Source& second_;
};

struct Magic {
  std::string_view bytes;
  std::string_view description;
};

using namespace std::string_view_literals;

// What users have fed to unpackers in place of a bundle.
constexpr std::array<Magic, 12> kMagics{{
    {"\x7f"
     "ELF"sv,
     "an ELF program or library"},
    {"MZ"sv, "a Windows program"},
    {"!<arch>\n"sv, "a .deb package or another ar archive, which this version does not read"},
    {"\xed\xab\xee\xdb"sv, "an .rpm package, which this version does not read"},
    {"PK\x03\x04"sv, "a zip archive"},
    {"%PDF"sv, "a PDF document"},
    {"\x1f\x8b"sv, "a file compressed with gzip, not a bundle"},
    {"\xfd"
     "7zXZ"sv,
     "a file compressed with xz, not a bundle"},
    {"\x28\xb5\x2f\xfd"sv, "a file compressed with zstd, not a bundle"},
    {"BZh"sv, "a file compressed with bzip2, not a bundle"},
    {"<?xml"sv, "an XML document"},
    {"{"sv, "JSON text, perhaps a server's error message"},
}};

bool is_web_page(std::string_view head) {
  std::string start(trim(head.substr(0, 512)));
  std::transform(start.begin(), start.end(), start.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return start.starts_with("<!doctype") || start.starts_with("<html") ||
         start.find("<html") != std::string::npos;
}

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

/// NVIDIA's names of architectures, where they are not the ELF ones.
std::string arch_named(const std::string& name) { return name == "x86" ? "i386" : name; }

std::string sha256_of(std::span<const std::byte> bytes) {
  io::Digest digest(DigestAlgorithm::sha256);
  digest.update(bytes);
  return digest.finish();
}

void fill_from(BundleInfo& info, const formats::MakeselfHeader& header) {
  const bool nvidia = header.family == formats::MakeselfFamily::nvidia;
  info.kind = "run";
  info.dialect = nvidia ? "NVIDIA makeself" : "makeself";
  if (!header.generator.empty()) {
    info.dialect += " " + header.generator;
  }
  info.label = header.label;
  info.driver = DriverVersion::parse(header.version);
  info.arch = arch_named(header.target_arch);
  info.payloads = header.chunks;
  info.is_base64 = header.is_base64;
  info.is_signed = header.is_signed;
  info.claims = header.claims;
}

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

Error not_a_bundle(Error error, std::string_view head, ByteCount size) {
  std::string other = size.value == 0 ? "an empty file" : describe_other_file(head);
  if (!other.empty()) {
    error.found = std::move(other);
    error.hint =
        is_web_page(head) ? "the download gave a page in place of the file; fetch it again" : "";
  }
  error.what = "not a bundle that compatpack reads";
  error.expected = "an NVIDIA .run file, or another made by makeself";
  return error;
}

}  // namespace

std::string describe_other_file(std::string_view head) {
  if (is_web_page(head)) {
    return "a web page";
  }
  for (const Magic& magic : kMagics) {
    if (head.starts_with(magic.bytes)) {
      return std::string(magic.description);
    }
  }
  if (head.starts_with("#!")) {
    const bool gzexe = head.find("gztmp") != std::string_view::npos ||
                       head.find("gzexe") != std::string_view::npos;
    return gzexe ? "a program compressed with gzexe" : "a script that is no makeself bundle";
  }
  return {};
}

Result<std::unique_ptr<Bundle>> Bundle::open(const std::string& path, io::ReadObserver* observer,
                                             const Limits& limits) {
  CP_TRY(auto file, io::FileSource::open(path, observer));
  const ByteCount size = file->size();
  std::vector<std::byte> head(static_cast<std::size_t>(std::min(size.value, limits.header.value)));
  CP_TRY(const std::size_t count, io::read_full(*file, head));
  head.resize(count);

  BundleInfo info{.path = path, .name = base_name(path), .size = size, .kind = {}, .dialect = {}};
  auto header = formats::parse_makeself_header(head, size);
  if (!header) {
    Error error = std::move(header).error();
    if (error.code == Errc::not_recognized) {
      error = not_a_bundle(std::move(error), as_text(head), size);
    }
    error.subject = path;
    return error;
  }
  fill_from(info, *header);

  const std::size_t header_size = info.payloads.front().begin.value;
  const std::span<const std::byte> payload = std::span(head).subspan(header_size);
  if (auto checked = check_not_encrypted(as_text(payload), info.payloads.front().begin); !checked) {
    Error error = std::move(checked).error();
    error.subject = path;
    return error;
  }
  info.header_sha256 = sha256_of(std::span(head).first(header_size));
  info.is_base64 = info.is_base64 || formats::looks_like_base64(payload.first(
                                         std::min(payload.size(), formats::kBase64SniffSize)));
  info.compression =
      formats::sniff_compression(payload.first(std::min(payload.size(), formats::kSniffSize)));
  return std::unique_ptr<Bundle>(new Bundle(std::move(file), std::move(head), std::move(info)));
}

Bundle::Bundle(std::unique_ptr<io::FileSource> file, std::vector<std::byte> head, BundleInfo info)
    : file_(std::move(file)), head_(std::move(head)), info_(std::move(info)) {}

io::Source& Bundle::bytes() {
  bytes_ = std::make_unique<ChainedSource>(head_, *file_);
  return *bytes_;
}

}  // namespace compatpack::pipeline
