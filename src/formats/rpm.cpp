// SPDX-License-Identifier: Apache-2.0
#include "compatpack/formats/rpm.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "compatpack/base/text.hpp"
#include "compatpack/formats/base64.hpp"

#include "rpm_index.hpp"

namespace compatpack::formats {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kLeadMagic = "\xed\xab\xee\xdb"sv;
constexpr std::size_t kLeadSize = 96;
constexpr std::size_t kLeadMajor = 4;
constexpr std::size_t kLeadType = 6;  // two bytes: 0 binary, 1 source
constexpr std::uint64_t kPadding = 8;

namespace tag {
constexpr std::uint32_t kSigDsaHeader = 267;
constexpr std::uint32_t kSigRsaHeader = 268;
constexpr std::uint32_t kSigSha1Header = 269;
constexpr std::uint32_t kSigLongSize = 270;
constexpr std::uint32_t kSigSha256Header = 273;
constexpr std::uint32_t kSigOpenPgp = 278;
constexpr std::uint32_t kSigSize = 1000;
constexpr std::uint32_t kSigPgp = 1002;
constexpr std::uint32_t kSigMd5 = 1004;
constexpr std::uint32_t kSigGpg = 1005;
constexpr std::uint32_t kSigPgp5 = 1006;

constexpr std::uint32_t kName = 1000;
constexpr std::uint32_t kVersion = 1001;
constexpr std::uint32_t kRelease = 1002;
constexpr std::uint32_t kEpoch = 1003;
constexpr std::uint32_t kArch = 1022;
constexpr std::uint32_t kOldFileNames = 1027;
constexpr std::uint32_t kFileSizes = 1028;
constexpr std::uint32_t kFileModes = 1030;
constexpr std::uint32_t kFileDigests = 1035;
constexpr std::uint32_t kFileLinkTos = 1036;
constexpr std::uint32_t kFileFlags = 1037;
constexpr std::uint32_t kFileDevices = 1095;
constexpr std::uint32_t kFileInodes = 1096;
constexpr std::uint32_t kSourcePackage = 1106;
constexpr std::uint32_t kDirIndexes = 1116;
constexpr std::uint32_t kBaseNames = 1117;
constexpr std::uint32_t kDirNames = 1118;
constexpr std::uint32_t kPayloadFormat = 1124;
constexpr std::uint32_t kPayloadCompressor = 1125;
constexpr std::uint32_t kLongFileSizes = 5008;
constexpr std::uint32_t kFileDigestAlgorithm = 5011;
constexpr std::uint32_t kPayloadDigest = 5092;
constexpr std::uint32_t kPayloadDigestAlgorithm = 5093;
constexpr std::uint32_t kPayloadDigestAlt = 5097;
constexpr std::uint32_t kPayloadSize = 5112;
constexpr std::uint32_t kPayloadSha512 = 5121;
}  // namespace tag

struct SignatureKind {
  std::uint32_t tag;
  bool covers_payload;
  std::string_view description;
};
// Those over the header first: they are enough, and need not read the payload.
constexpr std::array<SignatureKind, 6> kSignatures{{
    {tag::kSigOpenPgp, false, "OpenPGP, over the header"},
    {tag::kSigRsaHeader, false, "RSA, over the header"},
    {tag::kSigDsaHeader, false, "DSA, over the header"},
    {tag::kSigPgp, true, "RSA, over header and payload"},
    {tag::kSigGpg, true, "DSA, over header and payload"},
    {tag::kSigPgp5, true, "PGP 5, over header and payload"},
}};

constexpr std::uint64_t kFlagGhost = 1U << 6U;

constexpr std::uint64_t kModeBits = 07777;

/// rpm numbers digests as OpenPGP does.
struct AlgorithmId {
  std::uint64_t id;
  std::optional<DigestAlgorithm> algorithm;
  std::string_view name;
};
constexpr std::uint64_t kMd5Id = 1;
constexpr std::uint64_t kSha256Id = 8;
constexpr std::array<AlgorithmId, 9> kAlgorithms{{
    {kMd5Id, DigestAlgorithm::md5, "MD5"},
    {2, DigestAlgorithm::sha1, "SHA-1"},
    {3, std::nullopt, "RIPEMD-160"},
    {kSha256Id, DigestAlgorithm::sha256, "SHA-256"},
    {9, std::nullopt, "SHA-384"},
    {10, DigestAlgorithm::sha512, "SHA-512"},
    {11, std::nullopt, "SHA-224"},
    {12, std::nullopt, "SHA3-256"},
    {14, std::nullopt, "SHA3-512"},
}};

AlgorithmId algorithm_with(std::uint64_t id) {
  const auto* const it = std::find_if(kAlgorithms.begin(), kAlgorithms.end(),
                                      [id](const AlgorithmId& one) { return one.id == id; });
  return it == kAlgorithms.end() ? AlgorithmId{id, std::nullopt, "an unknown digest"} : *it;
}

Error corrupt_package(std::string what, ByteOffset at, std::string expected, std::string found) {
  return Error{.code = Errc::corrupt,
               .what = std::move(what),
               .at = at,
               .expected = std::move(expected),
               .found = std::move(found)};
}

Error unsupported(std::string what, ByteOffset at, std::string expected, std::string found) {
  Error error = corrupt_package(std::move(what), at, std::move(expected), std::move(found));
  error.code = Errc::unsupported;
  return error;
}

Result<RpmDigest> parse_digest(DigestAlgorithm algorithm, std::string_view text, ByteOffset at) {
  auto hex = parse_hex(text, hex_digits(algorithm));
  if (!hex) {
    return corrupt_package("package has a malformed digest", at,
                           std::to_string(hex_digits(algorithm)) + " hexadecimal digits of " +
                               std::string(name_of(algorithm)),
                           std::string(text));
  }
  return RpmDigest{algorithm, *std::move(hex)};
}

/// The list of files, put together from its columns.
class FileList {
 public:
  FileList(const RpmIndex& index, const Limits& limits) : index_(index), limits_(limits) {}

