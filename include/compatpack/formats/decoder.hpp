// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decompresses one Source into another. What is compressed how is found from the first bytes, never
// from a name or a header that says so: NVIDIA has used gzip, xz and zstd, makeself whatever it was
// told, and a .deb's members need not agree with each other.
//
//   magic number                   named      read with    several streams   bytes after the last
//   1f 8b                          gzip       zlib         yes               zeros, or ignored
//   fd 37 7a 58 5a 00              xz         liblzma      yes               zeros, four at a time
//   5d, dictionary, size           lzma       liblzma      no                refused
//   28 b5 2f fd, 5X 2a 4d 18       zstd       libzstd      yes               refused
//   "BZh1" to "BZh9"               bzip2      libbz2       yes               ignored
//   04 22 4d 18, 5X 2a 4d 18       lz4        liblz4       yes               refused
//   1f 9d                          compress   here         no                cannot be told
//   89 "LZO", "LZIP", "BZ3v1"      lzop, lzip, bzip3: named, not read
//
// The last two columns are what gzip 1.12, xz 5.4, zstd 1.5, bzip2 1.0, lz4 1.9 and ncompress 5.0
// do with -dc; the tests say it case by case. 5X 2a 4d 18 (X any digit) starts a frame to be
// skipped, in zstd and in lz4 alike: what follows it decides, and where that is not in sight it is
// zstd, whose pzstd writes such frames.
//
// Checks inside the streams are verified: CRC-32 of gzip, CRC-32, CRC-64 or SHA-256 of xz, xxHash
// of zstd and lz4, CRC of bzip2. They may be absent, and are in every .run that NVIDIA made with xz
// (319 to 525): damage there is for the bundle's own digests to find. lzma and compress have none;
// compress has not even an end, so that a stream cut short looks like a whole one.

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "compatpack/base/bytes.hpp"
#include "compatpack/base/limits.hpp"
#include "compatpack/base/result.hpp"
#include "compatpack/io/source.hpp"

namespace compatpack::formats {

enum class Compression {
  none,  ///< of no format known here: taken as it is
  gzip,
  xz,
  lzma,  ///< the format before xz, ".lzma"
  zstd,
  bzip2,
  lz4,
  compress,  ///< ".Z"
  lzop,
  lzip,
  bzip3,
};

/// "none", "gzip", "xz" and so on: the name of the tool.
[[nodiscard]] std::string_view name_of(Compression compression);

/// How many first bytes sniff_compression() wants to see: room for the largest magic number (lzma's
/// 13) and for that of a frame behind one to be skipped (pzstd's has 12 bytes).
inline constexpr std::size_t kSniffSize = 64;

/// What `head`, the first min(size, kSniffSize) bytes of something, is compressed with, by magic
/// number alone. Too few bytes for a magic number are `none`.
[[nodiscard]] Compression sniff_compression(std::span<const std::byte> head);

struct DecoderOptions {
  unsigned jobs = 1;  ///< threads at most; only xz of several blocks with sizes uses more than one
  ByteCount memory_max = Limits{}.decoder_memory;  ///< all that the format lets the stream ask for
};

class Codec;
class CodecInput;

/// The decompressed bytes of all streams that the compressed source holds, one after the other.
///
/// Errors of read(), all but those of the inner source with `at` counting compressed bytes read so
/// far and `stream` set; those of the inner source pass through as they are:
///   corrupt      the stream is damaged, its check does not match its data, it ends early (see
///                ends_early()), or something else follows it
///   limit        it asks for more memory than allowed; said before the memory is taken
///   unsupported  a filter, check, dictionary or variant that the library does not have
class Decoder final : public io::Source {
 public:
  Decoder(std::unique_ptr<CodecInput> input, std::unique_ptr<Codec> codec, Compression compression);
  ~Decoder() override;

  Result<std::size_t> read(std::span<std::byte> into) override;

  [[nodiscard]] Compression compression() const { return compression_; }

  /// Compressed bytes after the last stream that are part of none, as gzip and bzip2 tolerate. They
  /// deserve a warning. Known when read() has returned 0.
  [[nodiscard]] ByteCount trailing() const { return trailing_; }

 private:
  enum class State { starting, inside, ended };

  Result<std::size_t> copy(std::span<std::byte> into);
  Result<std::size_t> decode(std::span<std::byte> into);
  Result<State> next_stream();
  Error placed(Error error) const;

  std::unique_ptr<CodecInput> input_;
  std::unique_ptr<Codec> codec_;  ///< empty for Compression::none
  Compression compression_;
  State state_ = State::inside;
  ByteCount trailing_;
  std::optional<Error> failure_;
};

/// Finds out how `compressed` is compressed and returns its decompressed bytes. What is not
/// compressed is handed through, and compression() of the result is `none`.
///
/// `compressed` must outlive the decoder, which may read further than it decodes. xz, lzma and zstd
/// let a stream choose how much memory it takes, and `options.memory_max` bounds that (for zstd,
/// 128 MiB does if that is less); the other formats take 10 MiB at most.
///
/// Errors: as of Decoder::read(), and unsupported for lzop, lzip and bzip3.
Result<std::unique_ptr<Decoder>> open_decoder(io::Source& compressed,
                                              const DecoderOptions& options = {});

/// Whether `error` says that a decoder, here or of base64, met the end of its input too soon.
[[nodiscard]] bool ends_early(const Error& error);

}  // namespace compatpack::formats
