// SPDX-License-Identifier: Apache-2.0
#include "support/run_file.hpp"

#include <algorithm>
#include <stdexcept>

#include <openssl/evp.h>

namespace compatpack::test {
namespace {

// Stands for a line count until the header is whole; it holds no new line, so it counts as one.
constexpr std::string_view kLineCount = "@LINES@";

constexpr std::string_view kNoCrc = "0000000000";
const std::string kNoMd5(32, '0');
const std::string kNoSha(64, '0');

std::string hex_digest(std::string_view bytes, const EVP_MD* algorithm) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  if (EVP_Digest(bytes.data(), bytes.size(), digest, &size, algorithm, nullptr) != 1) {
    throw std::runtime_error("EVP_Digest");
  }
  std::string hex;
  for (unsigned int i = 0; i < size; ++i) {
    hex += "0123456789abcdef"[digest[i] >> 4U];
    hex += "0123456789abcdef"[digest[i] & 15U];
  }
  return hex;
}

std::size_t count_lines(std::string_view text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

/// Offset of line `line`, counted from 1.
std::size_t line_start(std::string_view text, std::size_t line) {
  std::size_t at = 0;
  for (; line > 1 && at < text.size(); --line) {
    at = std::min(text.find('\n', at), text.size() - 1) + 1;
  }
  return at;
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
}

std::string quoted(std::string_view text) { return "\"" + std::string(text) + "\""; }

/// `text` as makeself escapes it for a place between double quotes.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\' || c == '"' || c == '`' || c == '$') {
      out += '\\';
    }
    out += c;
  }
  return out;
}

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) {
    out += (out.empty() ? "" : " ") + word;
  }
  return out;
}

/// The lines of a header while it is put together, with the changes that a test asked for.
class HeaderLines {
 public:
  explicit HeaderLines(const RunChanges& changes) : changes_(changes) {}

  void line(std::string_view text) { text_ += std::string(text) + "\n"; }

  void field(const std::string& name, std::string raw) {
    for (const auto& [before, inserted] : changes_.inserted) {
      if (before == name) {
        line(inserted);
      }
    }
    if (std::find(changes_.removed.begin(), changes_.removed.end(), name) !=
        changes_.removed.end()) {
      return;
    }
    for (const auto& [changed, value] : changes_.fields) {
      if (changed == name) {
        raw = value;
      }
    }
    line(name + "=" + raw);
  }

  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  const RunChanges& changes_;
  std::string text_;
};

/// Puts the file together and makes the changes that no sum is to know of.
RunFile finish(std::string header, std::string payload, const RunChanges& changes) {
  RunFile file{.bytes = std::move(header), .payload_start = {}, .payload_size = {payload.size()}};
  if (changes.flipped) {
    payload.at(*changes.flipped) = static_cast<char>(~payload.at(*changes.flipped));
  }
  file.payload_start = {file.bytes.size()};
  file.bytes += payload;
  file.bytes += changes.trailing;
  if (changes.crlf) {
    const auto before =
        count_lines(std::string_view(file.bytes).substr(0, file.payload_start.value));
    file.payload_start.value += before;
    replace_all(file.bytes, "\n", "\r\n");
  }
  return file;
}

constexpr std::string_view kHeaderOrigin = "its header";

// NVIDIA's script ------------------------------------------------------------------------------

/// Checks its own sums and stops. `@FROM@` is the line from which they count.
constexpr std::string_view kNvidiaCheck = R"(
if [ "$1" = "--check" ]; then
    sum=`tail -n +@FROM@ $0 | cksum | sed -e 's/ .*//'`
    if [ "$sum" != "$CRCsum" ]; then
        echo "CRC differs: $sum" >&2
        exit 2
    fi
    sum=`tail -n +@FROM@ $0 | md5sum | cut -b-32`
    if [ "$sum" != "$MD5" ]; then
        echo "MD5 differs: $sum" >&2
        exit 2
    fi
    echo "sums hold"
    exit 0
fi
)";