  Result<std::vector<RpmFile>> read() {
    CP_TRY(const auto paths, read_paths());
    count_ = paths.size();
    const bool has_long_sizes = index_.has(tag::kLongFileSizes);
    const std::uint32_t sizes_tag = has_long_sizes ? tag::kLongFileSizes : tag::kFileSizes;
    CP_TRY(const auto sizes, numbers(sizes_tag, Column::required));
    CP_TRY(const auto modes, numbers(tag::kFileModes, Column::required));
    CP_TRY(const auto flags, numbers(tag::kFileFlags, Column::optional));
    CP_TRY(const auto targets, texts(tag::kFileLinkTos));
    std::vector<RpmFile> files;
    std::set<std::string_view> seen;
    for (std::size_t i = 0; i < count_; ++i) {
      CP_TRY(RelPath path, parse_path(paths[i]));
      files.push_back({.path = std::move(path),
                       .type = type_of_mode(modes[i]),
                       .size = {sizes[i]},
                       .mode_bits = static_cast<std::uint32_t>(modes[i] & kModeBits)});
      files.back().is_ghost = !flags.empty() && (flags[i] & kFlagGhost) != 0;
      if (files.back().type == EntryType::symlink && !targets.empty()) {
        files.back().link_target = std::string(targets[i]);
      }
    }
    for (const RpmFile& file : files) {
      if (!seen.insert(file.path.text()).second) {
        return corrupt_package("package lists a file twice", names_at_, "each path once",
                               file.path.text());
      }
    }
    CP_CHECK(read_digests(files));
    CP_CHECK(find_hard_links(files));
    return files;
  }

  [[nodiscard]] const std::string& unread_digests() const { return unread_digests_; }

