// SPDX-License-Identifier: Apache-2.0
#include "compatpack/formats/decoder.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <utility>

#include "compatpack/formats/codec.hpp"

namespace compatpack::formats {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kEndOfFile = "end of file";

struct Magic {
  std::string_view bytes;
  Compression compression;
};

// bzip2's goes on with a digit, lzma's with numbers, and the frame to be skipped is not here.
constexpr std::array kMagics = {
    Magic{"\x1f\x8b"sv, Compression::gzip},
    Magic{"\xfd\x37\x7a\x58\x5a\x00"sv, Compression::xz},
    Magic{"\x28\xb5\x2f\xfd"sv, Compression::zstd},
    Magic{"BZh"sv, Compression::bzip2},
    Magic{"\x04\x22\x4d\x18"sv, Compression::lz4},
    Magic{"\x02\x21\x4c\x18"sv,
          Compression::lz4},  // before frames; named so that it can be refused
    Magic{"\x1f\x9d"sv, Compression::compress},
    Magic{"\x89LZO\x00\x0d\x0a\x1a\x0a"sv, Compression::lzop},
    Magic{"LZIP"sv, Compression::lzip},
    Magic{"BZ3v1"sv, Compression::bzip3},
};

// Bytes 1 to 3 of the magic number of a frame to be skipped; byte 0 is 0x50 to 0x5f.
constexpr std::string_view kSkippedTail = "\x2a\x4d\x18"sv;

std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i > 0; --i) {
    value = value << 8U | static_cast<unsigned char>(bytes[i - 1]);
  }
  return value;
}

bool is_skipped_frame(std::string_view head) {
  return head.size() >= 4 && (static_cast<unsigned char>(head[0]) & 0xf0U) == 0x50U &&
         head.substr(1, 3) == kSkippedTail;
}

/// lzma has no magic number. The first byte is that of the settings which every encoder uses unless
/// told otherwise; the two numbers are held to what xz accepts: a dictionary of 2^n or 2^n +
/// 2^(n-1) bytes, and a size, if one is given, below 256 GiB.
bool is_lzma(std::string_view head) {
  constexpr std::size_t kHeaderSize = 13;
  if (head.size() < kHeaderSize || head[0] != '\x5d') {
    return false;
  }
  const std::uint64_t dictionary = little_endian(head.substr(1, 4));
  const std::uint64_t size = little_endian(head.substr(5, 8));
  const bool round = std::has_single_bit(dictionary) ||
                     (dictionary % 3 == 0 && std::has_single_bit(dictionary / 3));
  return round && (size < (std::uint64_t{256} << 30U) || size == ~std::uint64_t{0});
}

Compression sniff(std::string_view head) {
  if (is_skipped_frame(head)) {
    while (is_skipped_frame(head) && head.size() >= 8) {
      const std::uint64_t frame = 8 + little_endian(head.substr(4, 4));
      head.remove_prefix(static_cast<std::size_t>(std::min<std::uint64_t>(frame, head.size())));
    }
    return head.starts_with("\x04\x22\x4d\x18"sv) ? Compression::lz4 : Compression::zstd;
  }
  for (const Magic& magic : kMagics) {
    if (head.starts_with(magic.bytes)) {
      const bool digit = head.size() > 3 && head[3] >= '1' && head[3] <= '9';
      return magic.compression == Compression::bzip2 && !digit ? Compression::none
                                                               : magic.compression;
    }
  }
  return is_lzma(head) ? Compression::lzma : Compression::none;
}

/// Whether the rest of the input, `head`, is the beginning of a magic number and no more.
bool is_cut_magic(std::string_view head, Compression compression) {
  if (head.empty() || head.size() >= kSniffSize) {
    return false;
  }
  if (compression == Compression::zstd || compression == Compression::lz4) {
    const bool skipped = (static_cast<unsigned char>(head[0]) & 0xf0U) == 0x50U;
    if (skipped && kSkippedTail.starts_with(head.substr(1))) {
      return true;
    }
  }
  return std::any_of(kMagics.begin(), kMagics.end(), [&](const Magic& magic) {
    return magic.compression == compression && head.size() <= magic.bytes.size() &&
           magic.bytes.starts_with(head);
  });
}

