// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include <lz4.h>
#include <lz4frame.h>

#include "compatpack/formats/codec.hpp"

namespace compatpack::formats {
namespace {

struct FreeLz4Context {
  void operator()(LZ4F_dctx* context) const { LZ4F_freeDecompressionContext(context); }
};

/// Frames only. A frame's blocks are of 4 MiB at most, and the library keeps two: 8.5 MiB.
class Lz4Codec final : public Codec {
 public:
  Result<Done> start(std::span<const std::byte> head) override {
    if (as_text(head).starts_with("\x02\x21\x4c\x18")) {
      return unsupported_stream(Compression::lz4, "the legacy format, of lz4 -l");
    }
    if (context_) {
      return Done{};  // the library itself is ready again after each frame
    }
    LZ4F_dctx* context = nullptr;
    if (LZ4F_isError(LZ4F_createDecompressionContext(&context, LZ4F_VERSION)) != 0U) {
      return out_of_memory(Compression::lz4);
    }
    context_.reset(context);
    return Done{};
  }

  Result<CodecStep> step(std::span<const std::byte> in, std::span<std::byte> out) override {
    CodecStep done{.consumed = in.size(), .produced = out.size()};
    const std::size_t wanted = LZ4F_decompress(context_.get(), out.data(), &done.produced,
                                               in.data(), &done.consumed, nullptr);
    if (LZ4F_isError(wanted) != 0U) {
      const std::string_view name = LZ4F_getErrorName(wanted);
      if (name == "ERROR_allocation_failed") {
        return out_of_memory(Compression::lz4);
      }
      const bool check = name.find("Checksum_invalid") != std::string_view::npos;
      Error error =
          check ? wrong_checksum(Compression::lz4, name) : damaged_stream(Compression::lz4, name);
      error.at = ByteOffset{done.consumed};
      return error;
    }
    // At the end of the input it would ask for more; at the end of a frame it asks for nothing.
    done.stream_ended = wanted == 0;
    return done;
  }

 private:
  std::unique_ptr<LZ4F_dctx, FreeLz4Context> context_;
};

}  // namespace

std::unique_ptr<Codec> make_lz4_codec() { return std::make_unique<Lz4Codec>(); }

std::string lz4_library_version() { return LZ4_versionString(); }

}  // namespace compatpack::formats