 private:
  enum class Column { required, optional };

  [[nodiscard]] Error wrong_count(std::uint32_t which, std::size_t found) const {
    return corrupt_package("package header contradicts itself", index_.at(which),
                           "tag " + std::to_string(which) + " with " + std::to_string(count_) +
                               " values, one for each file",
                           std::to_string(found));
  }

  [[nodiscard]] Result<std::vector<std::uint64_t>> numbers(std::uint32_t which,
                                                           Column column) const {
    CP_TRY(auto values, index_.numbers(which));
    if (!values && (column == Column::optional || count_ == 0)) {
      return std::vector<std::uint64_t>();
    }
    if (!values || values->size() != count_) {
      return wrong_count(which, values ? values->size() : 0);
    }
    return *std::move(values);
  }

  [[nodiscard]] Result<std::vector<std::string_view>> texts(std::uint32_t which) const {
    CP_TRY(auto values, index_.texts(which));
    if (!values) {
      return std::vector<std::string_view>();
    }
    if (values->size() != count_) {
      return wrong_count(which, values->size());
    }
    return *std::move(values);
  }

  [[nodiscard]] Error too_many(std::size_t found) const {
    return Error{.code = Errc::limit,
                 .what = "package lists too many files",
                 .at = names_at_,
                 .expected = "at most " + std::to_string(limits_.members),
                 .found = std::to_string(found)};
  }

  /// The full names, as the header has them.
  Result<std::vector<std::string>> read_paths() {
    std::vector<std::string> paths;
    if (!index_.has(tag::kBaseNames)) {
      names_at_ = index_.at(tag::kOldFileNames);
      CP_TRY(const auto names, index_.texts(tag::kOldFileNames));
      if (names && names->size() > limits_.members) {
        return too_many(names->size());
      }
      if (names) {
        paths.assign(names->begin(), names->end());
      }
      return paths;
    }
    names_at_ = index_.at(tag::kBaseNames);
    CP_TRY(const auto names, index_.texts(tag::kBaseNames));
    CP_TRY(const auto folders, index_.texts(tag::kDirNames));
    count_ = names->size();
    if (count_ > limits_.members) {
      return too_many(count_);
    }
    CP_TRY(const auto places, numbers(tag::kDirIndexes, Column::required));
    for (std::size_t i = 0; i < count_; ++i) {
      const std::string_view name = (*names)[i];
      if (!folders || places[i] >= folders->size()) {
        return corrupt_package("package header contradicts itself", index_.at(tag::kDirIndexes),
                               "an index below " + std::to_string(folders ? folders->size() : 0),
                               std::to_string(places[i]));
      }
      const std::string_view folder = (*folders)[static_cast<std::size_t>(places[i])];
      if (!folder.ends_with('/') || name.find('/') != std::string_view::npos) {
        return corrupt_package("package lists a file in a malformed way", names_at_,
                               "a folder with a slash at its end, and a name without one",
                               std::string(folder) + " and " + std::string(name));
      }
      paths.push_back(std::string(folder) + std::string(name));
    }
    return paths;
  }

  /// rpm's paths are absolute: what is inside is what follows the "/".
  [[nodiscard]] Result<RelPath> parse_path(const std::string& path) const {
    auto inside = path.starts_with('/') && !path.starts_with("/./")
                      ? RelPath::parse(path == "/" ? "./" : path.substr(1))
                      : Result<RelPath>(Error{.code = Errc::unsafe_path,
                                              .what = "package lists a path that is not absolute",
                                              .expected = "a path from / on",
                                              .found = path});
    if (!inside) {
      Error error = std::move(inside).error();
      error.at = names_at_;
      return error;
    }
    return inside;
  }

