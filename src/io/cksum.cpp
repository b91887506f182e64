// SPDX-License-Identifier: Apache-2.0
#include "compatpack/io/cksum.hpp"

#include <array>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace compatpack::io {
namespace {

constexpr std::uint32_t kPolynomial = 0x04C11DB7;

// Slicing by 8: tables[k][b] is the CRC of byte b followed by k zero bytes, so that eight bytes are
// folded with eight look-ups that do not wait for each other.
using Tables = std::array<std::array<std::uint32_t, 256>, 8>;

constexpr Tables make_tables() {
  Tables tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte << 24U;
    for (int bit = 0; bit < 8; ++bit) {
      crc = (crc << 1U) ^ ((crc >> 31U) != 0 ? kPolynomial : 0U);
    }
    tables[0][byte] = crc;
  }
  for (std::size_t k = 1; k < tables.size(); ++k) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t before = tables[k - 1][byte];
      tables[k][byte] = (before << 8U) ^ tables[0][before >> 24U];
    }
  }
  return tables;
}

constexpr Tables kTables = make_tables();

std::uint32_t step(std::uint32_t crc, std::uint32_t byte) {
  return (crc << 8U) ^ kTables[0][(crc >> 24U) ^ byte];
}

/// `crc` after `bytes`, by tables.
std::uint32_t with_tables(std::uint32_t crc, std::span<const std::byte> bytes) {
  std::span<const std::byte> rest = bytes;
  for (; rest.size() >= 8; rest = rest.subspan(8)) {
    const auto at = [rest](std::size_t i) { return std::to_integer<std::uint32_t>(rest[i]); };
    crc = kTables[7][(crc >> 24U) ^ at(0)] ^ kTables[6][((crc >> 16U) & 255U) ^ at(1)] ^
          kTables[5][((crc >> 8U) & 255U) ^ at(2)] ^ kTables[4][(crc & 255U) ^ at(3)] ^
          kTables[3][at(4)] ^ kTables[2][at(5)] ^ kTables[1][at(6)] ^ kTables[0][at(7)];
  }
  for (const std::byte byte : rest) {
    crc = step(crc, std::to_integer<std::uint32_t>(byte));
  }
  return crc;
}

#if defined(__x86_64__)

// Folding by carry-less multiplication (Gopal and others, "Fast CRC Computation for Generic
// Polynomials Using PCLMULQDQ Instruction", Intel, 2009). Sixteen bytes are a polynomial, the first
// bit of the first byte its highest term. Moved n bits up the stream it is multiplied by x^n, and
// as only the remainder counts, its halves may be multiplied by x^n mod P instead, and added to the
// sixteen bytes that stand there. Four such registers run side by side, 64 bytes apart; what is
// left at the end has the CRC of all that was folded into it.

/// x^n mod P.
constexpr std::uint32_t power(unsigned n) {
  std::uint32_t value = 1;
  for (; n > 0; --n) {
    value = (value << 1U) ^ ((value >> 31U) != 0 ? kPolynomial : 0U);
  }
  return value;
}

constexpr std::size_t kRegister = 16;
constexpr std::size_t kStride = 4 * kRegister;

// NOLINTBEGIN(portability-simd-intrinsics): there is no other way to this instruction

[[gnu::target("ssse3")]] __m128i load(const std::byte* at) {
  const __m128i swap = _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  __m128i bytes;
  std::memcpy(&bytes, at, sizeof bytes);
  return _mm_shuffle_epi8(bytes, swap);
}

/// `moved` by n bits, where `powers` has x^(n+64) mod P in its upper half and x^n mod P in its
/// lower.
[[gnu::target("pclmul")]] __m128i fold(__m128i moved, __m128i powers) {
  return _mm_xor_si128(_mm_clmulepi64_si128(moved, powers, 0x11),
                       _mm_clmulepi64_si128(moved, powers, 0x00));
}

/// `crc` after `bytes`, of which there are at least kStride, in whole registers.
[[gnu::target("ssse3,pclmul")]] std::uint32_t with_clmul(std::uint32_t crc,
                                                         std::span<const std::byte> bytes) {
  const __m128i by_stride = _mm_set_epi64x(power(8 * kStride + 64), power(8 * kStride));
  const __m128i by_register = _mm_set_epi64x(power(8 * kRegister + 64), power(8 * kRegister));
  // NOLINTNEXTLINE(modernize-avoid-c-arrays): the type has attributes that a template drops
  __m128i sums[4] = {load(bytes.data()), load(&bytes[16]), load(&bytes[32]), load(&bytes[48])};
  sums[0] = _mm_xor_si128(sums[0], _mm_set_epi32(static_cast<int>(crc), 0, 0, 0));
  std::span<const std::byte> rest = bytes.subspan(kStride);
  for (; rest.size() >= kStride; rest = rest.subspan(kStride)) {
    for (std::size_t i = 0; i < std::size(sums); ++i) {
      sums[i] = _mm_xor_si128(fold(sums[i], by_stride), load(&rest[i * kRegister]));
    }
  }
  __m128i sum = sums[0];
  for (std::size_t i = 1; i < std::size(sums); ++i) {
    sum = _mm_xor_si128(fold(sum, by_register), sums[i]);
  }
  for (; !rest.empty(); rest = rest.subspan(kRegister)) {
    sum = _mm_xor_si128(fold(sum, by_register), load(rest.data()));
  }
  std::array<std::byte, kRegister> left{};
  const __m128i in_order =
      _mm_shuffle_epi8(sum, _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
  std::memcpy(left.data(), &in_order, sizeof in_order);
  return with_tables(0, left);
}

// NOLINTEND(portability-simd-intrinsics)

bool has_clmul() {
  static const bool kHas = static_cast<bool>(__builtin_cpu_supports("ssse3")) &&
                           static_cast<bool>(__builtin_cpu_supports("pclmul"));
  return kHas;
}

#endif

}  // namespace

void PosixCksum::update(std::span<const std::byte> bytes) {
  length_ += bytes.size();
  std::span<const std::byte> rest = bytes;
#if defined(__x86_64__)
  if (rest.size() >= kStride && has_clmul()) {
    const std::size_t folded = rest.size() - rest.size() % kRegister;
    crc_ = with_clmul(crc_, rest.first(folded));
    rest = rest.subspan(folded);
  }
#endif
  crc_ = with_tables(crc_, rest);
}

std::string PosixCksum::text() const {
  std::uint32_t crc = crc_;
  for (std::uint64_t length = length_; length != 0; length >>= 8U) {
    crc = step(crc, static_cast<std::uint32_t>(length & 255U));
  }
  return std::to_string(~crc);
}

}  // namespace compatpack::io
