// SPDX-License-Identifier: Apache-2.0
#pragma once

// compatpack.json, the receipt in each tree: where it came from, what was verified, and every file
// and link in it. It holds no times and no owners, so that the same bundle and options give the
// same bytes.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compatpack/base/digest_claim.hpp"
#include "compatpack/base/result.hpp"
#include "compatpack/base/version.hpp"
#include "compatpack/pipeline/selection.hpp"

namespace compatpack::pipeline {

/// The first member of the format; a receipt with a higher number is not read.
inline constexpr int kReceiptFormat = 1;

struct ReceiptFile {
  std::string path;  ///< in the tree
  ByteCount size;
  std::string sha256;
  bool is_program;             ///< mode 0755, else 0644
  std::string component = {};  ///< "" for activation scripts and texts
  std::string from = {};       ///< path in the bundle; "" likewise
  std::size_t bundle = 0;      ///< number of the bundle, where `from` is not ""
};

struct ReceiptLink {
  std::string path;
  std::string target;
};

struct ReceiptBundle {
  std::string name;                        ///< without its folder; of one inside another its path
  std::optional<std::size_t> inside = {};  ///< number of the bundle that holds it
  ByteCount size;
  std::string sha256;         ///< "" of a folder
  std::string header_sha256;  ///< of all before the first payload
  std::string kind;
  std::string dialect;
  std::vector<DigestClaim> verified;          ///< claims that were checked, and hold
  std::size_t members_verified = 0;           ///< members whose own digest was met
  std::string members_verified_by = {};       ///< who says these: "its md5sums"; "" if nobody
  std::optional<std::string> signed_by = {};  ///< fingerprint of the key whose signature was good
};

/// Name of the receipt in a tree.
inline constexpr std::string_view kReceiptName = "compatpack.json";

struct Receipt {
  std::string compatpack_version;
  std::vector<ReceiptBundle> bundles;  ///< at least one; each before what is inside it
  bool verification_skipped = false;   ///< --no-verify
  std::string driver_version = {};     ///< "" if unknown
  std::string cuda_version = {};       ///< "" if unknown
  SelectionRequest selection = {};
  std::string prefix = {};              ///< where the scripts expect the tree, if they cannot tell
  std::vector<ReceiptFile> files = {};  ///< all but the receipt itself, sorted by path
  std::vector<ReceiptLink> links = {};  ///< sorted by path
};

/// The receipt as JSON, ending in a newline. Equal receipts give equal text.
[[nodiscard]] std::string render_receipt(const Receipt& receipt);

/// Whether two receipts are of the same tree: what render_receipt() gives is the same.
[[nodiscard]] inline bool is_same(const Receipt& a, const Receipt& b) {
  return render_receipt(a) == render_receipt(b);
}

/// Reads a receipt. Errors, without `subject`: corrupt where it is no receipt, or names files that
/// cannot be in a tree; unsupported where a newer compatpack wrote it.
Result<Receipt> parse_receipt(std::string_view text);

}  // namespace compatpack::pipeline
