// SPDX-License-Identifier: Apache-2.0
#include "compatpack/formats/codec.hpp"

#include <algorithm>
#include <cassert>

namespace compatpack::formats {
namespace {

// Driver libraries of 177 MB, decompressed in blocks of 128 KiB: zstd takes 0.20 s with input
// blocks of 64 KiB, 0.18 s with 256 KiB and with 1 MiB; gzip and xz do not mind.
constexpr std::size_t kInputBlock = std::size_t{256} << 10U;

std::string stream_of(Compression compression) {
  return std::string(name_of(compression)) + " stream";
}

std::string in_mebibytes(ByteCount count) {
  constexpr std::uint64_t kMebibyte = 1U << 20U;
  return std::to_string(count.value / kMebibyte + (count.value % kMebibyte != 0 ? 1 : 0)) + " MiB";
}

}  // namespace

CodecInput::CodecInput(io::Source& source) : source_(source), buffer_(kInputBlock) {}

Result<std::span<const std::byte>> CodecInput::ahead(std::size_t count) {
  assert(count <= kSniffSize);
  if (end_ - begin_ < count && begin_ > 0) {
    std::copy(buffer_.begin() + static_cast<std::ptrdiff_t>(begin_),
              buffer_.begin() + static_cast<std::ptrdiff_t>(end_), buffer_.begin());
    end_ -= begin_;
    begin_ = 0;
  }
  while (end_ - begin_ < count && !source_ended_) {
    CP_TRY(const std::size_t got, source_.read(std::span(buffer_).subspan(end_)));
    source_ended_ = got == 0;
    end_ += got;
  }
  return std::span<const std::byte>(buffer_).subspan(begin_, end_ - begin_);
}

void CodecInput::take(std::size_t count) {
  assert(count <= end_ - begin_);
  begin_ += count;
  at_.value += count;
}

Result<std::size_t> CodecInput::read_past(std::span<std::byte> into) {
  assert(empty());
  if (source_ended_) {
    return std::size_t{0};
  }
  CP_TRY(const std::size_t got, source_.read(into));
  source_ended_ = got == 0;
  at_.value += got;
  return got;
}

Error damaged_stream(Compression compression, std::string_view library_words) {
  return Error{.code = Errc::corrupt,
               .what = stream_of(compression) + " is damaged",
               .found = std::string(library_words)};
}

Error wrong_checksum(Compression compression, std::string_view library_words) {
  return Error{.code = Errc::corrupt,
               .what = stream_of(compression) + " does not match its own checksum",
               .found = std::string(library_words)};
}

Error memory_over_limit(Compression compression, ByteCount wanted, ByteCount allowed) {
  return Error{.code = Errc::limit,
               .what = stream_of(compression) + " asks for too much memory",
               .expected = "at most " + in_mebibytes(allowed),
               .found = wanted > allowed ? in_mebibytes(wanted) : "more"};
}

Error out_of_memory(Compression compression) {
  return Error{.code = Errc::limit,
               .what = "not enough memory to decompress the " + stream_of(compression)};
}

Error unsupported_stream(Compression compression, std::string_view what_is) {
  return Error{.code = Errc::unsupported,
               .what = stream_of(compression) + " uses a feature that is not read",
               .found = std::string(what_is)};
}

}  // namespace compatpack::formats
