// SPDX-License-Identifier: Apache-2.0
#pragma once

// What somebody says of a bundle's bytes: the bundle itself, a file beside it, or the user. A claim
// that holds proves that the bytes are whole, not where they came from.

#include <cstddef>
#include <string>
#include <string_view>

#include "compatpack/base/bytes.hpp"

namespace compatpack {

enum class DigestAlgorithm {
  cksum,  ///< POSIX cksum(1): CRC-32, polynomial 0x04C11DB7, with the length; not zlib's
  md5,
  sha1,
  sha256,
  sha512,
};

/// "cksum", "MD5", "SHA-1", "SHA-256", "SHA-512".
[[nodiscard]] std::string_view name_of(DigestAlgorithm algorithm);

/// Hexadecimal digits of a digest in text. cksum's is decimal and has no fixed number: 0.
[[nodiscard]] std::size_t hex_digits(DigestAlgorithm algorithm);

struct DigestClaim {
  DigestAlgorithm algorithm;
  std::string digest;  ///< lower-case hexadecimal; for cksum decimal, without leading zeros
  ByteRange covers;    ///< of the stored file; inside it
  std::string origin;  ///< who says so: "its header", "driver.run.sha256sum", "--sha256"

  friend bool operator==(const DigestClaim&, const DigestClaim&) = default;
};

}  // namespace compatpack
