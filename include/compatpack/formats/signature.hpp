// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "compatpack/base/bytes.hpp"

namespace compatpack::formats {

/// Largest signature that is read, in bytes. One of a 4096-bit RSA key has 600, armored 900; one
/// that a dozen keys have made is still far below.
inline constexpr std::size_t kSignatureMax = 64U << 10U;

/// An OpenPGP signature that a package carries, apart from the bytes that it signs.
struct Signature {
  std::string name;               ///< where it stands: "_gpgorigin", "RSA, over the header"
  std::string bytes;              ///< binary or armored, as OpenPGP programs take either
  std::vector<ByteRange> covers;  ///< of the file: the bytes of these, in this order, are signed
  std::string unfit = {};  ///< why it cannot be checked, as "it has no bytes"; empty if it can
};

}  // namespace compatpack::formats
