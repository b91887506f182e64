// SPDX-License-Identifier: Apache-2.0
#pragma once

// From what a bundle holds to what the tree will be. Pure: a Plan is a value, --dry-run prints it,
// and most tests compare it. Equal inputs give equal plans.

#include <optional>
#include <string>
#include <vector>

#include "compatpack/base/rel_path.hpp"
#include "compatpack/base/version.hpp"
#include "compatpack/formats/fwd_compat_note.hpp"
#include "compatpack/pipeline/gathering.hpp"

namespace compatpack::pipeline {

struct PlannedFile {
  FileName to;
  std::size_t member;  ///< its number in Contents
  std::size_t bundle;  ///< number of the bundle it is from
  std::string from;    ///< path in the bundle
  ByteCount size;
  std::string sha256;
  std::string component;  ///< "" for what no component knows
  std::string soname;     ///< "" if none
  bool is_program;        ///< mode 0755, else 0644: libraries, and what was a program
};

struct PlannedLink {
  FileName at;
  FileName target;
};

struct PlannedText {
  FileName at;
  std::string content;
};

struct Plan {
  std::optional<DriverVersion> driver;  ///< the libraries', else the header's; nullopt: neither
  std::optional<CudaVersion> cuda;      ///< nullopt if no table or note knows it
  std::optional<formats::FwdCompatNote> note;  ///< libcuda's own word on host branches
  std::string arch;
  std::string glibc_needed;        ///< "2.17"; "" if none says
  std::vector<PlannedFile> files;  ///< sorted by name
  std::vector<PlannedLink> links;  ///< sorted by name
  std::vector<PlannedText> texts;  ///< env.sh and its like, LICENSE; sorted by name
  std::vector<LeftOut> left_out;   ///< sorted by path
  std::vector<std::string> warnings;
};

struct PlanRequest {
  SelectionRequest selection;
  std::string prefix;  ///< absolute path where the tree will live
};

/// Decides names, links and texts.
///
/// Errors, with `subject` set to the bundle if there is but one: not_recognized where no bundle has
/// a libcuda for the architecture and nothing was named by --include, with what the bundle is
/// instead; unsupported for libraries of two driver versions; conflict for two members that would
/// have one name, or one of compatpack's own. Requires: at least one bundle.
Result<Plan> make_plan(const Gathered& gathered, const PlanRequest& request);

}  // namespace compatpack::pipeline
