// SPDX-License-Identifier: Apache-2.0
#pragma once

// Compresses a text in memory, with the libraries themselves, and damages what came of it.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "compatpack/formats/decoder.hpp"
#include "compatpack/io/source.hpp"

namespace compatpack::test {

enum class Check {
  none,  ///< as NVIDIA writes xz
  crc32,
  crc64,
  sha256,
};

/// How to compress. The defaults are those of the command-line tools, where these have them.
struct CompressOptions {
  int level = 6;
  Check check = Check::crc64;    ///< of xz; for zstd and lz4, `none` leaves their own one out
  std::size_t block_size = 0;    ///< of xz: blocks of so many bytes, their sizes in their headers;
                                 ///< 0 for one block without
  unsigned window_log = 0;       ///< of zstd; 0 for what the level takes
  unsigned code_width_max = 16;  ///< of compress
};

/// `bytes` as one stream of `compression`, which must be one that open_decoder() reads.
[[nodiscard]] std::string compress(formats::Compression compression, std::string_view bytes,
                                   const CompressOptions& options = {});

/// What a command line calls a compression: "none", "gzip", "bzip2", "zstd", "lz4", "xz", and
/// "xz-nocheck" for xz as NVIDIA writes it. nullopt for any other word.
struct NamedCompression {
  formats::Compression compression;
  CompressOptions options = {};
};
[[nodiscard]] std::optional<NamedCompression> compression_named(std::string_view name);

/// A frame as zstd and lz4 skip it, around `content`.
[[nodiscard]] std::string skippable_frame(std::string_view content);

/// `stream`, of one xz block or of lzma, with another size of dictionary in its header: one of
/// `numerator` * 2^`exponent` bytes, where `numerator` is 2 or 3. The header's CRC fits.
[[nodiscard]] std::string with_dictionary(std::string stream, formats::Compression xz_or_lzma,
                                          unsigned numerator, unsigned exponent);

/// `stream` of xz with another number for its kind of check, 0 to 15, at both ends. The CRCs fit.
[[nodiscard]] std::string with_check_id(std::string stream, unsigned id);

/// Text of `size` bytes that compresses about as well as a program. Equal `seed`s, equal texts.
[[nodiscard]] std::string sample_text(std::size_t size, std::uint32_t seed = 1);

/// Hands out another source's bytes at most `step` at a time.
class SlowSource final : public io::Source {
 public:
  /// `inner` must outlive the source.
  SlowSource(io::Source& inner, std::size_t step) : inner_(inner), step_(step) {}
  Result<std::size_t> read(std::span<std::byte> into) override;

 private:
  io::Source& inner_;
  std::size_t step_;
};

}  // namespace compatpack::test
