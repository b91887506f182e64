// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <lzma.h>

#include "compatpack/formats/codec.hpp"

namespace compatpack::formats {
namespace {

// More are of no use below the memory limit, and liblzma refuses 16,384.
constexpr unsigned kThreadsMax = 256;

// For a thread, which holds a whole block, compressed and decompressed, and a dictionary. Blocks of
// xz -6 -T2 need 56 MiB at worst (24 + 24 + 8); those of 104 MiB would cost 141 MB for no gain.
constexpr ByteCount kThreadMemory{64U << 20U};

struct LzmaEnd {
  void operator()(lzma_stream* stream) const {
    lzma_end(stream);
    delete stream;
  }
};

/// "no check", "a CRC64 check" and so on.
std::string check_words(lzma_check check) {
  switch (check) {
    case LZMA_CHECK_NONE:
      return "no check";
    case LZMA_CHECK_CRC32:
      return "a CRC32 check";
    case LZMA_CHECK_CRC64:
      return "a CRC64 check";
    case LZMA_CHECK_SHA256:
      return "a SHA-256 check";
  }
  return "a check of type " + std::to_string(static_cast<int>(check));
}

/// What the filters of the first block take, dictionaries above all; 0 if `head` does not say it,
/// being damaged or too short: then the decoder itself finds out.
///
/// The decoder refuses too large ones just so, but the one with threads cannot say how large.
ByteCount first_block_memory(std::span<const std::byte> head, lzma_check check) {
  const auto rest = head.subspan(LZMA_STREAM_HEADER_SIZE);
  if (rest.empty() || rest[0] == std::byte{0}) {
    return {};  // an index: there is no block
  }
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(rest.data());
  std::array<lzma_filter, LZMA_FILTERS_MAX + 1> filters{};
  lzma_block block{};
  block.version = 1;
  block.check = check;
  block.filters = filters.data();
  block.header_size = lzma_block_header_size_decode(bytes[0]);
  if (rest.size() < block.header_size ||
      lzma_block_header_decode(&block, nullptr, bytes) != LZMA_OK) {
    return {};
  }
  const std::uint64_t memory = lzma_raw_decoder_memusage(filters.data());
  lzma_filters_free(filters.data(), nullptr);
  return {memory == UINT64_MAX ? 0 : memory};  // the largest number stands for unknown filters
}

class XzCodec final : public Codec {
 public:
  XzCodec(Compression xz_or_lzma, const DecoderOptions& options)
      : format_(xz_or_lzma), options_(options), stream_(new lzma_stream{}) {}

  Result<Done> start(std::span<const std::byte> head) override {
    check_.reset();
    lzma_stream_flags flags{};
    if (format_ == Compression::xz && head.size() >= LZMA_STREAM_HEADER_SIZE &&
        lzma_stream_header_decode(&flags, reinterpret_cast<const std::uint8_t*>(head.data())) ==
            LZMA_OK) {
      check_ = flags.check;
      const ByteCount memory = first_block_memory(head, flags.check);
      if (memory > options_.memory_max) {
        return memory_over_limit(format_, memory, options_.memory_max);
      }
    }
    // The codec sees one stream at a time, so LZMA_CONCATENATED is not wanted: it would take what
    // follows for part of the stream and call it a stream that ends early.
    const lzma_ret outcome = begin();
    return outcome == LZMA_OK ? Result<Done>(Done{}) : failure(outcome);
  }

  Result<CodecStep> step(std::span<const std::byte> in, std::span<std::byte> out) override {
    stream_->next_in = reinterpret_cast<const std::uint8_t*>(in.data());
    stream_->avail_in = in.size();
    stream_->next_out = reinterpret_cast<std::uint8_t*>(out.data());
    stream_->avail_out = out.size();
    // At the end of the input the threads may still be at work: one call without progress is no
    // verdict yet, and liblzma gives LZMA_BUF_ERROR when it is.
    lzma_ret outcome = LZMA_OK;
    do {
      outcome = lzma_code(stream_.get(), in.empty() ? LZMA_FINISH : LZMA_RUN);
    } while (outcome == LZMA_OK && in.empty() && stream_->avail_out == out.size());
    if (outcome == LZMA_OK || outcome == LZMA_STREAM_END || outcome == LZMA_BUF_ERROR) {
      return CodecStep{.consumed = in.size() - stream_->avail_in,
                       .produced = out.size() - stream_->avail_out,
                       .stream_ended = outcome == LZMA_STREAM_END};
    }
    Error error = failure(outcome);
    error.at = ByteOffset{in.size() - stream_->avail_in};
    return error;
  }

 private:
  lzma_ret begin() {
    if (format_ == Compression::lzma) {
      return lzma_alone_decoder(stream_.get(), options_.memory_max.value);
    }
    // A check of a type that this liblzma lacks would otherwise be passed over in silence. A stream
    // without any, as NVIDIA writes, is not refused by this flag.
    constexpr std::uint32_t kFlags = LZMA_TELL_UNSUPPORTED_CHECK;
    if (options_.jobs <= 1) {
      return lzma_stream_decoder(stream_.get(), options_.memory_max.value, kFlags);
    }
    // Above the first limit it works with fewer threads or with one, above the second it refuses.
    // Blocks whose header does not give their sizes, as of xz -T1, are decoded as they come: they
    // take the dictionary and no more.
    const std::uint64_t threads_memory = options_.jobs * kThreadMemory.value;
    lzma_mt threads{};
    threads.flags = kFlags;
    threads.threads = std::min(options_.jobs, kThreadsMax);
    threads.memlimit_threading = std::min(threads_memory, options_.memory_max.value);
    threads.memlimit_stop = options_.memory_max.value;
    return lzma_stream_decoder_mt(stream_.get(), &threads);
  }

  [[nodiscard]] Error failure(lzma_ret outcome) const {
    switch (outcome) {
      case LZMA_MEM_ERROR:
        return out_of_memory(format_);
      case LZMA_MEMLIMIT_ERROR:
        return memory_over_limit(format_, {lzma_memusage(stream_.get())}, options_.memory_max);
      case LZMA_UNSUPPORTED_CHECK:
        return unsupported_stream(format_, check_words(check_.value_or(LZMA_CHECK_NONE)));
      case LZMA_OPTIONS_ERROR:
        return unsupported_stream(format_, "a filter or option that liblzma does not know");
      default:
        break;
    }
    Error error = damaged_stream(format_, "");
    if (check_) {
      // liblzma does not tell a wrong check from other damage.
      error.expected = "valid data with " + check_words(*check_);
    }
    return error;
  }

  Compression format_;
  DecoderOptions options_;
  std::optional<lzma_check> check_;  ///< empty for lzma, and if the stream's header is damaged
  std::unique_ptr<lzma_stream, LzmaEnd> stream_;
};

}  // namespace

std::unique_ptr<Codec> make_xz_codec(Compression xz_or_lzma, const DecoderOptions& options) {
  return std::make_unique<XzCodec>(xz_or_lzma, options);
}

std::string xz_library_version() { return lzma_version_string(); }

}  // namespace compatpack::formats
