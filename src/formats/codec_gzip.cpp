// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <memory>

#include <zlib.h>

#include "compatpack/formats/codec.hpp"

namespace compatpack::formats {
namespace {

struct InflateEnd {
  void operator()(z_stream* stream) const {
    inflateEnd(stream);
    delete stream;
  }
};

class GzipCodec final : public Codec {
 public:
  Result<Done> start(std::span<const std::byte> /*head*/) override {
    if (stream_) {
      inflateReset(stream_.get());
      return Done{};
    }
    constexpr int kWindowBits = 15;       // the largest that the format has: 32 KiB
    constexpr int kGzipWrapperOnly = 16;  // zlib's way to say so
    stream_.reset(new z_stream{});
    if (inflateInit2(stream_.get(), kWindowBits + kGzipWrapperOnly) != Z_OK) {
      return out_of_memory(Compression::gzip);
    }
    return Done{};
  }

  Result<CodecStep> step(std::span<const std::byte> in, std::span<std::byte> out) override {
    constexpr std::size_t kMax = std::numeric_limits<uInt>::max();
    const auto in_size = static_cast<uInt>(std::min(in.size(), kMax));
    const auto out_size = static_cast<uInt>(std::min(out.size(), kMax));
    // zlib does not write to its input; its type is from before const.
    stream_->next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(in.data()));
    stream_->avail_in = in_size;
    stream_->next_out = reinterpret_cast<Bytef*>(out.data());
    stream_->avail_out = out_size;
    const int outcome = inflate(stream_.get(), Z_NO_FLUSH);
    const CodecStep done{.consumed = in_size - stream_->avail_in,
                         .produced = out_size - stream_->avail_out,
                         .stream_ended = outcome == Z_STREAM_END};
    switch (outcome) {
      case Z_OK:
      case Z_STREAM_END:
      case Z_BUF_ERROR:  // nothing to do: a step without progress
        return done;
      case Z_MEM_ERROR:
        return out_of_memory(Compression::gzip);
      default:
        break;
    }
    const std::string_view words = stream_->msg != nullptr ? stream_->msg : "";
    const bool check = words == "incorrect data check" || words == "incorrect length check";
    Error error =
        check ? wrong_checksum(Compression::gzip, words) : damaged_stream(Compression::gzip, words);
    error.at = ByteOffset{done.consumed};
    return error;
  }

 private:
  std::unique_ptr<z_stream, InflateEnd> stream_;
};

}  // namespace

std::unique_ptr<Codec> make_gzip_codec() { return std::make_unique<GzipCodec>(); }

std::string gzip_library_version() { return zlibVersion(); }

}  // namespace compatpack::formats
