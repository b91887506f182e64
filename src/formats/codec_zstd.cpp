// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <bit>
#include <memory>
#include <optional>

#include <zstd.h>
#include <zstd_errors.h>

#include "compatpack/formats/codec.hpp"

namespace compatpack::formats {
namespace {

// The zstd tool refuses more without --long=31, and NVIDIA's own script does not give that.
constexpr ByteCount kWindowMax{128U << 20U};
constexpr std::uint64_t kWindowMin = 1U << 10U;  // of the format

struct FreeZstdContext {
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

/// The window that a frame asks for (RFC 8878, 3.1.1.1); nullopt for a frame to be skipped, and for
/// a header that is cut short, which the library finds out by itself.
std::optional<ByteCount> window_of(std::span<const std::byte> head) {
  const auto at = [head](std::size_t i) { return std::to_integer<std::uint64_t>(head[i]); };
  constexpr std::size_t kDescriptor = 4;
  if (head.size() < kDescriptor + 2 || at(0) != 0x28) {
    return std::nullopt;
  }
  const std::uint64_t descriptor = at(kDescriptor);
  if ((descriptor & 0x20U) == 0) {
    const std::uint64_t base = std::uint64_t{1} << (10 + (at(kDescriptor + 1) >> 3U));
    return ByteCount{base + base / 8 * (at(kDescriptor + 1) & 7U)};
  }
  // A single segment: all of the content is the window, and its size is there.
  constexpr std::array<std::size_t, 4> kDictionaryIdSizes{0, 1, 2, 4};
  constexpr std::array<std::size_t, 4> kContentSizes{1, 2, 4, 8};
  const std::size_t begin = kDescriptor + 1 + kDictionaryIdSizes[descriptor & 3U];
  const std::size_t size = kContentSizes[descriptor >> 6U];
  if (head.size() < begin + size) {
    return std::nullopt;
  }
  std::uint64_t content = size == 2 ? 256 : 0;
  for (std::size_t i = 0; i < size; ++i) {
    content += at(begin + i) << (8 * i);
  }
  return ByteCount{content};
}

class ZstdCodec final : public Codec {
 public:
  explicit ZstdCodec(ByteCount window_max) : window_max_(window_max) {}

  Result<Done> start(std::span<const std::byte> head) override {
    if (const auto window = window_of(head); window && *window > window_max_) {
      return memory_over_limit(Compression::zstd, *window, window_max_);
    }
    if (context_) {
      return Done{};  // the library itself is ready again after each frame
    }
    context_.reset(ZSTD_createDCtx());
    if (!context_) {
      return out_of_memory(Compression::zstd);
    }
    // A second fence: above, the exact size is compared, and the library knows powers of two.
    const auto window_log = static_cast<int>(std::bit_width(window_max_.value - 1));
    ZSTD_DCtx_setParameter(context_.get(), ZSTD_d_windowLogMax, window_log);
    return Done{};
  }

  Result<CodecStep> step(std::span<const std::byte> in, std::span<std::byte> out) override {
    ZSTD_inBuffer input{in.data(), in.size(), 0};
    ZSTD_outBuffer output{out.data(), out.size(), 0};
    const std::size_t wanted = ZSTD_decompressStream(context_.get(), &output, &input);
    if (ZSTD_isError(wanted) == 0U) {
      return CodecStep{.consumed = input.pos, .produced = output.pos, .stream_ended = wanted == 0};
    }
    const std::string_view words = ZSTD_getErrorName(wanted);
    switch (ZSTD_getErrorCode(wanted)) {
      case ZSTD_error_memory_allocation:
        return out_of_memory(Compression::zstd);
      case ZSTD_error_checksum_wrong:
        return wrong_checksum(Compression::zstd, words);
      case ZSTD_error_dictionary_wrong:
      case ZSTD_error_version_unsupported:
      case ZSTD_error_frameParameter_unsupported:
        return unsupported_stream(Compression::zstd, words);
      default:
        return damaged_stream(Compression::zstd, words);
    }
  }

 private:
  std::unique_ptr<ZSTD_DCtx, FreeZstdContext> context_;
  ByteCount window_max_;
};

}  // namespace

std::unique_ptr<Codec> make_zstd_codec(const DecoderOptions& options) {
  return std::make_unique<ZstdCodec>(
      ByteCount{std::max(kWindowMin, std::min(kWindowMax.value, options.memory_max.value))});
}

std::string zstd_library_version() { return ZSTD_versionString(); }

}  // namespace compatpack::formats
