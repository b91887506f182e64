// SPDX-License-Identifier: Apache-2.0
#pragma once

// What formats/decoder asks of each compression format. A codec turns bytes into bytes: it does no
// I/O and knows neither where its stream lies nor what comes after it. Each stands in a file of its
// own, src/formats/codec_NAME.cpp, the only one that includes its library's header.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compatpack/base/result.hpp"
#include "compatpack/formats/decoder.hpp"
#include "compatpack/io/source.hpp"

namespace compatpack::formats {

/// What one call of Codec::step() has done.
struct CodecStep {
  std::size_t consumed = 0;  ///< bytes taken from the front of `in`
  std::size_t produced = 0;  ///< bytes written to the front of `out`
  bool stream_ended = false;
};

class Codec {
 public:
  Codec() = default;
  Codec(const Codec&) = delete;
  Codec& operator=(const Codec&) = delete;
  virtual ~Codec() = default;

  /// Gets ready for a stream, the first or another, that begins with `head`: kSniffSize bytes, or
  /// all there are.
  virtual Result<Done> start(std::span<const std::byte> head) = 0;

  /// Decompresses some of `in` into `out`. `in` is empty at the end of the input and only there; a
  /// step that then does nothing says that the stream is incomplete. `out` is not empty.
  ///
  /// `at` of an Error counts from the front of `in`; what was produced before it is lost.
  virtual Result<CodecStep> step(std::span<const std::byte> in, std::span<std::byte> out) = 0;
};

std::unique_ptr<Codec> make_gzip_codec();
std::unique_ptr<Codec> make_bzip2_codec();
std::unique_ptr<Codec> make_lz4_codec();
std::unique_ptr<Codec> make_compress_codec();
std::unique_ptr<Codec> make_zstd_codec(const DecoderOptions& options);
std::unique_ptr<Codec> make_xz_codec(Compression xz_or_lzma, const DecoderOptions& options);

/// The versions of the libraries behind the codecs, as these say themselves: "1.2.13".
std::string gzip_library_version();
std::string bzip2_library_version();
std::string lz4_library_version();
std::string zstd_library_version();
std::string xz_library_version();

/// The compressed bytes: a window that a codec takes from at its own pace.
class CodecInput {
 public:
  /// `source` must outlive the input.
  explicit CodecInput(io::Source& source);

  /// The bytes that come next: at least `count` of them, or all that are left. Valid until the next
  /// call. Requires: `count` is at most kSniffSize.
  Result<std::span<const std::byte>> ahead(std::size_t count);

  /// Steps over the first `count` bytes of what ahead() returned.
  void take(std::size_t count);

  /// Reads on behind the window. Requires: the window is empty, ahead() has been taken whole.
  Result<std::size_t> read_past(std::span<std::byte> into);

  [[nodiscard]] bool empty() const { return begin_ == end_; }

  /// How many bytes were taken.
  [[nodiscard]] ByteOffset at() const { return at_; }

 private:
  io::Source& source_;
  std::vector<std::byte> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  bool source_ended_ = false;
  ByteOffset at_;
};

/// The errors that codecs share. `library_words` is what the library says, and may be empty;
/// `wanted` of no more than `allowed` stands for an amount that is not known.
Error damaged_stream(Compression compression, std::string_view library_words);
Error wrong_checksum(Compression compression, std::string_view library_words);
Error memory_over_limit(Compression compression, ByteCount wanted, ByteCount allowed);
Error out_of_memory(Compression compression);
Error unsupported_stream(Compression compression, std::string_view what_is);

}  // namespace compatpack::formats
