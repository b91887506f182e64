// SPDX-License-Identifier: Apache-2.0
#pragma once

// What somebody other than the bundle says of its bytes: the user on the command line, and files in
// the format of sha256sum(1), such as NVIDIA puts beside its downloads:
//
//   DIGEST  NAME            also "DIGEST *NAME", or DIGEST alone
//   SHA256 (NAME) = DIGEST  as BSD's tools write it
//
// The number of digits tells the algorithm.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compatpack/base/digest_claim.hpp"
#include "compatpack/base/result.hpp"
#include "compatpack/pipeline/bundle.hpp"

namespace compatpack::pipeline {

/// What the command line says about checksums.
struct UserChecksums {
  std::string sha256 = {};         ///< --sha256; "" if not given, as for the others
  std::string sha1 = {};           ///< --sha1
  std::string md5 = {};            ///< --md5
  std::string checksum_file = {};  ///< --checksum-file
};

/// The digest that `text` gives for a file called `name`, as a claim over `size` bytes said by
/// `origin`; nullopt where it names other files only. Error corrupt: not the format described
/// above.
Result<std::optional<DigestClaim>> parse_checksum_file(std::string_view text, std::string_view name,
                                                       ByteCount size, const std::string& origin);

/// The claims of the command line, of its --checksum-file, and of a file BUNDLE.sha256sum,
/// BUNDLE.sha256 or BUNDLE.md5sum beside the bundle.
///
/// Errors, with `subject`: usage for a digest that is not one; io and corrupt for a file that was
/// named on the command line, or has no line for the bundle. A file that just stands beside the
/// bundle and says nothing of it becomes a text in `warnings`.
Result<std::vector<DigestClaim>> collect_user_claims(const BundleInfo& bundle,
                                                     const UserChecksums& said,
                                                     std::vector<std::string>& warnings);

}  // namespace compatpack::pipeline
