// SPDX-License-Identifier: Apache-2.0
#include "support/compress.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>

#include <bzlib.h>
#include <lz4frame.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

namespace compatpack::test {
namespace {

using formats::Compression;

[[noreturn]] void give_up(const char* library) {
  throw std::runtime_error(std::string("test support: cannot compress with ") + library);
}

std::string gzip(std::string_view bytes, int level) {
  z_stream stream{};
  constexpr int kGzipWrapper = 16;
  if (deflateInit2(&stream, level, Z_DEFLATED, 15 + kGzipWrapper, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
    give_up("zlib");
  }
  std::string out(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int outcome = deflate(&stream, Z_FINISH);
  out.resize(out.size() - stream.avail_out);
  deflateEnd(&stream);
  if (outcome != Z_STREAM_END) {
    give_up("zlib");
  }
  return out;
}

std::string run_lzma(lzma_stream& stream, std::string_view bytes) {
  std::string out(lzma_stream_buffer_bound(bytes.size()) + 4096, '\0');
  stream.next_in = reinterpret_cast<const std::uint8_t*>(bytes.data());
  stream.avail_in = bytes.size();
  stream.next_out = reinterpret_cast<std::uint8_t*>(out.data());
  stream.avail_out = out.size();
  lzma_ret outcome = LZMA_OK;
  while (outcome == LZMA_OK) {
    outcome = lzma_code(&stream, LZMA_FINISH);
  }
  out.resize(out.size() - stream.avail_out);
  lzma_end(&stream);
  if (outcome != LZMA_STREAM_END) {
    give_up("liblzma");
  }
  return out;
}

lzma_check lzma_check_of(Check check) {
  switch (check) {
    case Check::none:
      return LZMA_CHECK_NONE;
    case Check::crc32:
      return LZMA_CHECK_CRC32;
    case Check::crc64:
      return LZMA_CHECK_CRC64;
    case Check::sha256:
      return LZMA_CHECK_SHA256;
  }
  return LZMA_CHECK_NONE;
}

std::string xz(std::string_view bytes, const CompressOptions& options) {
  lzma_stream stream{};
  const auto preset = static_cast<std::uint32_t>(options.level);
  lzma_ret outcome = LZMA_OK;
  if (options.block_size == 0) {
    outcome = lzma_easy_encoder(&stream, preset, lzma_check_of(options.check));
  } else {
    lzma_mt threads{};
    threads.threads = 1;
    threads.block_size = options.block_size;
    threads.preset = preset;
    threads.check = lzma_check_of(options.check);
    outcome = lzma_stream_encoder_mt(&stream, &threads);
  }
  if (outcome != LZMA_OK) {
    give_up("liblzma");
  }
  return run_lzma(stream, bytes);
}

std::string lzma(std::string_view bytes, int level) {
  lzma_options_lzma settings{};
  lzma_stream stream{};
  if (lzma_lzma_preset(&settings, static_cast<std::uint32_t>(level)) != 0 ||
      lzma_alone_encoder(&stream, &settings) != LZMA_OK) {
    give_up("liblzma");
  }
  return run_lzma(stream, bytes);
}

std::string zstd(std::string_view bytes, const CompressOptions& options) {
  ZSTD_CCtx* const context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, options.level);
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, options.check == Check::none ? 0 : 1);
  if (options.window_log != 0) {
    // Without the size, as in a pipe: else a small content would make the window small.
    ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, static_cast<int>(options.window_log));
    ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 0);
  }
  std::string out(ZSTD_compressBound(bytes.size()) + 64, '\0');
  ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
  ZSTD_outBuffer output{out.data(), out.size(), 0};
  std::size_t left = 0;
  if (options.window_log != 0) {
    ZSTD_inBuffer none{bytes.data(), 0, 0};
    ZSTD_compressStream2(context, &output, &none, ZSTD_e_continue);
  }
  left = ZSTD_compressStream2(context, &output, &in, ZSTD_e_end);
  ZSTD_freeCCtx(context);
  if (left != 0) {
    give_up("libzstd");
  }
  out.resize(output.pos);
  return out;
}