  Result<Done> read_digests(std::vector<RpmFile>& files) {
    CP_TRY(const auto id, index_.number(tag::kFileDigestAlgorithm));
    CP_TRY(const auto digests, texts(tag::kFileDigests));
    const AlgorithmId named = algorithm_with(id && *id != 0 ? *id : kMd5Id);
    for (std::size_t i = 0; i < digests.size(); ++i) {
      if (digests[i].empty() || files[i].type != EntryType::file) {
        continue;
      }
      if (!named.algorithm) {
        unread_digests_ = named.name;
        continue;
      }
      CP_TRY(files[i].digest,
             parse_digest(*named.algorithm, digests[i], index_.at(tag::kFileDigests)));
    }
    return Done{};
  }

  /// Names of one inode on one device. Size and digest are compared too: packers of old cut inodes
  /// of 64 bits to 32, so that different files may have the same.
  [[nodiscard]] Result<Done> find_hard_links(std::vector<RpmFile>& files) const {
    CP_TRY(const auto devices, numbers(tag::kFileDevices, Column::optional));
    CP_TRY(const auto inodes, numbers(tag::kFileInodes, Column::optional));
    if (devices.empty() || inodes.empty()) {
      return Done{};
    }
    using Key = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t, std::string_view>;
    std::map<Key, std::vector<std::size_t>> sets;
    for (std::size_t i = 0; i < files.size(); ++i) {
      const RpmFile& file = files[i];
      if (file.type == EntryType::file && !file.is_ghost) {
        const std::string_view digest = file.digest ? file.digest->digest : std::string_view();
        sets[{devices[i], inodes[i], file.size.value, digest}].push_back(i);
      }
    }
    for (const auto& [key, names] : sets) {
      for (const std::size_t name : names) {
        files[name].last_link = names.size() > 1 ? std::optional(names.back()) : std::nullopt;
      }
    }
    return Done{};
  }

