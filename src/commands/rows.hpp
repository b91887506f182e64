// SPDX-License-Identifier: Apache-2.0
#pragma once

// How answers about a host are laid out: the verdict and what to do first, then facts in two
// columns.
//
//   expected to work: NVIDIA's table lists CUDA 12.4 on R535, and the GPU is of the data-center
//       class
//     next: make sure where the GPU is: compatpack probe TREE
//
//   kernel driver  535.129.03 (/proc/driver/nvidia/version)

#include <span>
#include <string>
#include <string_view>

#include "compatpack/commands/console.hpp"

namespace compatpack::commands {

class Rows {
 public:
  /// Both must outlive it.
  Rows(const Env& env, Console& console);

  /// Any text is made printable here. Steps in `next` keep a line each, to be copied.
  void verdict(std::string_view words, std::string_view reason, std::span<const std::string> next);

  /// A blank line stands between the verdict and the first fact.
  void fact(std::string_view label, std::string_view text);

  /// A remark of its own, over the whole width.
  void remark(std::string_view text);

 private:
  Console& console_;
  std::size_t width_;
  bool is_after_verdict_ = false;
};

}  // namespace compatpack::commands