bool starts_stream(std::string_view head, Compression compression) {
  if (compression == Compression::lz4 && is_skipped_frame(head)) {
    return true;
  }
  const bool one_stream_only =
      compression == Compression::lzma || compression == Compression::compress;
  return !one_stream_only && sniff(head) == compression;
}

Error cut_short(Compression compression) {
  return Error{.code = Errc::corrupt,
               .what = std::string(name_of(compression)) + " stream ends early",
               .expected = "the rest of the stream",
               .found = std::string(kEndOfFile)};
}

Error trailing_bytes(Compression compression, std::string_view head) {
  return Error{.code = Errc::corrupt,
               .what = "something follows the " + std::string(name_of(compression)) + " stream",
               .expected = "another such stream, or the end",
               .found = std::string(head.substr(0, 16))};
}

Result<std::unique_ptr<Codec>> make_codec(Compression compression, const DecoderOptions& options) {
  switch (compression) {
    case Compression::none:
      return std::unique_ptr<Codec>();
    case Compression::gzip:
      return make_gzip_codec();
    case Compression::xz:
    case Compression::lzma:
      return make_xz_codec(compression, options);
    case Compression::zstd:
      return make_zstd_codec(options);
    case Compression::bzip2:
      return make_bzip2_codec();
    case Compression::lz4:
      return make_lz4_codec();
    case Compression::compress:
      return make_compress_codec();
    case Compression::lzop:
    case Compression::lzip:
    case Compression::bzip3:
      break;
  }
  return Error{
      .code = Errc::unsupported,
      .what = "compressed with " + std::string(name_of(compression)) + ", which is not read",
      .expected = "gzip, xz, lzma, zstd, bzip2, lz4, compress, or no compression",
      .found = std::string(name_of(compression)),
      .hint = "decompress it with " + std::string(name_of(compression)) +
              " -d, and pack it again with one of these"};
}

}  // namespace

std::string_view name_of(Compression compression) {
  switch (compression) {
    case Compression::none:
      return "none";
    case Compression::gzip:
      return "gzip";
    case Compression::xz:
      return "xz";
    case Compression::lzma:
      return "lzma";
    case Compression::zstd:
      return "zstd";
    case Compression::bzip2:
      return "bzip2";
    case Compression::lz4:
      return "lz4";
    case Compression::compress:
      return "compress";
    case Compression::lzop:
      return "lzop";
    case Compression::lzip:
      return "lzip";
    case Compression::bzip3:
      return "bzip3";
  }
  return "";
}

Compression sniff_compression(std::span<const std::byte> head) { return sniff(as_text(head)); }

bool ends_early(const Error& error) {
  return error.code == Errc::corrupt && error.found == kEndOfFile;
}

Decoder::Decoder(std::unique_ptr<CodecInput> input, std::unique_ptr<Codec> codec,
                 Compression compression)
    : input_(std::move(input)), codec_(std::move(codec)), compression_(compression) {}

Decoder::~Decoder() = default;

/// `error` with its place, which so far counts from where the codec was, in the compressed bytes.
Error Decoder::placed(Error error) const {
  error.at = ByteOffset{input_->at().value + error.at.value_or(ByteOffset{}).value};
  error.stream = "the compressed payload";
  return error;
}

Result<std::size_t> Decoder::read(std::span<std::byte> into) {
  if (failure_) {
    return *failure_;
  }
  if (state_ == State::ended) {
    return std::size_t{0};
  }
  auto got = codec_ ? decode(into) : copy(into);
  if (!got) {
    failure_ = got.error();
  } else if (*got == 0) {
    state_ = State::ended;
  }
  return got;
}