constexpr std::string_view kNvidiaInfo = R"(
if [ "$1" = "--info" ]; then
    echo "Identification    : $label"
    echo "Target directory  : $targetdir"
    echo "Uncompressed size : @KILOBYTES@ KB"
    echo "Compression       : @COMPRESSION@"
    exit 0
fi
if [ "$1" = "--payload" ]; then
    tail -n +$skip "$0"
    exit 0
fi
echo "a bundle made for a test; it installs nothing" >&2
exit 1
)";

// Upstream's script ----------------------------------------------------------------------------

constexpr std::string_view kUmaskBlock = R"(
ORIG_UMASK=`umask`
if test "n" = n; then
    umask 077
fi
)";

constexpr std::string_view kUpstreamBody = R"(
print_cmd_arg=""
if test "$1" = "--info"; then
    echo "Identification: $label"
    echo "Compression: @COMPRESSION@"
    exit 0
fi
@OFFSET@
if test "$1" = "--check"; then
    for size in $filesizes; do
        sum=`tail -c +\`expr $offset + 1\` "$0" | head -c $size | md5sum | cut -b-32`
        case " $MD5 " in
            *" $sum "*) ;;
            *) echo "MD5 differs: $sum" >&2; exit 2 ;;
        esac
        offset=`expr $offset + $size`
    done
    echo "sums hold"
    exit 0
fi
echo "a bundle made for a test; it installs nothing" >&2
exit 1
)";

/// The banner of a release of `era`.
std::string_view banner_of(MakeselfEra era) {
  switch (era) {
    case MakeselfEra::v1_5:
      return "1.5.5";
    case MakeselfEra::v2_0:
      return "2.0.1";
    case MakeselfEra::v2_1:
      return "2.1.4";
    case MakeselfEra::v2_3:
      return "2.3.1";
    case MakeselfEra::v2_4_0:
      return "2.4.0";
    case MakeselfEra::v2_4_2:
      return "2.4.2";
    case MakeselfEra::v2_4_3:
      return "2.4.3";
    case MakeselfEra::v2_4_5:
      return "2.4.5";
    case MakeselfEra::v2_5:
    case MakeselfEra::v2_6:  // 2.6.0 still names itself 2.5.0
      return "2.5.0";
    case MakeselfEra::v2_7:
      return "2.7.1";
  }
  return "";
}

}  // namespace

