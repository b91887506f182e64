// SPDX-License-Identifier: Apache-2.0
#include "target_steps.hpp"

#include <utility>

namespace compatpack::commands {
namespace {

// How often another process may be faster. One that makes the same ends this at once.
constexpr int kTries = 3;

}  // namespace

Result<bool> look_twice(const LookAtTarget& look) {
  auto answer = look();
  return answer || answer.error().code != Errc::conflict ? answer : look();
}

Result<bool> put_in_place(const LookAtTarget& look, const std::function<Result<Done>()>& sync,
                          const std::function<Result<Done>()>& commit) {
  // The work took its time: what stands at the target now is what counts.
  CP_TRY(bool is_there, look_twice(look));
  for (int number = 1; !is_there; ++number) {
    CP_CHECK(sync());
    CP_TRY(is_there, look_twice(look));
    if (is_there) {
      break;
    }
    auto committed = commit();
    if (committed) {
      return false;
    }
    if (committed.error().code != Errc::conflict || number == kTries) {
      return std::move(committed).error();
    }
  }
  return true;
}

Error foreign_target(const std::string& target, const std::string& ours, std::string found) {
  return Error{.code = Errc::conflict,
               .what = "target holds something that compatpack did not make",
               .subject = target,
               .expected = "nothing, an empty folder, or " + ours,
               .found = std::move(found),
               .hint = "choose another --out; such a folder is never replaced"};
}

}  // namespace compatpack::commands