Result<std::size_t> Decoder::copy(std::span<std::byte> into) {
  if (input_->empty()) {
    return input_->read_past(into);
  }
  CP_TRY(const auto kept, input_->ahead(1));
  const std::size_t count = std::min(kept.size(), into.size());
  std::copy_n(kept.begin(), count, into.begin());
  input_->take(count);
  return count;
}

Result<std::size_t> Decoder::decode(std::span<std::byte> into) {
  for (;;) {
    if (state_ == State::starting) {
      CP_TRY(state_, next_stream());
    }
    if (state_ == State::ended) {
      return std::size_t{0};
    }
    CP_TRY(const auto in, input_->ahead(1));
    auto step = codec_->step(in, into);
    if (!step) {
      return placed(std::move(step).error());
    }
    input_->take(step->consumed);
    if (step->stream_ended) {
      state_ = State::starting;
    }
    if (step->produced > 0) {
      return step->produced;
    }
    if (step->consumed == 0 && !step->stream_ended) {
      return placed(in.empty() ? cut_short(compression_)
                               : damaged_stream(compression_, "no way forward"));
    }
  }
}

/// Decides what the bytes behind a stream are, as the format's own tool does: another stream,
/// padding, something to pass over, or damage.
Result<Decoder::State> Decoder::next_stream() {
  for (;;) {
    CP_TRY(const auto bytes, input_->ahead(kSniffSize));
    const std::string_view head = as_text(bytes);
    if (head.empty()) {
      return State::ended;
    }
    if (starts_stream(head, compression_)) {
      if (auto started = codec_->start(bytes); !started) {
        return placed(std::move(started).error());
      }
      return State::inside;
    }
    if (compression_ == Compression::xz && head.starts_with("\0\0\0\0"sv)) {
      input_->take(4);
      continue;
    }
    if (is_cut_magic(head, compression_)) {
      input_->take(head.size());
      return placed(cut_short(compression_));
    }
    if (compression_ != Compression::gzip && compression_ != Compression::bzip2) {
      return placed(trailing_bytes(compression_, head));
    }
    break;
  }
  // gzip takes zeros at the very end for a tape's padding; in front of anything else they are as
  // foreign as the rest.
  const auto is_padding = [this](std::byte byte) {
    return compression_ == Compression::gzip && byte == std::byte{0};
  };
  bool all_padding = true;
  for (;;) {
    CP_TRY(const auto bytes, input_->ahead(1));
    if (bytes.empty()) {
      break;
    }
    all_padding = all_padding && std::all_of(bytes.begin(), bytes.end(), is_padding);
    trailing_.value += bytes.size();
    input_->take(bytes.size());
  }
  if (all_padding) {
    trailing_ = {};
  }
  return State::ended;
}

Result<std::unique_ptr<Decoder>> open_decoder(io::Source& compressed,
                                              const DecoderOptions& options) {
  auto input = std::make_unique<CodecInput>(compressed);
  CP_TRY(const auto head, input->ahead(kSniffSize));
  const Compression compression = sniff_compression(head);
  const auto placed = [](Error error) {
    error.at = ByteOffset{0};
    error.stream = "the compressed payload";
    return error;
  };
  if (compression == Compression::none) {
    // No archive is as short as this: a download that stopped within the first few bytes.
    for (const Magic& magic : kMagics) {
      if (is_cut_magic(as_text(head), magic.compression)) {
        return placed(cut_short(magic.compression));
      }
    }
  }
  auto codec = make_codec(compression, options);
  if (!codec) {
    return placed(std::move(codec).error());
  }
  if (*codec) {
    if (auto started = (*codec)->start(head); !started) {
      return placed(std::move(started).error());
    }
  }
  return std::make_unique<Decoder>(std::move(input), *std::move(codec), compression);
}

}  // namespace compatpack::formats
