// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <memory>

#include <bzlib.h>

#include "compatpack/formats/codec.hpp"

namespace compatpack::formats {
namespace {

struct DecompressEnd {
  void operator()(bz_stream* stream) const {
    BZ2_bzDecompressEnd(stream);
    delete stream;
  }
};

class Bzip2Codec final : public Codec {
 public:
  Result<Done> start(std::span<const std::byte> /*head*/) override {
    constexpr int kQuiet = 0;
    constexpr int kFast =
        0;  // takes 3.7 MB for blocks of 900 kB; the other way 2.3 MB, at half speed
    stream_.reset(new bz_stream{});
    if (BZ2_bzDecompressInit(stream_.get(), kQuiet, kFast) != BZ_OK) {
      return out_of_memory(Compression::bzip2);
    }
    return Done{};
  }

  Result<CodecStep> step(std::span<const std::byte> in, std::span<std::byte> out) override {
    constexpr std::size_t kMax = std::numeric_limits<unsigned>::max();
    const auto in_size = static_cast<unsigned>(std::min(in.size(), kMax));
    const auto out_size = static_cast<unsigned>(std::min(out.size(), kMax));
    // libbz2 does not write to its input; its type is from before const.
    stream_->next_in = reinterpret_cast<char*>(const_cast<std::byte*>(in.data()));
    stream_->avail_in = in_size;
    stream_->next_out = reinterpret_cast<char*>(out.data());
    stream_->avail_out = out_size;
    const int outcome = BZ2_bzDecompress(stream_.get());
    switch (outcome) {
      case BZ_OK:
      case BZ_STREAM_END:
        return CodecStep{.consumed = in_size - stream_->avail_in,
                         .produced = out_size - stream_->avail_out,
                         .stream_ended = outcome == BZ_STREAM_END};
      case BZ_MEM_ERROR:
        return out_of_memory(Compression::bzip2);
      default:
        break;
    }
    // libbz2 does not tell a wrong CRC from other damage.
    Error error = damaged_stream(Compression::bzip2, "");
    error.expected = "valid data with a CRC that matches it";
    error.at = ByteOffset{in_size - stream_->avail_in};
    return error;
  }

 private:
  std::unique_ptr<bz_stream, DecompressEnd> stream_;
};

}  // namespace

std::unique_ptr<Codec> make_bzip2_codec() { return std::make_unique<Bzip2Codec>(); }

std::string bzip2_library_version() {
  const std::string text = BZ2_bzlibVersion();  // "1.0.8, 13-Jul-2019"
  return text.substr(0, text.find(','));
}

}  // namespace compatpack::formats
