// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which host branches a forward-compatibility package works on, by who says so. It is a set for
// each package, not a minimum: hosts newer than the package are out, and so are branches whose end
// of life came before it.
//
// The built-in table is src/knowledge/data/compat-matrix.csv, which says where each row comes from;
// a user can give a newer one of the same columns, of which compat_cuda, host_branch and status
// must be there.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compatpack/base/result.hpp"
#include "compatpack/base/version.hpp"

namespace compatpack::knowledge {

enum class PairStatus {
  accepted,    ///< C
  refused,     ///< X
  own_branch,  ///< NOT_NEEDED: package and host are of one branch
  if_newer,    ///< C_IF_PACKAGE_NEWER: of one branch, and the package is the newer
  start_gate,  ///< LISTED: a container image lets the branch start, which is indirect evidence
};

/// Who says so, the weightiest first.
enum class Basis {
  library_note,   ///< the list in a libcuda: holds for that file
  nvidia_page,    ///< NVIDIA's compatibility table, or its table for Jetson
  nvidia_image,   ///< NVIDIA's container images
  transcription,  ///< older tables of NVIDIA's as others wrote them down
};

/// "NVIDIA's table", and so on.
[[nodiscard]] std::string_view name_of(Basis basis);

struct PairRow {
  CudaVersion cuda;         ///< of the package
  bool or_later;            ///< of this CUDA version and all later ones
  std::string driver = {};  ///< the package's, where the row is of one file; else ""
  std::optional<std::uint32_t> branch = {};  ///< of the host; nullopt for a Jetson
  std::string jetpack = {};                  ///< "6.x", "7.0": of a Jetson; else ""
  PairStatus status;
  Basis basis;
  std::string as_of = {};   ///< "2026-09": when it was read; "" if not said
  std::string source = {};  ///< where

  /// Whether it speaks of packages of `version`.
  [[nodiscard]] bool is_of(CudaVersion version) const {
    return cuda == version || (or_later && version > cuda);
  }
};

struct CompatTable {
  std::vector<PairRow> rows;  ///< in the file's order
  std::string name;           ///< "compatpack's table", or the user's file

  /// The newest `as_of` of its rows; "" if none says.
  [[nodiscard]] std::string as_of() const;
};

/// The rows of a table that is as src/knowledge/data/compat-matrix.csv.
///
/// Errors, without `subject`: those of parse_csv(); corrupt, with the line, for a missing column or
/// a cell that is none of the words above.
Result<CompatTable> parse_compat_table(std::string_view csv);

/// The table that comes with compatpack.
[[nodiscard]] CompatTable built_in_compat_table();

/// A number that circulates as the minimum driver for a package, and is the number of something
/// else.
struct CirculatingNumber {
  CudaVersion cuda;
  std::string_view driver;
  std::string_view truth;  ///< what the number really is, as a clause
};

/// The circulating number for a package of `cuda` on hosts of `branch`; null if there is none.
[[nodiscard]] const CirculatingNumber* circulating_number(CudaVersion cuda, std::uint32_t branch);

}  // namespace compatpack::knowledge
