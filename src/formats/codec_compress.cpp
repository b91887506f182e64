// SPDX-License-Identifier: Apache-2.0
//
// LZW as compress(1) writes it, which no library at hand decodes.
//
//   1f 9d   flags: bits 0-4 the largest code's width (9 to 16), bit 7 code 256 empties the table
//   codes, lowest bit first, of 9 bits to begin with
//
// Each code stands for a string: 0 to 255 for one byte, the others for the string of an earlier
// code and one byte more. Every code but the first adds one to the table, even one that stands for
// the entry it adds. Codes come in groups of eight, and when their width changes or the table is
// emptied the rest of the group is filling.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "compatpack/formats/codec.hpp"

namespace compatpack::formats {
namespace {

constexpr unsigned kWidthMin = 9;
constexpr unsigned kWidthMax = 16;
constexpr std::uint32_t kLiterals = 256;
constexpr std::uint32_t kClear = 256;
constexpr std::size_t kCompressHeaderSize = 3;
constexpr std::uint32_t kNone = ~std::uint32_t{0};

class CompressCodec final : public Codec {
 public:
  CompressCodec() : prefix_(1U << kWidthMax), suffix_(1U << kWidthMax) {}

  Result<Done> start(std::span<const std::byte> head) override {
    if (head.size() < kCompressHeaderSize) {
      return Done{};  // step() meets the end of the input before its header is whole
    }
    const auto flags = std::to_integer<unsigned>(head[2]);
    width_limit_ = flags & 0x1fU;
    clears_ = (flags & 0x80U) != 0;
    // ncompress 5.0 writes codes of 9 bits that neither it nor gzip can read.
    if (width_limit_ <= kWidthMin || width_limit_ > kWidthMax) {
      return unsupported_stream(Compression::compress,
                                "codes of up to " + std::to_string(width_limit_) + " bits");
    }
    next_free_ = first_free();
    filling_left_ = kCompressHeaderSize;
    return Done{};
  }

  Result<CodecStep> step(std::span<const std::byte> in, std::span<std::byte> out) override {
    CodecStep done;
    if (width_limit_ == 0) {
      done.consumed = in.size();
      return done;
    }
    for (;;) {
      done.produced += hand_out(out.subspan(done.produced));
      if (done.produced == out.size()) {
        return done;
      }
      if (!fill(in, done.consumed)) {
        // The format has no mark for its end: this is it, once there is nothing more to come.
        done.stream_ended = in.empty();
        return done;
      }
      if (auto taken = take_code(); !taken) {
        taken.error().at = ByteOffset{done.consumed};
        return std::move(taken).error();
      }
    }
  }

 private:
  [[nodiscard]] std::uint32_t first_free() const { return kLiterals + (clears_ ? 1U : 0U); }

  std::size_t hand_out(std::span<std::byte> out) {
    const std::size_t count = std::min(out.size(), pending_.size());
    std::copy_n(pending_.rbegin(), count, out.begin());
    pending_.resize(pending_.size() - count);
    return count;
  }

  /// Moves bytes from `in` into `bits_` until a whole code is there; false if they do not suffice.
  bool fill(std::span<const std::byte> in, std::size_t& consumed) {
    const std::size_t filling = std::min(filling_left_, in.size() - consumed);
    consumed += filling;
    filling_left_ -= filling;
    while (bit_count_ < width_) {
      if (consumed == in.size()) {
        return false;
      }
      bits_ |= std::to_integer<std::uint32_t>(in[consumed]) << bit_count_;
      bit_count_ += 8;
      ++consumed;
    }
    return true;
  }

  Result<Done> take_code() {
    const std::uint32_t code = bits_ & ((1U << width_) - 1U);
    bits_ >>= width_;
    bit_count_ -= width_;
    ++group_codes_;
    if (clears_ && code == kClear) {
      next_free_ = first_free();
      previous_ = kNone;
      change_width(kWidthMin);
      return Done{};
    }
    const bool first = previous_ == kNone;
    if (code > next_free_ || (first && code >= kLiterals)) {
      return damaged_stream(Compression::compress, "a code that stands for nothing yet");
    }
    spell(code);
    if (!first && next_free_ >> width_limit_ == 0) {
      prefix_[next_free_] = static_cast<std::uint16_t>(previous_);
      suffix_[next_free_] = pending_.back();
      ++next_free_;
    }
    previous_ = code;
    if (next_free_ >> width_ != 0 && width_ < width_limit_) {
      change_width(width_ + 1);
    }
    return Done{};
  }

  /// Puts the string of `code` into `pending_`, last byte first.
  void spell(std::uint32_t code) {
    if (code == next_free_) {
      // The entry about to be added: the previous string and its own first byte once more.
      pending_.push_back(first_byte_);
      code = previous_;
    }
    // A prefix is always a smaller code, so this ends.
    for (; code >= kLiterals; code = prefix_[code]) {
      pending_.push_back(suffix_[code]);
    }
    first_byte_ = static_cast<std::byte>(code);
    pending_.push_back(first_byte_);
  }

  void change_width(unsigned width) {
    constexpr std::size_t kGroup = 8;  // codes; and so a group has as many bytes as a code has bits
    const std::size_t codes_left = (kGroup - group_codes_ % kGroup) % kGroup;
    const std::size_t bits_left = codes_left * width_;
    filling_left_ = (bits_left - bit_count_) / 8;
    bits_ = 0;
    bit_count_ = 0;
    group_codes_ = 0;
    width_ = width;
  }

  std::vector<std::uint16_t> prefix_;  ///< by code: the code of all but its last byte
  std::vector<std::byte> suffix_;      ///< by code: its last byte
  std::vector<std::byte> pending_;     ///< what is to be handed out, last byte first
  unsigned width_limit_ = 0;           ///< 0 if the header is not whole
  bool clears_ = false;
  unsigned width_ = kWidthMin;
  std::uint32_t next_free_ = 0;
  std::uint32_t previous_ = kNone;
  std::byte first_byte_{};
  std::uint32_t bits_ = 0;
  unsigned bit_count_ = 0;
  std::size_t group_codes_ = 0;
  std::size_t filling_left_ = 0;  ///< bytes still to be passed over: filling, or the header
};

}  // namespace

std::unique_ptr<Codec> make_compress_codec() { return std::make_unique<CompressCodec>(); }

}  // namespace compatpack::formats
