// SPDX-License-Identifier: Apache-2.0
#include "compatpack/formats/ar.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "compatpack/base/text.hpp"

namespace compatpack::formats {
namespace {

constexpr std::string_view kMagic = "!<arch>\n";
constexpr std::string_view kHeaderEnd = "`\n";
constexpr std::string_view kBsdName = "#1/";

struct Field {
  std::size_t at;
  std::size_t width;
};
constexpr Field kName{0, 16};
constexpr Field kSize{48, 10};
constexpr Field kEnd{58, 2};

constexpr std::string_view kFormatMember = "debian-binary";
constexpr std::string_view kControlMember = "control.tar";
constexpr std::string_view kDataMember = "data.tar";
constexpr std::array<std::string_view, 6> kSuffixes{"", ".gz", ".xz", ".zst", ".bz2", ".lzma"};

// As debsigs and dpkg-sig name them: _gpgorigin, _gpgmaint, _gpgbuilder.
constexpr std::string_view kSignatureStart = "_gpg";
constexpr std::string_view kClearSigned = "-----BEGIN PGP SIGNED MESSAGE-----";

// "2.0\n", and more lines that are ignored.
constexpr std::size_t kFormatMax = 64;

Error failed(Errc code, std::string what, ByteOffset at, std::string expected, std::string found) {
  return Error{.code = code,
               .what = std::move(what),
               .at = at,
               .expected = std::move(expected),
               .found = std::move(found)};
}

Error cut_short(std::string what, ByteOffset at, std::string expected, ByteCount file_size) {
  Error error = failed(Errc::corrupt, std::move(what), at, std::move(expected),
                       "end of file at byte " + std::to_string(file_size.value));
  error.hint = "the download is incomplete; fetch it again";
  return error;
}

std::string_view without_end(std::string_view text, char c) {
  return text.substr(0, text.find_last_not_of(c) + 1);
}

std::string_view field(std::string_view header, Field which) {
  return header.substr(which.at, which.width);
}

bool is_one_of_with_suffix(std::string_view name, std::string_view stem) {
  return name.starts_with(stem) &&
         std::find(kSuffixes.begin(), kSuffixes.end(), name.substr(stem.size())) != kSuffixes.end();
}

/// "2.0" of "2.0\n...", as dpkg reads it: two numbers with a dot between them, and a line end.
Result<std::string> parse_format(std::string_view text, ByteOffset at) {
  const std::string_view line = text.substr(0, text.find('\n'));
  const std::size_t dot = line.find('.');
  const bool is_version = line.size() < text.size() && dot != std::string_view::npos &&
                          parse_decimal(line.substr(0, dot)) && parse_decimal(line.substr(dot + 1));
  if (!is_version) {
    return failed(Errc::corrupt, "debian-binary is no version of a format", at,
                  "2.0 and a line end", std::string(text));
  }
  if (parse_decimal(line.substr(0, dot)) != 2) {
    return failed(Errc::unsupported, "Debian package of a format that is not read", at,
                  "format 2.x", std::string(line));
  }
  return std::string(line);
}

/// The members of a .deb as they come, and the rules on their order.
class DebReader {
 public:
  DebReader(ByteCount file_size, const ReadAt& read_at) : size_(file_size), read_at_(read_at) {}

  Result<DebLayout> read() {
    CP_CHECK(read_magic());
    ByteOffset at{kArMagicSize};
    for (std::size_t members = 0; at.value < size_.value; ++members) {
      if (members == kArMembersMax) {
        return failed(Errc::limit, "Debian package has too many members", at,
                      "at most " + std::to_string(kArMembersMax), "more");
      }
      CP_TRY(ArMember member, read_member(at));
      const ByteOffset next = member.next;
      CP_CHECK(members == 0 ? place_first(member, at) : place(std::move(member), at));
      at = next;
    }
    if (!control_ || !data_) {
      const std::string_view missing = !control_ ? kControlMember : kDataMember;
      return cut_short(
          "Debian package has no " + std::string(missing), {size_.value},
          layout_.format.empty() ? std::string(kFormatMember) : "a member " + std::string(missing),
          size_);
    }
    layout_.control = *std::move(control_);
    layout_.data = *std::move(data_);
    for (const ArMember& member : layout_.others) {
      if (member.name.starts_with(kSignatureStart)) {
        CP_CHECK(read_signature(member));
      }
    }
    return std::move(layout_);
  }

 private:
  Result<std::string> read_bytes(ByteOffset at, std::size_t most) {
    std::string bytes(
        static_cast<std::size_t>(std::min<std::uint64_t>(most, size_.value - at.value)), '\0');
    if (bytes.empty()) {
      return bytes;
    }
    CP_TRY(const std::size_t count, read_at_(at, std::as_writable_bytes(std::span(bytes))));
    bytes.resize(std::min(count, bytes.size()));
    return bytes;
  }

  Result<Done> read_magic() {
    CP_TRY(const std::string magic, read_bytes({0}, kArMagicSize));
    if (magic != kMagic) {
      return failed(Errc::not_recognized, "not a Debian package", {0}, "\"!<arch>\" and a line end",
                    magic);
    }
    return Done{};
  }

  Result<ArMember> read_member(ByteOffset at) {
    CP_TRY(const std::string bytes, read_bytes(at, kArHeaderSize + kArLongNameMax));
    return parse_ar_header(as_bytes(bytes), at, size_);
  }

  Result<Done> place_first(const ArMember& member, ByteOffset at) {
    if (member.name != kFormatMember) {
      return failed(Errc::not_recognized, "an ar archive, but not a Debian package", at,
                    "debian-binary as its first member", member.name);
    }
    CP_TRY(const std::string text,
           read_bytes(member.content.begin, static_cast<std::size_t>(std::min<std::uint64_t>(
                                                kFormatMax, member.content.size().value))));
    CP_TRY(layout_.format, parse_format(text, member.content.begin));
    format_ = member.content;
    return Done{};
  }

