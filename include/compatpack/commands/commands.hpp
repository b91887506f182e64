// SPDX-License-Identifier: Apache-2.0
#pragma once

// One function a subcommand. Options are plain structs: a command has never heard of argv. Each
// prints its answer on the console and returns the exit status, or the Error that the caller
// prints.

#include <string>
#include <vector>

#include "compatpack/base/limits.hpp"
#include "compatpack/base/result.hpp"
#include "compatpack/commands/console.hpp"
#include "compatpack/pipeline/activation.hpp"
#include "compatpack/pipeline/member_stream.hpp"
#include "compatpack/pipeline/selection.hpp"
#include "compatpack/pipeline/user_claims.hpp"

namespace compatpack::commands {

/// How a bundle is read; common to all commands that read one.
struct BundleOptions {
  std::string path;
  pipeline::UserChecksums checksums = {};
  unsigned jobs = 1;              ///< threads for decompression
  bool require_checksum = false;  ///< refuse a bundle about which nobody says anything
};

struct ExtractOptions {
  BundleOptions bundle;
  pipeline::SelectionRequest selection;
  std::string out;
  std::string prefix = {};  ///< where the tree will live; "" for `out`
  pipeline::Verify verify = pipeline::Verify::claims;
  bool force = false;
  bool dry_run = false;
};

struct InspectOptions {
  BundleOptions bundle;
  bool deep = false;  ///< read the libraries too
};

struct ListOptions {
  BundleOptions bundle;
  pipeline::SelectionRequest selection;
};

struct VerifyOptions {
  BundleOptions bundle;  ///< or a tree, if `path` is a folder
  bool repair = false;
};

struct EnvOptions {
  std::string tree;
  pipeline::Shell shell = pipeline::Shell::sh;
};

Result<int> run_extract(const ExtractOptions& options, const Env& env, Console& console);
Result<int> run_inspect(const InspectOptions& options, const Env& env, Console& console);
Result<int> run_list(const ListOptions& options, Console& console);
Result<int> run_verify(const VerifyOptions& options, Console& console);
Result<int> run_env(const EnvOptions& options, Console& console);

}  // namespace compatpack::commands
