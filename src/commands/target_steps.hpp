// SPDX-License-Identifier: Apache-2.0
#pragma once

// Where a result is to stand, while other processes may be making the same.

#include <functional>
#include <string>

#include "compatpack/base/result.hpp"

namespace compatpack::commands {

/// Whether the target is already what is asked for. Error conflict where it is something else that
/// may not be replaced.
using LookAtTarget = std::function<Result<bool>()>;

/// `look`, and again where it finds a conflict: another process may put its result in place between
/// one file and the next, and what is really in the way is there at a second look too.
Result<bool> look_twice(const LookAtTarget& look);

/// Makes what was made appear by `commit`, which gives the Error conflict where something stands
/// there unexpectedly. Returns whether the same is there already: it was all along, or another
/// process has been faster. Before the last look `sync` waits for the disk, so that little time is
/// between that look and the rename. Errors: those of the three.
Result<bool> put_in_place(const LookAtTarget& look, const std::function<Result<Done>()>& sync,
                          const std::function<Result<Done>()>& commit);

/// Error conflict for a target, as the user named it, that is not ours to replace. `ours` is what
/// may stand there: "a tree of compatpack's"; `found` is why it is not that.
Error foreign_target(const std::string& target, const std::string& ours, std::string found);

}  // namespace compatpack::commands
