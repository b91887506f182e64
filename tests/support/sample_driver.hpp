// SPDX-License-Identifier: Apache-2.0
#pragma once

// A small driver as NVIDIA's payloads are laid out: libraries from the ELF builder, with the names
// and sonames of the version's era, 32-bit copies, decoys, programs, LICENSE and .manifest. Nothing
// in it runs.

#include <cstddef>
#include <string>
#include <vector>

namespace compatpack::test {

struct SampleMember {
  std::string path;  ///< without "./"; a folder's ends in "/"
  std::string content;
  unsigned mode;
};

struct SampleDriverOptions {
  std::string version = "535.54.03";
  std::string arch = "x86_64";  ///< or "aarch64", "ppc64le"; these have no 32/
  bool compat32 = true;         ///< 32/, on x86_64
  bool manifest = true;         ///< .manifest
  std::size_t filler = 20'000;  ///< bytes of each library that stand for its code
};

/// Members in an order that is none, as in NVIDIA's: .manifest in the middle.
[[nodiscard]] std::vector<SampleMember> make_sample_driver(const SampleDriverOptions& options = {});

/// The members as a tar of `./` names, folders before what they hold.
[[nodiscard]] std::string make_driver_tar(const std::vector<SampleMember>& members);

}  // namespace compatpack::test
