// SPDX-License-Identifier: Apache-2.0
#pragma once

// The CRC of POSIX cksum(1), which makeself headers carry: polynomial 0x04C11DB7, most significant
// bit first, initial value 0, then the number of bytes, least significant byte first and without
// leading zero bytes, then complemented. It is not zlib's CRC-32.

#include <cstdint>
#include <span>
#include <string>

#include "compatpack/base/bytes.hpp"

namespace compatpack::io {

class PosixCksum {
 public:
  void update(std::span<const std::byte> bytes);

  /// The checksum of all bytes so far, as cksum prints it: decimal, no leading zeros.
  [[nodiscard]] std::string text() const;

 private:
  std::uint32_t crc_ = 0;
  std::uint64_t length_ = 0;
};

}  // namespace compatpack::io
