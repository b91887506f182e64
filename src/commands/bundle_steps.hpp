// SPDX-License-Identifier: Apache-2.0
#pragma once

// What every command that reads a bundle does first and last.

#include <memory>
#include <optional>
#include <string>

#include "compatpack/commands/commands.hpp"
#include "compatpack/pipeline/bundle.hpp"
#include "compatpack/pipeline/gathering.hpp"
#include "compatpack/pipeline/planner.hpp"

#include "json.hpp"

namespace compatpack::commands {

/// A bundle and how it is to be read.
struct OpenBundle {
  std::unique_ptr<pipeline::Bundle> bundle;
  pipeline::ReadOptions read;
};

/// Opens the bundle, gathers what the user says of its checksums, prints warnings about that, and
/// checks its signatures under --keyring.
///
/// Errors: those of Bundle::open(), collect_user_claims() and check_signatures(); unsupported under
/// --require-checksum where nobody makes a claim.
Result<OpenBundle> open_bundle(const BundleOptions& options, const Env& env, Console& console);

/// Refuses what is said of a bundle where none is read: nobody would see that it was not looked
/// at. Error usage.
Result<Done> refuse_bundle_options(const BundleOptions& options);

/// "verified: MD5 and cksum of its header, SHA-256 of --sha256, signature by 8170...";
/// "not verified: ..." where there was nothing, "NOT VERIFIED: ..." where the user said so.
std::string describe_verification(const pipeline::BundleInfo& info,
                                  const pipeline::Verification& verification,
                                  pipeline::Verify verify);

/// The same for each of several bundles, with its name where there is more than one.
std::vector<std::string> describe_verifications(const std::vector<pipeline::ReadBundle>& bundles,
                                                pipeline::Verify verify);

/// The keys that describe a bundle, for --json.
Json json_of(const pipeline::BundleInfo& info);
Json json_of(const std::vector<io::CheckedClaim>& claims);
Json json_of(const std::vector<pipeline::LeftOut>& left_out);
/// null where no signature was checked.
Json json_of(const std::optional<pipeline::SignedBy>& signed_by);

/// What a bundle's libraries say.
struct DeepLook {
  pipeline::Plan plan;
  std::vector<pipeline::ReadBundle> bundles;  ///< the bundle, and what was found inside it
  std::vector<std::string> archs;             ///< of all libcudas in it; sorted
};

/// Reads a bundle's CUDA libraries as extract would, and keeps none of them. Errors: those of
/// pipeline::Gatherer and make_plan().
Result<DeepLook> look_deep(OpenBundle& open, const BundleOptions& options, const Env& env,
                           Console& console);

/// Gives up, before members are read, all rights that this does not need. `allowed` is where it
/// will write.
void confine(const Env& env, Console& console, std::span<const io::AllowedFolder> allowed);

/// The same, where one folder is all that will be written in.
void confine_to_folder(const Env& env, Console& console, const std::string& path);

/// A folder for what is too large for memory: TMPDIR, or /tmp.
std::string temporary_folder(const Env& env);

/// A path as one types it: quoted only where it must be.
std::string shell_word(const std::string& path);

}  // namespace compatpack::commands
