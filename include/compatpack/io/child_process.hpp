// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <span>
#include <string>

#include "compatpack/base/bytes.hpp"
#include "compatpack/base/result.hpp"

namespace compatpack::io {

/// Where a child writes what we read: not its stdout, which belongs to the libraries that it loads.
inline constexpr int kReportFd = 3;

struct ChildRequest {
  std::string program;                       ///< path
  std::span<const std::string> words;        ///< its arguments, without its name
  std::span<const std::string> environment;  ///< NAME=value
  std::chrono::milliseconds timeout;
  ByteCount output_max;  ///< of what it writes to kReportFd; what comes after is dropped
  std::function<bool()> interrupted;  ///< asked a few times a second
};

struct ChildEnd {
  std::string report;  ///< what it wrote to kReportFd
  int status;          ///< its exit status, if no signal ended it
  int signal;          ///< that ended it; 0 if none
  bool timed_out;      ///< it was killed for that
};

/// Runs a program and waits for its end, or kills it when its time is over. Its stdout goes to
/// stderr, and what it starts is killed with it. Error io where it cannot be started; interrupted.
Result<ChildEnd> run_child(const ChildRequest& request);

}  // namespace compatpack::io
