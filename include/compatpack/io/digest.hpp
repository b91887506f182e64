// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "compatpack/base/digest_claim.hpp"
#include "compatpack/base/result.hpp"

namespace compatpack::io {

/// OpenSSL does not offer an algorithm: in FIPS mode it refuses MD5, which every .run carries.
/// Saying "not verified" instead would be a lie by omission. Thrown by Digest's constructor alone.
class DigestUnavailable : public std::runtime_error {
 public:
  explicit DigestUnavailable(DigestAlgorithm algorithm)
      : std::runtime_error("OpenSSL on this host does not offer " +
                           std::string(name_of(algorithm))) {}
};

/// A running digest of bytes as they come.
class Digest {
 public:
  explicit Digest(DigestAlgorithm algorithm);
  Digest(Digest&&) noexcept;
  Digest& operator=(Digest&&) noexcept;
  ~Digest();

  void update(std::span<const std::byte> bytes);

  /// The digest as DigestClaim writes it. Requires: called once, at the end.
  [[nodiscard]] std::string finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The SHA-256 of what is in memory, as DigestClaim writes it.
[[nodiscard]] std::string sha256_of(std::span<const std::byte> bytes);

/// What one claim came to.
struct CheckedClaim {
  DigestClaim claim;
  std::string found;  ///< the digest of the bytes that were there

  [[nodiscard]] bool holds() const { return claim.digest == found; }
};

/// Checks claims about ranges of a file while the file goes by once.
class ClaimChecker {
 public:
  /// Besides `claims`, the SHA-256 of the whole file is always computed.
  explicit ClaimChecker(std::vector<DigestClaim> claims);

  /// The next bytes of the file.
  void update(std::span<const std::byte> bytes);

  /// Ends the file. Requires: called once; the functions below only after it.
  void finish();

  [[nodiscard]] const std::vector<CheckedClaim>& checked() const { return checked_; }
  [[nodiscard]] const std::string& whole_sha256() const { return whole_sha256_; }

  /// Error mismatch for the first claim that does not hold: `expected` with its range, `found`.
  [[nodiscard]] Result<Done> verdict() const;

 private:
  // Claims of one algorithm over one range share one running digest.
  struct Running {
    DigestAlgorithm algorithm;
    ByteRange covers;
    Digest digest;
  };
  void add(DigestAlgorithm algorithm, ByteRange covers);

  std::vector<DigestClaim> claims_;
  std::vector<Running> running_;
  ByteOffset position_;
  std::vector<CheckedClaim> checked_;
  std::string whole_sha256_;
};

/// The version of OpenSSL: "3.0.17".
std::string digest_library_version();

}  // namespace compatpack::io
