// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <span>
#include <string>

#include "compatpack/base/bytes.hpp"
#include "compatpack/base/result.hpp"
#include "compatpack/io/source.hpp"

namespace compatpack::io {

/// Where a child writes what we read: not its stdout, which belongs to the libraries that it loads.
inline constexpr int kReportFd = 3;

/// Path under which a child finds the file of that number in ChildRequest::files.
[[nodiscard]] std::string child_file(std::size_t number);

struct ChildRequest {
  std::string program;                       ///< path
  std::span<const std::string> words;        ///< its arguments, without its name
  std::span<const std::string> environment;  ///< NAME=value
  std::chrono::milliseconds timeout;         ///< until its end, or since it last took input
  ByteCount output_max;  ///< of what it writes to kReportFd; what comes after is dropped
  std::function<bool()> interrupted;        ///< asked a few times a second
  std::span<const std::string> files = {};  ///< contents of files that only the child sees
  Source* input = nullptr;                  ///< what it reads on stdin; null: what we would
  /// Its stdout goes to kReportFd too, and its stderr is kept, up to `output_max`. Otherwise both
  /// go to our stderr.
  bool keep_output = false;
};

struct ChildEnd {
  std::string report;  ///< what it wrote to kReportFd
  std::string words;   ///< what it wrote to stderr, under `keep_output`
  int status;          ///< its exit status, if no signal ended it
  int signal;          ///< that ended it; 0 if none
  bool timed_out;      ///< it was killed for that
};

/// Runs a program and waits for its end, or kills it when its time is over; what it starts is
/// killed with it. It need not read all of its input. Error io where it cannot be started;
/// interrupted; those of `input`.
Result<ChildEnd> run_child(const ChildRequest& request);

}  // namespace compatpack::io