  Result<Done> place(ArMember member, ByteOffset at) {
    const std::string& name = member.name;
    const bool control = name.starts_with(kControlMember);
    const bool data = name.starts_with(kDataMember);
    if (name == kFormatMember || (control && control_) || (data && data_)) {
      return failed(Errc::corrupt, "Debian package holds a member twice", at,
                    "one " + std::string(control ? kControlMember
                                         : data  ? kDataMember
                                                 : kFormatMember),
                    name);
    }
    if (!control && !data) {
      return place_other(std::move(member), at);
    }
    if (data && !control_) {
      return premature(name, at);
    }
    if (!is_one_of_with_suffix(name, control ? kControlMember : kDataMember)) {
      return failed(Errc::unsupported, "Debian package is compressed in a way that is not read", at,
                    "a member in gz, xz, zst, bz2, lzma, or not compressed", name);
    }
    (control ? control_ : data_) = std::move(member);
    return Done{};
  }

  Result<Done> place_other(ArMember member, ByteOffset at) {
    // dpkg: names with an underscore are for programs that know them, others for those to come.
    if (!data_ && !member.name.starts_with('_')) {
      return premature(member.name, at);
    }
    layout_.others.push_back(std::move(member));
    return Done{};
  }

  Result<Done> read_signature(const ArMember& member) {
    Signature signature{.name = member.name,
                        .bytes = {},
                        .covers = {format_, layout_.control.content, layout_.data.content}};
    const std::uint64_t size = member.content.size().value;
    if (size == 0 || size > kSignatureMax) {
      signature.unfit = "it is malformed";
    } else {
      CP_TRY(signature.bytes, read_bytes(member.content.begin, static_cast<std::size_t>(size)));
      if (trim(signature.bytes).starts_with(kClearSigned)) {
        signature.unfit = "it is of a kind that is not checked, as dpkg-sig makes them";
      }
    }
    layout_.signatures.push_back(std::move(signature));
    return Done{};
  }

  [[nodiscard]] Error premature(const std::string& name, ByteOffset at) const {
    return failed(Errc::corrupt, "Debian package has a member out of its place", at,
                  std::string(control_ ? kDataMember : kControlMember), name);
  }

  ByteCount size_;
  const ReadAt& read_at_;
  DebLayout layout_{.control = {}, .data = {}};
  ByteRange format_;  // debian-binary
  std::optional<ArMember> control_;
  std::optional<ArMember> data_;
};

}  // namespace

bool is_ar(std::span<const std::byte> head) { return as_text(head).starts_with(kMagic); }

Result<ArMember> parse_ar_header(std::span<const std::byte> bytes, ByteOffset at,
                                 ByteCount file_size) {
  if (bytes.size() < kArHeaderSize) {
    return cut_short("ar archive ends within a member's header", at,
                     std::to_string(kArHeaderSize) + " bytes of header", file_size);
  }
  const std::string_view text = as_text(bytes);
  if (field(text, kEnd) != kHeaderEnd) {
    return failed(Errc::corrupt, "ar archive has a damaged member header", {at.value + kEnd.at},
                  "a grave accent and a line end", std::string(field(text, kEnd)));
  }
  const std::string_view size_text = field(text, kSize);
  const auto size = parse_decimal(without_end(size_text, ' '));
  if (!size) {
    return failed(Errc::corrupt, "ar archive has a malformed size", {at.value + kSize.at},
                  "decimal digits", std::string(size_text));
  }
  const std::uint64_t begin = at.value + kArHeaderSize;
  if (begin > file_size.value || *size > file_size.value - begin) {
    return cut_short("ar archive ends within a member", {at.value + kSize.at},
                     "a member of " + std::to_string(*size) + " bytes", file_size);
  }
  const std::uint64_t end = begin + *size;
  ArMember member{.name = {},
                  .content = {{begin}, {end}},
                  .next = {std::min(end + *size % 2, file_size.value)}};

  std::string_view name = without_end(field(text, kName), ' ');
  if (name.starts_with(kBsdName)) {
    const auto length = parse_decimal(name.substr(kBsdName.size()));
    if (!length || *length > *size) {
      return failed(Errc::corrupt, "ar archive has a malformed name", at,
                    "a length of at most " + std::to_string(*size), std::string(name));
    }
    if (*length > kArLongNameMax) {
      return failed(Errc::limit, "ar archive has a name that is too long", at,
                    "at most " + std::to_string(kArLongNameMax) + " bytes", std::string(name));
    }
    name = text.substr(kArHeaderSize, static_cast<std::size_t>(*length));
    if (name.size() < *length) {
      return cut_short("ar archive ends within a name", at,
                       std::to_string(*length) + " bytes of name", file_size);
    }
    name = without_end(name, '\0');  // BSD ar fills it up to keep the content aligned
    member.content.begin.value += *length;
  } else if (name.size() > 1 && name.front() == '/' && name != "//") {
    return failed(Errc::unsupported, "ar archive has names in a table", at,
                  "the name of a Debian package's member", std::string(name));
  } else if (name.size() > 1) {
    name.remove_suffix(name.back() == '/' ? 1 : 0);
  }
  if (name.empty()) {
    return failed(Errc::corrupt, "ar archive has a member without a name", at, "a name",
                  std::string(field(text, kName)));
  }
  member.name = std::string(name);
  return member;
}

Result<DebLayout> plan_deb(ByteCount file_size, const ReadAt& read_at) {
  return DebReader(file_size, read_at).read();
}

}  // namespace compatpack::formats
