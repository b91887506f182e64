// SPDX-License-Identifier: Apache-2.0
#include "compatpack/io/digest.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <new>
#include <stdexcept>

#include <openssl/evp.h>

#include "compatpack/base/text.hpp"
#include "compatpack/io/cksum.hpp"

namespace compatpack::io {
namespace {

constexpr ByteRange kWholeFile{{0}, {std::numeric_limits<std::uint64_t>::max()}};

/// OpenSSL reads a configuration file before its first digest, which may name providers: shared
/// libraries of another OpenSSL than a statically linked one.
void leave_configuration_out() {
#ifdef COMPATPACK_STATIC
  OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG, nullptr);
#endif
}

const EVP_MD* evp_of(DigestAlgorithm algorithm) {
  switch (algorithm) {
    case DigestAlgorithm::cksum:
      return nullptr;
    case DigestAlgorithm::md5:
      return EVP_md5();
    case DigestAlgorithm::sha1:
      return EVP_sha1();
    case DigestAlgorithm::sha256:
      return EVP_sha256();
    case DigestAlgorithm::sha512:
      return EVP_sha512();
  }
  return nullptr;
}

struct FreeContext {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};

}  // namespace

struct Digest::State {
  PosixCksum cksum;
  std::unique_ptr<EVP_MD_CTX, FreeContext> evp;  // null: cksum is meant
};

Digest::Digest(DigestAlgorithm algorithm) : state_(std::make_unique<State>()) {
  const EVP_MD* const evp = evp_of(algorithm);
  if (evp == nullptr) {
    return;
  }
  leave_configuration_out();
  state_->evp.reset(EVP_MD_CTX_new());
  if (!state_->evp) {
    throw std::bad_alloc();
  }
  if (EVP_DigestInit_ex(state_->evp.get(), evp, nullptr) != 1) {
    throw DigestUnavailable(algorithm);
  }
}

Digest::Digest(Digest&&) noexcept = default;
Digest& Digest::operator=(Digest&&) noexcept = default;
Digest::~Digest() = default;

void Digest::update(std::span<const std::byte> bytes) {
  if (!state_->evp) {
    state_->cksum.update(bytes);
  } else if (EVP_DigestUpdate(state_->evp.get(), bytes.data(), bytes.size()) != 1) {
    throw std::runtime_error("OpenSSL cannot go on with a digest");
  }
}

std::string Digest::finish() {
  if (!state_->evp) {
    return state_->cksum.text();
  }
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  if (EVP_DigestFinal_ex(state_->evp.get(), digest.data(), &size) != 1) {
    throw std::runtime_error("OpenSSL cannot finish a digest");
  }
  return to_hex(std::as_bytes(std::span(digest)).first(size));
}

std::string sha256_of(std::span<const std::byte> bytes) {
  Digest digest(DigestAlgorithm::sha256);
  digest.update(bytes);
  return digest.finish();
}

ClaimChecker::ClaimChecker(std::vector<DigestClaim> claims) : claims_(std::move(claims)) {
  add(DigestAlgorithm::sha256, kWholeFile);
  for (const DigestClaim& claim : claims_) {
    add(claim.algorithm, claim.covers);
  }
}

void ClaimChecker::add(DigestAlgorithm algorithm, ByteRange covers) {
  const bool there = std::any_of(running_.begin(), running_.end(), [&](const Running& one) {
    return one.algorithm == algorithm && one.covers == covers;
  });
  if (!there) {
    running_.push_back({algorithm, covers, Digest(algorithm)});
  }
}

void ClaimChecker::update(std::span<const std::byte> bytes) {
  const std::uint64_t begin = position_.value;
  const std::uint64_t end = begin + bytes.size();
  // All digests over one small piece while it is in the cache, then the next piece.
  constexpr std::uint64_t kPiece = 32U << 10U;
  for (std::uint64_t at = begin; at < end; at += kPiece) {
    const std::uint64_t piece_end = std::min(end, at + kPiece);
    for (Running& one : running_) {
      const std::uint64_t from = std::max(at, one.covers.begin.value);
      const std::uint64_t to = std::min(piece_end, one.covers.end.value);
      if (from < to) {
        one.digest.update(bytes.subspan(static_cast<std::size_t>(from - begin),
                                        static_cast<std::size_t>(to - from)));
      }
    }
  }
  position_.value = end;
}

void ClaimChecker::finish() {
  std::vector<std::string> found;
  for (Running& one : running_) {
    found.push_back(one.digest.finish());
  }
  whole_sha256_ = found.front();
  for (DigestClaim& claim : claims_) {
    for (std::size_t i = 0; i < running_.size(); ++i) {
      if (running_[i].algorithm == claim.algorithm && running_[i].covers == claim.covers) {
        checked_.push_back({std::move(claim), found[i]});
        break;
      }
    }
  }
}

Result<Done> ClaimChecker::verdict() const {
  for (const CheckedClaim& one : checked_) {
    if (!one.holds()) {
      const ByteRange& covers = one.claim.covers;
      return Error{.code = Errc::mismatch,
                   .what = std::string(name_of(one.claim.algorithm)) +
                           " does not match the one in " + one.claim.origin,
                   .expected = one.claim.digest + " over bytes " +
                               std::to_string(covers.begin.value) + ".." +
                               std::to_string(covers.end.value),
                   .found = one.found,
                   .hint = "the download is damaged; fetch it again"};
    }
  }
  return Done{};
}

std::string digest_library_version() { return OpenSSL_version(OPENSSL_VERSION_STRING); }

}  // namespace compatpack::io
