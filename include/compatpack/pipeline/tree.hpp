// SPDX-License-Identifier: Apache-2.0
#pragma once

// A tree on disk: what stands at a path, whether it is what its receipt says, and how a Plan
// becomes one.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compatpack/base/result.hpp"
#include "compatpack/io/output_dir.hpp"
#include "compatpack/pipeline/member_stream.hpp"
#include "compatpack/pipeline/planner.hpp"
#include "compatpack/pipeline/receipt.hpp"

namespace compatpack::pipeline {

/// What stands at a path.
struct TreePlace {
  enum class Kind {
    nothing,  ///< or an empty folder
    tree,     ///< a folder with a receipt
    foreign,  ///< something that compatpack did not make
  };
  Kind kind;
  std::optional<Receipt> receipt = {};  ///< of a tree
  std::string why = {};                 ///< why it is foreign: "has no compatpack.json"
};

/// Looks at `path`, following a link at its end. Error io where it cannot be looked at.
Result<TreePlace> look_at_tree(const std::string& path);

/// Reads the receipt of the tree at `path`. Errors, with `subject`: io where nothing is there;
/// not_recognized where something else is.
Result<Receipt> read_tree(const std::string& path);

enum class TreeCheck {
  sizes,    ///< that each file and link is there: milliseconds
  digests,  ///< every byte
};

/// One thing in which a tree differs from its receipt.
struct TreeFault {
  enum class Kind {
    missing,       ///< nothing where a file should be
    link_missing,  ///< nothing where a link should be
    wrong_size,
    wrong_content,
    wrong_mode,
    wrong_link,      ///< a link to something else
    link_is_a_file,  ///< a copy of what the link led to, as a COPY with a glob or cp -L makes
    not_a_file,      ///< a folder, link or special file where a file should be
    not_a_link,      ///< a folder, special file or somebody's own file where a link should be
    extra,           ///< a file that the receipt does not know
  };
  Kind kind;
  std::string path;  ///< in the tree
  std::string expected;
  std::string found;
};

/// Compares the tree at `path` with `receipt`, in at most `jobs` threads; the faults are sorted by
/// path. `interrupted`, if not empty, is asked between blocks, in all threads. Errors: io;
/// interrupted where it says so.
Result<std::vector<TreeFault>> check_tree(const std::string& path, const Receipt& receipt,
                                          TreeCheck how, unsigned jobs = 1,
                                          const std::function<bool()>& interrupted = {});

/// One clause about a fault, without its path: "is a file, and should be a link".
[[nodiscard]] std::string describe(const TreeFault& fault);

/// Mends what can be mended without the bundle: links that are missing, wrong, or have become
/// copies of their target, and modes. Error io.
Result<Done> repair_tree(const std::string& path, const Receipt& receipt,
                         const std::vector<TreeFault>& faults);

/// Whether a fault is of a kind that repair_tree() mends.
[[nodiscard]] bool is_repairable(const TreeFault& fault);

/// The receipt of a tree made by `plan`.
[[nodiscard]] Receipt make_receipt(const Plan& plan, const std::vector<ReadBundle>& bundles,
                                   Verify verify, const PlanRequest& request);

/// What is to stand in a tree as its receipt. Error limit where that would be too large to be read
/// again: the tree could be neither verified nor replaced.
[[nodiscard]] Result<std::string> receipt_text(const Receipt& receipt);

/// Gives the staged members their names, and adds links, texts and the receipt. Nothing of it can
/// be seen until `dir` is committed. `receipt` is of receipt_text(). Error io.
Result<Done> write_tree(io::OutputDir& dir, const Contents& contents, const Plan& plan,
                        const std::string& receipt);

/// The version of this compatpack.
[[nodiscard]] std::string_view compatpack_version();

}  // namespace compatpack::pipeline