  const RpmIndex& index_;
  const Limits& limits_;
  ByteOffset names_at_;
  std::size_t count_ = 0;
  std::string unread_digests_;
};

Result<Done> check_lead(std::span<const std::byte> head) {
  const std::string_view text = as_text(head);
  if (!is_rpm(head)) {
    return Error{.code = Errc::not_recognized,
                 .what = "not an rpm package",
                 .at = ByteOffset{0},
                 .expected = "ed ab ee db",
                 .found = std::string(text.substr(0, kLeadMagic.size()))};
  }
  if (head.size() < kLeadSize) {
    Error error = corrupt_package("package ends within its lead", {head.size()},
                                  std::to_string(kLeadSize) + " bytes", "end of file");
    error.hint = "the download is incomplete; fetch it again";
    return error;
  }
  const auto major = std::to_integer<unsigned>(head[kLeadMajor]);
  if (major != 3 && major != 4) {
    return unsupported("rpm package of a version that is not read", {kLeadMajor}, "3 or 4",
                       std::to_string(major));
  }
  if (head[kLeadType] != std::byte{0} || head[kLeadType + 1] != std::byte{0}) {
    return unsupported("a source package, or no package of programs at all", {kLeadType},
                       "a binary package, type 0",
                       std::to_string(std::to_integer<unsigned>(head[kLeadType + 1])));
  }
  return Done{};
}

Error wrong_size(ByteOffset at, std::uint64_t wanted, std::uint64_t found) {
  const bool cut = found < wanted;
  Error error =
      corrupt_package(cut ? "package is shorter than it says" : "package is longer than it says",
                      at, std::to_string(wanted) + " bytes", std::to_string(found));
  error.hint = cut ? "the download is incomplete; fetch it again"
                   : "something was appended to it, or it was changed in transit";
  return error;
}

/// What the signature says of header and payload.
Result<Done> read_signature(RpmHeader& header, const RpmIndex& index) {
  const ByteRange both{header.header.begin, header.payload.end};
  const bool is_long = index.has(tag::kSigLongSize);
  const std::uint32_t size_tag = is_long ? tag::kSigLongSize : tag::kSigSize;
  CP_TRY(const auto size, index.number(size_tag));
  if (size && *size != both.size().value) {
    return wrong_size(index.at(size_tag), *size, both.size().value);
  }
  const auto claim = [&](const RpmDigest& digest, ByteRange covers) {
    header.claims.push_back({digest.algorithm, digest.digest, covers, "its signature header"});
  };
  CP_TRY(const auto md5, index.binary(tag::kSigMd5));
  if (md5) {
    CP_TRY(const auto digest,
           parse_digest(DigestAlgorithm::md5, to_hex(*md5), index.at(tag::kSigMd5)));
    claim(digest, both);
  }
  for (const auto& [which, algorithm] : {std::pair{tag::kSigSha1Header, DigestAlgorithm::sha1},
                                         {tag::kSigSha256Header, DigestAlgorithm::sha256}}) {
    CP_TRY(const auto text, index.text(which));
    if (text) {
      CP_TRY(const auto digest, parse_digest(algorithm, *text, index.at(which)));
      claim(digest, header.header);
    }
  }
  return Done{};
}

/// Bytes that are stored as base64; empty if the text is none.
std::string from_base64(std::string_view text) {
  io::MemorySource source(as_bytes(text));
  Base64Source decoder(source);
  std::string bytes(std::min(text.size(), kSignatureMax + 1), '\0');
  const auto count = bytes.empty()
                         ? std::size_t{0}
                         : io::read_full(decoder, std::as_writable_bytes(std::span(bytes)));
  bytes.resize(count ? *count : 0);
  return bytes;
}

/// The signatures under one tag, as bytes. None where the entry is of another type or there twice:
/// that it is there is then all that can be said.
std::vector<std::string> signatures_under(const RpmIndex& index, std::uint32_t which) {
  std::vector<std::string> all;
  if (which == tag::kSigOpenPgp) {
    if (const auto texts = index.texts(which); texts && *texts) {
      std::transform((*texts)->begin(), (*texts)->end(), std::back_inserter(all), from_base64);
    }
  } else if (const auto bytes = index.binary(which); bytes && *bytes) {
    all.emplace_back(as_text(**bytes));
  }
  return all.empty() ? std::vector<std::string>(1) : all;
}

/// Whether digests in the header make all that the payload holds part of what the header says. The
/// one of the decompressed payload does not count: who decompresses only a part cannot check it.
bool says_payload(const RpmHeader& header) {
  const auto is_of_payload = [&header](const DigestClaim& claim) {
    return claim.covers == header.payload;
  };
  return std::any_of(header.claims.begin(), header.claims.end(), is_of_payload) ||
         std::all_of(header.files.begin(), header.files.end(), [](const RpmFile& file) {
           return file.digest || file.is_ghost || file.type != EntryType::file;
         });
}

/// Requires: the claims and the list of files are read.
void read_signatures(RpmHeader& header, const RpmIndex& index) {
  for (const SignatureKind& kind : kSignatures) {
    if (!index.has(kind.tag)) {
      continue;
    }
    const ByteRange covers{header.header.begin,
                           kind.covers_payload ? header.payload.end : header.header.end};
    for (std::string& bytes : signatures_under(index, kind.tag)) {
      std::string unfit;
      if (bytes.empty() || bytes.size() > kSignatureMax) {
        unfit = "it is malformed";
      } else if (!kind.covers_payload && !says_payload(header)) {
        unfit = "it is over the header, which has no digests of what the package holds";
      }
      header.signatures.push_back({.name = std::string(kind.description),
                                   .bytes = std::move(bytes),
                                   .covers = {covers},
                                   .unfit = std::move(unfit)});
    }
  }
}

/// What the header says of the payload.
Result<Done> read_payload_tags(RpmHeader& header, const RpmIndex& index) {
  CP_TRY(const auto format, index.text(tag::kPayloadFormat));
  if (format && *format != "cpio") {
    return unsupported("rpm package with a payload that is not read", index.at(tag::kPayloadFormat),
                       "cpio", std::string(*format));
  }
  CP_TRY(const auto compressor, index.text(tag::kPayloadCompressor));
  header.compressor = compressor.value_or("");
  CP_TRY(const auto size, index.number(tag::kPayloadSize));
  if (size && *size != header.payload.size().value) {
    return wrong_size(index.at(tag::kPayloadSize), *size, header.payload.size().value);
  }
  CP_TRY(const auto id, index.number(tag::kPayloadDigestAlgorithm));
  const auto algorithm = algorithm_with(id.value_or(kSha256Id)).algorithm;
  const auto claim = [&](const RpmDigest& digest) {
    header.claims.push_back({digest.algorithm, digest.digest, header.payload, "its header"});
  };
  CP_TRY(const auto stored, index.text(tag::kPayloadDigest));
  if (stored && algorithm) {
    CP_TRY(const auto digest, parse_digest(*algorithm, *stored, index.at(tag::kPayloadDigest)));
    claim(digest);
  }
  CP_TRY(const auto unpacked, index.text(tag::kPayloadDigestAlt));
  if (unpacked && algorithm) {
    CP_TRY(header.unpacked, parse_digest(*algorithm, *unpacked, index.at(tag::kPayloadDigestAlt)));
  }
  CP_TRY(const auto sha512, index.text(tag::kPayloadSha512));
  if (sha512) {
    CP_TRY(const auto digest,
           parse_digest(DigestAlgorithm::sha512, *sha512, index.at(tag::kPayloadSha512)));
    claim(digest);
  }
  return Done{};
}

/// Text that must be there, and must not be empty.
Result<std::string> required(const RpmIndex& index, std::uint32_t which, const char* name) {
  CP_TRY(const auto text, index.text(which));
  if (!text || text->empty()) {
    return corrupt_package("package does not say what it is", index.at(which),
                           std::string(name) + ", tag " + std::to_string(which), "none");
  }
  return std::string(*text);
}

Result<Done> read_names(RpmHeader& header, const RpmIndex& index) {
  CP_TRY(header.name, required(index, tag::kName, "a name"));
  CP_TRY(header.version, required(index, tag::kVersion, "a version"));
  CP_TRY(header.release, required(index, tag::kRelease, "a release"));
  CP_TRY(const auto epoch, index.number(tag::kEpoch));
  if (epoch) {
    header.epoch = static_cast<std::uint32_t>(*epoch);
  }
  CP_TRY(const auto arch, index.text(tag::kArch));
  header.arch = arch.value_or("");
  if (index.has(tag::kSourcePackage)) {
    return unsupported("a source package", index.at(tag::kSourcePackage), "a binary package",
                       header.name);
  }
  return Done{};
}

}  // namespace

bool is_rpm(std::span<const std::byte> head) { return as_text(head).starts_with(kLeadMagic); }

Result<RpmHeader> parse_rpm_header(std::span<const std::byte> head, ByteCount file_size,
                                   const Limits& limits) {
  CP_CHECK(check_lead(head));
  CP_TRY(const RpmIndex signature,
         RpmIndex::parse(head, {kLeadSize}, file_size, RpmIndexKind::signature));
  const std::uint64_t signature_end = signature.range().end.value;
  const ByteOffset begin{(signature_end + kPadding - 1) / kPadding * kPadding};
  CP_TRY(const RpmIndex index, RpmIndex::parse(head, begin, file_size, RpmIndexKind::header));

  RpmHeader header{.header = index.range(), .payload = {index.range().end, {file_size.value}}};
  CP_CHECK(read_names(header, index));
  CP_CHECK(read_signature(header, signature));
  CP_CHECK(read_payload_tags(header, index));
  FileList files(index, limits);
  CP_TRY(header.files, files.read());
  header.unread_digests = files.unread_digests();
  read_signatures(header, signature);
  return header;
}

}  // namespace compatpack::formats
