// SPDX-License-Identifier: Apache-2.0
#include "support/packing.hpp"

#include <cstdint>
#include <stdexcept>

#include <bzlib.h>
#include <lz4frame.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

namespace compatpack::test {
namespace {

void require(bool worked, const char* library) {
  if (!worked) {
    throw std::runtime_error(std::string(library) + " did not compress");
  }
}

std::string pack_gzip(std::string_view bytes) {
  z_stream stream{};
  constexpr int kGzip = 16;  // added to the window's bits: gzip's frame, not zlib's
  require(deflateInit2(&stream, 6, Z_DEFLATED, 15 + kGzip, 8, Z_DEFAULT_STRATEGY) == Z_OK, "zlib");
  std::string out(deflateBound(&stream, bytes.size()), '\0');
  // zlib's interface is without const; it does not write to its input.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int status = deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  require(status == Z_STREAM_END, "zlib");
  return out;
}

std::string pack_bzip2(std::string_view bytes) {
  std::string out(bytes.size() + bytes.size() / 100 + 600, '\0');  // as its manual asks
  auto size = static_cast<unsigned int>(out.size());
  require(BZ2_bzBuffToBuffCompress(out.data(), &size, const_cast<char*>(bytes.data()),
                                   static_cast<unsigned int>(bytes.size()), 9, 0, 0) == BZ_OK,
          "bzip2");
  out.resize(size);
  return out;
}

std::string pack_xz(std::string_view bytes, lzma_check check) {
  std::string out(lzma_stream_buffer_bound(bytes.size()), '\0');
  std::size_t size = 0;
  require(lzma_easy_buffer_encode(
              6, check, nullptr, reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size(),
              reinterpret_cast<std::uint8_t*>(out.data()), &size, out.size()) == LZMA_OK,
          "liblzma");
  out.resize(size);
  return out;
}

std::string pack_zstd(std::string_view bytes) {
  ZSTD_CCtx* const context = ZSTD_createCCtx();
  require(context != nullptr, "zstd");
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  std::string out(ZSTD_compressBound(bytes.size()), '\0');
  const std::size_t size =
      ZSTD_compress2(context, out.data(), out.size(), bytes.data(), bytes.size());
  ZSTD_freeCCtx(context);
  require(ZSTD_isError(size) == 0, "zstd");
  out.resize(size);
  return out;
}

std::string pack_lz4(std::string_view bytes) {
  std::string out(LZ4F_compressFrameBound(bytes.size(), nullptr), '\0');
  const std::size_t size =
      LZ4F_compressFrame(out.data(), out.size(), bytes.data(), bytes.size(), nullptr);
  require(LZ4F_isError(size) == 0, "lz4");
  out.resize(size);
  return out;
}

}  // namespace

std::optional<Packing> packing_named(std::string_view name) {
  constexpr struct {
    std::string_view name;
    Packing how;
  } kNames[] = {{"none", Packing::none},   {"gzip", Packing::gzip},
                {"bzip2", Packing::bzip2}, {"xz", Packing::xz},
                {"zstd", Packing::zstd},   {"xz-nocheck", Packing::xz_without_check},
                {"lz4", Packing::lz4}};
  for (const auto& row : kNames) {
    if (row.name == name) {
      return row.how;
    }
  }
  return std::nullopt;
}

std::string pack(std::string_view bytes, Packing how) {
  switch (how) {
    case Packing::gzip:
      return pack_gzip(bytes);
    case Packing::bzip2:
      return pack_bzip2(bytes);
    case Packing::xz:
      return pack_xz(bytes, LZMA_CHECK_CRC64);
    case Packing::xz_without_check:
      return pack_xz(bytes, LZMA_CHECK_NONE);
    case Packing::zstd:
      return pack_zstd(bytes);
    case Packing::lz4:
      return pack_lz4(bytes);
    case Packing::none:
      break;
  }
  return std::string(bytes);
}

}  // namespace compatpack::test