std::string bzip2(std::string_view bytes, int level) {
  auto size = static_cast<unsigned>(bytes.size() + bytes.size() / 50 + 1024);
  std::string out(size, '\0');
  const int outcome = BZ2_bzBuffToBuffCompress(out.data(), &size, const_cast<char*>(bytes.data()),
                                               static_cast<unsigned>(bytes.size()), level, 0, 0);
  if (outcome != BZ_OK) {
    give_up("libbz2");
  }
  out.resize(size);
  return out;
}

std::string lz4(std::string_view bytes, const CompressOptions& options) {
  LZ4F_preferences_t preferences{};
  preferences.compressionLevel = options.level;
  preferences.frameInfo.contentChecksumFlag =
      options.check == Check::none ? LZ4F_noContentChecksum : LZ4F_contentChecksumEnabled;
  std::string out(LZ4F_compressFrameBound(bytes.size(), &preferences), '\0');
  const std::size_t size =
      LZ4F_compressFrame(out.data(), out.size(), bytes.data(), bytes.size(), &preferences);
  if (LZ4F_isError(size) != 0U) {
    give_up("liblz4");
  }
  out.resize(size);
  return out;
}

/// LZW with codes that fill from the lowest bit, in groups of eight; see codec_compress.cpp.
class LzwWriter {
 public:
  explicit LzwWriter(unsigned width_max) : width_max_(width_max) {
    constexpr unsigned kClears = 0x80;
    out_ = {'\x1f', '\x9d', static_cast<char>(kClears | width_max)};
  }

  std::string write(std::string_view bytes) {
    std::uint32_t string = kNone;
    for (const char c : bytes) {
      const auto byte = static_cast<unsigned char>(c);
      if (string == kNone) {
        string = byte;
        continue;
      }
      const auto known = table_.find({string, byte});
      if (known != table_.end()) {
        string = known->second;
        continue;
      }
      put(string);
      add(string, byte);
      string = byte;
    }
    if (string != kNone) {
      put(string);
    }
    while (bit_count_ > 0) {
      put_byte();
    }
    return std::move(out_);
  }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  static constexpr std::uint32_t kClear = 256;

  /// The reader adds its entry with the next code, so it is one behind when a width is chosen.
  void add(std::uint32_t string, unsigned char byte) {
    if (next_free_ < (1U << width_max_)) {
      table_[{string, byte}] = next_free_++;
      return;
    }
    // Full. Real writers wait until it no longer pays; this one starts again after a while.
    if (++since_full_ == 500) {
      put(kClear);
      fill_group();
      table_.clear();
      next_free_ = 257;
      reader_free_ = 256;
      width_ = 9;
      since_full_ = 0;
    }
  }

  void put(std::uint32_t code) {
    bits_ |= std::uint64_t{code} << bit_count_;
    bit_count_ += width_;
    ++group_codes_;
    while (bit_count_ >= 8) {
      put_byte();
    }
    if (code == kClear) {
      return;
    }
    reader_free_ = std::min(reader_free_ + 1, 1U << width_max_);
    if (reader_free_ >> width_ != 0 && width_ < width_max_) {
      fill_group();
      ++width_;
    }
  }

  void fill_group() {
    while (group_codes_ % 8 != 0) {
      bit_count_ += width_;
      ++group_codes_;
      while (bit_count_ >= 8) {
        put_byte();
      }
    }
    group_codes_ = 0;
  }

  void put_byte() {
    out_ += static_cast<char>(bits_ & 0xffU);
    bits_ >>= 8U;
    bit_count_ -= std::min(bit_count_, 8U);
  }

  unsigned width_max_;
  std::string out_;
  std::map<std::pair<std::uint32_t, unsigned char>, std::uint32_t> table_;
  std::uint32_t next_free_ = 257;
  std::uint32_t reader_free_ = 256;  ///< 257 after the first code, which adds nothing
  unsigned width_ = 9;
  std::uint64_t bits_ = 0;
  unsigned bit_count_ = 0;
  unsigned group_codes_ = 0;
  unsigned since_full_ = 0;
};

