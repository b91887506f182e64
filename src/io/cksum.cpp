// SPDX-License-Identifier: Apache-2.0
#include "compatpack/io/cksum.hpp"

#include <array>

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

}  // namespace

void PosixCksum::update(std::span<const std::byte> bytes) {
  length_ += bytes.size();
  std::uint32_t crc = crc_;
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
  crc_ = crc;
}

std::string PosixCksum::text() const {
  std::uint32_t crc = crc_;
  for (std::uint64_t length = length_; length != 0; length >>= 8U) {
    crc = step(crc, static_cast<std::uint32_t>(length & 255U));
  }
  return std::to_string(~crc);
}

}  // namespace compatpack::io
