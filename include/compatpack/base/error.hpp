// SPDX-License-Identifier: Apache-2.0
#pragma once

// The one way to fail. A failure is a value in parts, so that whoever knows a part can fill it in:
//
//   subject: what                      driver.run: bundle ends before its payload
//     at:       byte N [of stream]       at:       byte 21193
//     expected: ...                      expected: the payload, at line 771
//     found:    ...                      found:    end of file
//     hint:     ...                      hint:     the download is incomplete; fetch it again
//
// A parser knows `what`, `at`, `expected` and `found`; the caller that opened the thing adds
// `subject`. Parts may quote bytes from the input as they are: render() alone makes them safe.

#include <optional>
#include <string>
#include <string_view>

#include "compatpack/base/bytes.hpp"

namespace compatpack {

/// What kind of failure it was. Commands map it to an exit status, tests check it; little else
/// branches on it.
enum class Errc {
  not_recognized,  ///< the input is not of this format at all; another reader may try
  corrupt,         ///< of this format, but damaged or cut short
  unsupported,     ///< well formed, but uses a feature that is not read
  limit,           ///< well formed, but larger than base/limits.hpp allows
  mismatch,        ///< a checksum does not match
  unsafe_path,     ///< a member name or link would leave the output directory
  conflict,        ///< the output already holds something else under that name
  usage,           ///< the command line asks for what cannot be
  interrupted,     ///< a signal asked to stop
  io,              ///< nothing is there, or the operating system refused: `found` has its words
};

/// One failure.
struct Error {
  Errc code;
  std::string what;                   ///< one clause, lower case, no full stop
  std::string subject = {};           ///< file, or file and member; empty until known
  std::optional<ByteOffset> at = {};  ///< where; nullopt: no one place
  std::string stream = {};            ///< what `at` counts in, where it is not `subject` itself
  std::string expected = {};
  std::string found = {};
  std::string hint = {};  ///< what the user can do next, if that is known
};

/// Message for a terminal, ending in a newline, without the program's name. Control characters and
/// bytes that are not UTF-8 come out as \xNN.
[[nodiscard]] std::string render(const Error& error);

/// An Error of kind `io` for a system call that set `error_number`: `what` says what could not be
/// done, `subject` to what.
[[nodiscard]] Error io_error(std::string what, std::string subject, int error_number);

/// Exit status of a process that fails with `code`: 1 could not, 2 usage, 3 input refused,
/// 4 checksum mismatch.
[[nodiscard]] int exit_status(Errc code);

}  // namespace compatpack