void put_little_endian(std::string& bytes, std::size_t at, std::uint32_t value) {
  for (std::size_t i = 0; i < 4; ++i) {
    bytes.at(at + i) = static_cast<char>(value >> (8 * i) & 0xffU);
  }
}

void put_crc32(std::string& bytes, std::size_t at, std::size_t from, std::size_t size) {
  put_little_endian(bytes, at,
                    lzma_crc32(reinterpret_cast<const std::uint8_t*>(&bytes.at(from)), size, 0));
}

}  // namespace

std::string compress(Compression compression, std::string_view bytes,
                     const CompressOptions& options) {
  switch (compression) {
    case Compression::none:
      return std::string(bytes);
    case Compression::gzip:
      return gzip(bytes, options.level);
    case Compression::xz:
      return xz(bytes, options);
    case Compression::lzma:
      return lzma(bytes, options.level);
    case Compression::zstd:
      return zstd(bytes, options);
    case Compression::bzip2:
      return bzip2(bytes, options.level);
    case Compression::lz4:
      return lz4(bytes, options);
    case Compression::compress:
      return LzwWriter(options.code_width_max).write(bytes);
    case Compression::lzop:
    case Compression::lzip:
    case Compression::bzip3:
      break;
  }
  give_up("a codec that is not read");
}

std::optional<NamedCompression> compression_named(std::string_view name) {
  if (name == "xz-nocheck") {
    return NamedCompression{Compression::xz, {.check = Check::none}};
  }
  for (const Compression compression : {Compression::none, Compression::gzip, Compression::bzip2,
                                        Compression::xz, Compression::zstd, Compression::lz4}) {
    if (name == formats::name_of(compression)) {
      return NamedCompression{compression};
    }
  }
  return std::nullopt;
}

std::string skippable_frame(std::string_view content) {
  std::string frame = "\x50\x2a\x4d\x18";
  frame.resize(8);
  put_little_endian(frame, 4, static_cast<std::uint32_t>(content.size()));
  return frame.append(content);
}

std::string with_dictionary(std::string stream, Compression xz_or_lzma, unsigned numerator,
                            unsigned exponent) {
  if (xz_or_lzma == Compression::lzma) {
    put_little_endian(stream, 1, numerator << exponent);
    return stream;
  }
  // Stream header: 12 bytes. Block header: size, flags, filter, size of its properties, properties,
  // filling, CRC32.
  constexpr std::size_t kBlock = 12;
  const std::size_t header_size = (static_cast<unsigned char>(stream.at(kBlock)) + 1U) * 4U;
  constexpr unsigned kExponentMin = 11;
  stream.at(kBlock + 4) = static_cast<char>((exponent - kExponentMin) * 2 + (numerator - 2));
  put_crc32(stream, kBlock + header_size - 4, kBlock, header_size - 4);
  return stream;
}

std::string with_check_id(std::string stream, unsigned id) {
  stream.at(7) = static_cast<char>(id);
  put_crc32(stream, 8, 6, 2);
  // Footer: CRC32, size of the index (4 bytes), flags (2), "YZ".
  stream.at(stream.size() - 3) = static_cast<char>(id);
  put_crc32(stream, stream.size() - 12, stream.size() - 8, 6);
  return stream;
}

std::string sample_text(std::size_t size, std::uint32_t seed) {
  std::string text;
  std::uint32_t state = seed;
  while (text.size() < size) {
    state = state * 1664525U + 1013904223U;
    const std::uint32_t kind = state >> 28U;
    if (kind < 3 && text.size() > 64) {
      const std::size_t back = 1 + (state >> 4U) % std::min<std::size_t>(text.size(), 5000);
      const std::size_t count = 3 + (state >> 20U) % 30;
      for (std::size_t i = 0; i < count; ++i) {
        text += text[text.size() - back];
      }
    } else {
      text += static_cast<char>(state >> 20U);
    }
  }
  text.resize(size);
  return text;
}

Result<std::size_t> SlowSource::read(std::span<std::byte> into) {
  return inner_.read(into.first(std::min(into.size(), step_)));
}

}  // namespace compatpack::test
