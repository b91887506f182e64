// SPDX-License-Identifier: Apache-2.0
#include "compatpack/base/digest_claim.hpp"

namespace compatpack {

std::string_view name_of(DigestAlgorithm algorithm) {
  switch (algorithm) {
    case DigestAlgorithm::cksum:
      return "cksum";
    case DigestAlgorithm::md5:
      return "MD5";
    case DigestAlgorithm::sha1:
      return "SHA-1";
    case DigestAlgorithm::sha256:
      return "SHA-256";
    case DigestAlgorithm::sha512:
      return "SHA-512";
  }
  return "?";
}

std::size_t hex_digits(DigestAlgorithm algorithm) {
  switch (algorithm) {
    case DigestAlgorithm::cksum:
      return 0;
    case DigestAlgorithm::md5:
      return 32;
    case DigestAlgorithm::sha1:
      return 40;
    case DigestAlgorithm::sha256:
      return 64;
    case DigestAlgorithm::sha512:
      return 128;
  }
  return 0;
}

}  // namespace compatpack
