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
#include "compatpack/io/output_dir.hpp"
#include "compatpack/pipeline/activation.hpp"
#include "compatpack/pipeline/image_output.hpp"
#include "compatpack/pipeline/member_stream.hpp"
#include "compatpack/pipeline/modulefile.hpp"
#include "compatpack/pipeline/selection.hpp"
#include "compatpack/pipeline/user_claims.hpp"

namespace compatpack::commands {

/// How bundles are read; common to all commands that read one.
struct ReadingOptions {
  pipeline::UserChecksums checksums = {};
  unsigned jobs = 1;              ///< threads for decompression
  bool require_checksum = false;  ///< refuse a bundle about which nobody says anything
  std::string keyring = {};       ///< file with the keys that sign bundles; "": not checked
  std::string member = {};        ///< glob: the bundle inside the bundle that is meant; "" if none
};

struct BundleOptions {
  std::string path;
  ReadingOptions reading = {};
};

/// What a tree is made of.
struct TreeSource {
  std::vector<std::string> bundles;  ///< paths; at least one
  ReadingOptions reading = {};
  pipeline::SelectionRequest selection;
  pipeline::Verify verify = pipeline::Verify::claims;
};

struct ExtractOptions {
  TreeSource source;
  std::string out;
  std::string prefix = {};  ///< where the tree will live; "" for `out`
  bool force = false;
  bool dry_run = false;
  io::Durability durability = io::Durability::synced;
};

struct InspectOptions {
  BundleOptions bundle;
  bool deep = false;  ///< read the libraries too; `member` implies it
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

struct ModuleOptions {
  std::string tree;
  std::string prefix = {};  ///< where the tree will live; "" for where it is
  pipeline::ModuleFormat format = pipeline::ModuleFormat::lua;
};

struct ImageOptions {
  TreeSource source;          ///< bundles, or one tree
  std::string choosing = {};  ///< the first option that is given and means nothing for a tree
  std::string out;
  pipeline::ImageFormat format = pipeline::ImageFormat::layout;
  std::string prefix = "/usr/local/cuda/compat";  ///< where the tree will be seen
  bool volume = false;    ///< the image is to be mounted at `prefix`, and holds nothing else
  std::string base = {};  ///< folder of an image layout; "" for none
  std::string tag = "latest";
  bool library_path = false;  ///< set LD_LIBRARY_PATH in the image
  bool force = false;
};

/// Which host a command looks at.
struct HostOptions {
  std::string root = "/";              ///< the folder that stands for its "/"
  std::string driver = {};             ///< kernel driver of another machine; "" for this one's
  std::vector<std::string> gpus = {};  ///< names of its GPUs, in place of what is here
  std::string table = {};              ///< file with a newer table; "" for the built-in one
};

struct CheckOptions {
  BundleOptions bundle = {};  ///< or a folder with a libcuda; path "" for the host alone
  HostOptions host = {};
  std::string application = {};  ///< a program, to see which libcuda it would take
};

struct ProbeOptions {
  std::string tree = {};  ///< "" for the host's own driver
  unsigned timeout_s = 60;
};

struct RunOptions {
  std::string tree;
  std::vector<std::string> command;  ///< at least one word
  std::string root = "/";            ///< where the host's driver version is read
};

struct MatrixOptions {
  std::string cuda = {};    ///< "12.4": of the package; "" for all
  std::string driver = {};  ///< of the host: "535" or "535.129.03"; "" for all
  std::string table = {};   ///< file with a newer table; "" for the built-in one
};

Result<int> run_extract(const ExtractOptions& options, const Env& env, Console& console);
Result<int> run_inspect(const InspectOptions& options, const Env& env, Console& console);
Result<int> run_list(const ListOptions& options, const Env& env, Console& console);
Result<int> run_verify(const VerifyOptions& options, const Env& env, Console& console);
Result<int> run_env(const EnvOptions& options, Console& console);
Result<int> run_module(const ModuleOptions& options, Console& console);
Result<int> run_image(const ImageOptions& options, const Env& env, Console& console);
Result<int> run_check(const CheckOptions& options, const Env& env, Console& console);
Result<int> run_probe(const ProbeOptions& options, const Env& env, Console& console);
Result<int> run_run(const RunOptions& options, const Env& env, Console& console);
Result<int> run_matrix(const MatrixOptions& options, const Env& env, Console& console);

}  // namespace compatpack::commands
