// SPDX-License-Identifier: Apache-2.0
#pragma once

// OpenPGP keys as text, which is how vendors publish theirs (RFC 4880, section 6.2):
//
//   -----BEGIN PGP PUBLIC KEY BLOCK-----
//   Comment: headers, any number
//
//   mQINBF9V...      base64
//   =Ab1c            checksum, optional
//   -----END PGP PUBLIC KEY BLOCK-----
//
// Text may stand around a block, and several blocks in one file. gpgv reads only the bytes that
// they stand for.

#include <string>
#include <string_view>

#include "compatpack/base/result.hpp"

namespace compatpack::formats {

/// Whether `text` holds an armored block of public keys.
[[nodiscard]] bool is_armored_keyring(std::string_view text);

/// The bytes of all blocks of public keys in `text`, one behind the other. The checksum is left
/// alone: whoever reads keys checks what they say, and newer writers leave it out.
///
/// Errors, with `at` set: corrupt for a block without an end or whose text is no base64.
Result<std::string> dearmor_keyring(std::string_view text);

}  // namespace compatpack::formats
