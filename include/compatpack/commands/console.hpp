// SPDX-License-Identifier: Apache-2.0
#pragma once

// The one place that prints. The answer goes to stdout; errors, warnings and progress to stderr.
// The progress line is erased before anything else is written, so that the two never mix.

#include <chrono>
#include <functional>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compatpack/base/error.hpp"
#include "compatpack/io/confinement.hpp"
#include "compatpack/io/file_source.hpp"

namespace compatpack::commands {

enum class Verbosity { quiet, normal, verbose };

/// What the program is given from outside. Tests pass memory streams.
struct Env {
  std::ostream& out;
  std::ostream& err;
  bool err_is_terminal;                        ///< and one that can erase a line
  int width;                                   ///< of the terminal, in columns
  bool no_color;                               ///< NO_COLOR is set
  std::string host_arch;                       ///< "x86_64"; as uname says, in our names
  std::string host_glibc;                      ///< "2.36"; "" if it is another C library
  std::function<bool()> interrupted;           ///< whether a signal asks to stop
  std::function<bool()> reader_has_gone = {};  ///< whether nobody will read more from `out`
  std::function<std::chrono::steady_clock::time_point()> now;
  std::vector<std::string> environment = {};  ///< NAME=value
  std::string host_root = {};  ///< "/" of this machine; "" where extract is not to look at it
  std::string today = {};      ///< the month, "2026-09"; "" if it is not known
  /// Becomes the program `words[0]`, sought in PATH; comes back only if it cannot, with errno.
  std::function<int(const std::vector<std::string>& words,
                    const std::vector<std::string>& environment)>
      become = {};
  /// io::confine(); null where the process is to keep its rights.
  std::function<std::string(std::span<const io::AllowedFolder>)> confine = {};
};

struct ConsoleStyle {
  Verbosity verbosity = Verbosity::normal;
  bool json = false;
  bool color = false;
  bool progress = false;
};

class Console final : public io::ReadObserver {
 public:
  /// `env` must outlive the console.
  Console(const Env& env, ConsoleStyle style) : env_(env), style_(style), begun_(env.now()) {}
  ~Console() override;

  [[nodiscard]] bool json() const { return style_.json; }
  [[nodiscard]] bool verbose() const { return style_.verbosity == Verbosity::verbose; }

  /// Whether answer() shows anything: what is only for that need not be found out.
  [[nodiscard]] bool has_answer() const {
    return !style_.json && style_.verbosity != Verbosity::quiet;
  }

  /// A line of the answer for people, without its line end; nothing under --json or --quiet.
  void answer(std::string_view line);

  /// A line that is the answer's whole point, so that --quiet does not silence it: code to
  /// evaluate.
  void result(std::string_view line);

  /// The answer for machines: one JSON document.
  void document(std::string_view json);

  void warn(std::string_view text);
  void error(const Error& error);

  /// A remark that only --verbose wants.
  void detail(std::string_view text);

  /// Draws the progress line, at most ten times a second and not in the first half second. Error
  /// interrupted: a signal asks to stop.
  Result<Done> on_read(ByteCount so_far, ByteCount total) override;

 private:
  void erase_progress();
  void remark(std::string_view severity, std::string_view text);

  const Env& env_;
  ConsoleStyle style_;
  std::chrono::steady_clock::time_point begun_;
  std::chrono::steady_clock::time_point drawn_{};
  bool on_line_ = false;  // the cursor stands behind a progress line
};

/// "168.3 MB", in powers of ten, as download pages count.
[[nodiscard]] std::string human_size(ByteCount size);

}  // namespace compatpack::commands