std::string reference_cksum(std::string_view bytes) {
  std::uint32_t crc = 0;
  const auto feed = [&crc](std::uint32_t byte) {
    for (std::uint32_t bit = 0x80; bit != 0; bit >>= 1U) {
      const bool carry = ((crc >> 31U) != 0) != ((byte & bit) != 0);
      crc = crc << 1U ^ (carry ? 0x04C1'1DB7U : 0U);
    }
  };
  for (const char c : bytes) {
    feed(static_cast<unsigned char>(c));
  }
  for (std::size_t length = bytes.size(); length != 0; length >>= 8U) {
    feed(static_cast<std::uint32_t>(length & 0xFFU));
  }
  return std::to_string(~crc);
}

std::string reference_md5(std::string_view bytes) { return hex_digest(bytes, EVP_md5()); }

std::string reference_sha256(std::string_view bytes) { return hex_digest(bytes, EVP_sha256()); }

std::string base64_lines(std::string_view bytes) {
  constexpr std::size_t kBytesPerLine = 57;  // 76 characters, as base64(1) breaks them
  std::string out;
  for (; !bytes.empty(); bytes.remove_prefix(std::min(kBytesPerLine, bytes.size()))) {
    const std::string_view part = bytes.substr(0, kBytesPerLine);
    unsigned char line[80];
    const int size = EVP_EncodeBlock(line, reinterpret_cast<const unsigned char*>(part.data()),
                                     static_cast<int>(part.size()));
    out.append(reinterpret_cast<const char*>(line), static_cast<std::size_t>(size));
    out += '\n';
  }
  return out;
}

NvidiaRun& NvidiaRun::with_version(std::string version) {
  version_ = std::move(version);
  return *this;
}

NvidiaRun& NvidiaRun::with_arch(std::string arch) {
  arch_ = std::move(arch);
  return *this;
}

NvidiaRun& NvidiaRun::with_label(std::string label) {
  label_ = std::move(label);
  return *this;
}

NvidiaRun& NvidiaRun::with_generator(std::string word) {
  generator_ = std::move(word);
  return *this;
}

NvidiaRun& NvidiaRun::with_program(std::string bytes) {
  program_ = std::move(bytes);
  return *this;
}

NvidiaRun& NvidiaRun::with_compression(std::string name) {
  compression_ = std::move(name);
  return *this;
}

NvidiaRun& NvidiaRun::with_summed_from(std::size_t line) {
  summed_from_ = line;
  return *this;
}

NvidiaRun& NvidiaRun::without_check_commands() {
  check_commands_ = false;
  return *this;
}

RunFile NvidiaRun::build() const {
  const bool oldest = layout_ == NvidiaLayout::a;
  const std::string label =
      label_.value_or("NVIDIA Accelerated Graphics Driver for Linux-" + arch_ + " " + version_);
  // The program ends on a line of its own, and that new line is counted with it.
  const std::string program = oldest || program_.empty() ? "" : program_ + "\n";
  const std::size_t summed_from = summed_from_.value_or(oldest ? 6 : 4);

  HeaderLines lines(changes_);
  lines.line("#! /bin/sh");
  if (oldest) {
    lines.field("skip", std::string(kLineCount));
  }
  lines.field("CRCsum", "@CRC@");
  lines.field("MD5", "@MD5@");
  if (!oldest) {
    lines.field("skip", "@SKIP@");
    lines.field("skip_decompress", std::string(kLineCount));
    lines.field("size_decompress", std::to_string(count_lines(program)));
  }
  lines.field("label", quoted(label));
  lines.field("version_string", version_);
  lines.field("pkg_version", "1");
  lines.field("script", "./nvidia-installer");
  lines.field("targetdir", "NVIDIA-Linux-" + arch_ + "-" + version_);
  lines.field("scriptargs", "\"\"");
  lines.field("keep", "n");
  lines.field("add_this_kernel", "n");
  lines.field("apply_patch", "n");
  lines.field("TMPROOT", "${TMPDIR:=/tmp}");
  lines.field("TARGET_OS", "\"Linux\"");
  lines.field("TARGET_ARCH", quoted(arch_));
  lines.line("");
  lines.line("#");
  lines.line("# " + label);
  lines.line("# Generated by Makeself " + generator_.value_or(oldest ? "1.6.0-nv" : "1.6.0-nv9"));
  lines.line("#");
  std::string header = lines.take();
  if (check_commands_) {
    header += kNvidiaCheck;
  }
  header += kNvidiaInfo;

  const std::size_t program_line = count_lines(header) + 1;
  replace_all(header, kLineCount, std::to_string(program_line));
  replace_all(header, "@SKIP@", std::to_string(program_line + count_lines(program)));
  replace_all(header, "@FROM@", std::to_string(summed_from));
  replace_all(header, "@COMPRESSION@", compression_);
  replace_all(header, "@KILOBYTES@", std::to_string(payload_.size() / 1024));
  header += program;

  // Everything summed is settled by now, unless a change has moved the sums' own lines into it.
  const std::string summed = header.substr(line_start(header, summed_from)) + payload_;
  const std::string crc = changes_.crc.value_or(reference_cksum(summed));
  const std::string md5 = changes_.md5.value_or(reference_md5(summed));
  const bool claims_crc = header.find("@CRC@") != std::string::npos && crc != kNoCrc;
  const bool claims_md5 = header.find("@MD5@") != std::string::npos && md5 != kNoMd5;
  replace_all(header, "@CRC@", crc);
  replace_all(header, "@MD5@", md5);

  const ByteRange covers{{line_start(header, summed_from)}, {}};
  RunFile file = finish(std::move(header), payload_, changes_);
  const auto claim = [&](DigestAlgorithm algorithm, const std::string& digest) {
    file.claims.push_back(
        {algorithm, digest, {covers.begin, {file.bytes.size()}}, std::string(kHeaderOrigin)});
  };
  if (claims_crc) {
    claim(DigestAlgorithm::cksum, crc);
  }
  if (claims_md5) {
    claim(DigestAlgorithm::md5, md5);
  }
  return file;
}

UpstreamRun& UpstreamRun::with_chunk(std::string payload) {
  chunks_.push_back(std::move(payload));
  return *this;
}

UpstreamRun& UpstreamRun::with_label(std::string label) {
  label_ = std::move(label);
  return *this;
}

UpstreamRun& UpstreamRun::with_licence(std::string text) {
  licence_ = escaped(text);
  return *this;
}

UpstreamRun& UpstreamRun::with_raw_licence(std::string text) {
  licence_ = std::move(text);
  return *this;
}

UpstreamRun& UpstreamRun::with_banner(std::string version) {
  banner_ = std::move(version);
  return *this;
}

UpstreamRun& UpstreamRun::with_sha256() {
  sha256_ = true;
  return *this;
}

UpstreamRun& UpstreamRun::with_base64() {
  base64_ = true;
  return *this;
}

UpstreamRun& UpstreamRun::with_compression(std::string name) {
  compression_ = std::move(name);
  return *this;
}

RunFile UpstreamRun::build() const {
  const auto since = [this](MakeselfEra era) { return era_ >= era; };
  const bool lists = since(MakeselfEra::v2_1);  // quoted, one word a chunk
  std::vector<std::string> chunks = chunks_;
  std::string payload;
  std::vector<std::string> sizes;
  std::vector<std::string> crcs;
  std::vector<std::string> md5s;
  std::vector<std::string> shas;
  for (std::string& chunk : chunks) {
    if (base64_) {
      chunk = base64_lines(chunk);
    }
    payload += chunk;
    sizes.push_back(std::to_string(chunk.size()));
    crcs.push_back(reference_cksum(chunk));
    md5s.push_back(reference_md5(chunk));
    shas.push_back(sha256_ ? reference_sha256(chunk) : kNoSha);
  }
  const auto word = [lists](std::string_view text) {
    return lists ? quoted(text) : std::string(text);
  };
  const std::string banner(banner_.value_or(std::string(banner_of(era_))));

  HeaderLines lines(changes_);
  lines.line(era_ == MakeselfEra::v1_5 ? "#! /bin/sh" : "#!/bin/sh");
  if (era_ == MakeselfEra::v1_5) {
    lines.field("skip", "@SKIP@");
  } else {
    lines.line("# This script was generated using Makeself " + banner);
  }
  if (since(MakeselfEra::v2_4_2)) {
    lines.line("# The licence of what is packed here has nothing to do with Makeself's own.");
  }
  if (since(MakeselfEra::v2_3)) {
    lines.line(kUmaskBlock);
  }
  lines.field("CRCsum", changes_.crc ? *changes_.crc : word("@CRC@"));
  lines.field("MD5", changes_.md5 ? *changes_.md5 : word("@MD5@"));
  if (since(MakeselfEra::v2_4_0)) {
    lines.field("SHA", changes_.sha ? *changes_.sha : word(joined(shas)));
  }
  if (since(MakeselfEra::v2_4_5)) {
    lines.field("SIGNATURE", "\"\"");
  }
  lines.field("TMPROOT", "${TMPDIR:=/tmp}");
  if (since(MakeselfEra::v2_4_2)) {
    lines.field("USER_PWD", "\"$PWD\"");
    lines.line("export USER_PWD");
    lines.field("ARCHIVE_DIR", "`dirname \"$0\"`");
    lines.line("export ARCHIVE_DIR");
  }
  if (since(MakeselfEra::v2_7)) {
    lines.field("ARCHIVE_NAME", "`basename \"$0\"`");
    lines.line("export ARCHIVE_NAME");
  }
  lines.line("");
  lines.field("label", quoted(label_));
  lines.field("script", word("./setup.sh"));
  lines.field("scriptargs", "\"\"");
  if (since(MakeselfEra::v2_4_2)) {
    lines.field("cleanup_script", "\"\"");
  }
  if (since(MakeselfEra::v2_1)) {
    lines.field("licensetxt", quoted(licence_));
  }
  if (since(MakeselfEra::v2_3)) {
    lines.field("helpheader", since(MakeselfEra::v2_5) ? "\"\"" : "''");
  }
  if (since(MakeselfEra::v2_6)) {
    lines.field("preextract", "\"\"");
  }
  lines.field("targetdir", word("bundle"));
  if (lists) {
    lines.field("filesizes", quoted(joined(sizes)));
  }
  if (since(MakeselfEra::v2_4_3)) {
    lines.field("totalsize", quoted(std::to_string(payload.size())));
  }
  lines.field("keep", word("n"));
  if (since(MakeselfEra::v2_3)) {
    lines.field("nooverwrite", "\"n\"");
  }
  lines.field("quiet", word("n"));
  if (since(MakeselfEra::v2_3)) {
    lines.field("accept", "\"n\"");
    lines.field("nodiskspace", "\"n\"");
    lines.field("export_conf", "\"n\"");
  }
  if (since(MakeselfEra::v2_4_2)) {
    const bool layer = base64_ && since(MakeselfEra::v2_7);
    lines.field("decrypt_cmd", layer ? "\"base64 -d -i -\"" : "\"\"");
    lines.field("skip", quoted(kLineCount));
  }
  if (era_ == MakeselfEra::v1_5) {
    lines.line("# Generated by Makeself " + banner);
  }
  std::string header = lines.take();
  header += kUpstreamBody;
  replace_all(header, "@COMPRESSION@", base64_ ? "base64" : compression_);
  replace_all(header, "@OFFSET@", [&] {
    switch (era_) {
      case MakeselfEra::v1_5:
        return "offset=`tail -n +$skip \"$0\" | wc -c`";
      case MakeselfEra::v2_0:
        return "test \"$1\" = \"--payload\" && tail +@SKIP@ \"$0\"";
      case MakeselfEra::v2_1:
      case MakeselfEra::v2_3:
      case MakeselfEra::v2_4_0:
        return "offset=`head -n @LINES@ \"$0\" | wc -c | tr -d \" \"`";
      default:
        return "offset=`head -n \"$skip\" \"$0\" | wc -c | tr -d \" \"`";
    }
  }());
  replace_all(header, kLineCount, std::to_string(count_lines(header)));
  replace_all(header, "@SKIP@", std::to_string(count_lines(header) + 1));

  // Makeself 1.5 sums from line 6 on, as NVIDIA's layout A; all later releases sum each chunk.
  const bool whole = era_ == MakeselfEra::v1_5;
  const std::string summed = whole ? header.substr(line_start(header, 6)) + payload : "";
  const auto sums = [&](const std::vector<std::string>& each,
                        std::string (*one)(std::string_view)) {
    return whole ? std::vector<std::string>{one(summed)} : each;
  };
  crcs = sums(crcs, reference_cksum);
  md5s = sums(md5s, reference_md5);
  replace_all(header, "@CRC@", joined(crcs));
  replace_all(header, "@MD5@", joined(md5s));
  const std::size_t covered_from = whole ? line_start(header, 6) : header.size();
  RunFile file = finish(std::move(header), payload, changes_);

  std::size_t begin = covered_from;
  for (std::size_t i = 0; i < crcs.size(); ++i) {
    const std::size_t end = whole ? file.bytes.size() : begin + chunks[i].size();
    const auto claim = [&](DigestAlgorithm algorithm, const std::string& digest) {
      file.claims.push_back({algorithm, digest, {{begin}, {end}}, std::string(kHeaderOrigin)});
    };
    if (!changes_.crc) {
      claim(DigestAlgorithm::cksum, crcs[i]);
    }
    if (!changes_.md5) {
      claim(DigestAlgorithm::md5, md5s[i]);
    }
    if (!changes_.sha && sha256_ && since(MakeselfEra::v2_4_0)) {
      claim(DigestAlgorithm::sha256, shas[i]);
    }
    begin = end;
  }
  return file;
}

}  // namespace compatpack::test
