// SPDX-License-Identifier: Apache-2.0

// What the process is given: arguments, streams, terminal, signals. All else is cli::run().

#include <array>
#include <cerrno>
#include <clocale>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <gnu/libc-version.h>
#include <malloc.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "compatpack/base/arch.hpp"
#include "compatpack/cli/run.hpp"
#include "compatpack/host/platform.hpp"

namespace {

/// Opens what is missing of descriptors 0, 1 and 2, so that no file of ours gets one of these
/// numbers and a message is written into it. Reading or writing them fails as before: that is what
/// O_PATH does, and "/" is there where /dev/null may not be. open() gives the lowest number that is
/// free; where it fails there is nobody to tell.
void occupy_standard_descriptors() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(fd, F_GETFD) < 0 && ::open("/", O_PATH) != fd) {
      ::_exit(1);
    }
  }
}

// The one global: a signal handler can reach nothing else. Which signal asked to stop; 0 for none.
volatile std::sig_atomic_t stop_signal = 0;

void remember_signal(int number) { stop_signal = number; }

// What is ignored on purpose, and must not be in a program that we become.
constexpr std::array<int, 2> kIgnored{SIGPIPE, SIGXFSZ};

/// Which of kIgnored were ignored by who started us: those stay so.
struct Inherited {
  std::array<bool, kIgnored.size()> ignored;
};

Inherited ignored_before() {
  Inherited before{};
  for (std::size_t i = 0; i < kIgnored.size(); ++i) {
    struct sigaction old {};
    before.ignored[i] = ::sigaction(kIgnored[i], nullptr, &old) == 0 && old.sa_handler == SIG_IGN;
  }
  return before;
}

/// Becomes another program, with the signals as they were when we were started; errno if it cannot.
int become(const std::vector<std::string>& words, const std::vector<std::string>& environment,
           const Inherited& before) {
  const auto pointers = [](const std::vector<std::string>& lines) {
    std::vector<char*> all;
    all.reserve(lines.size() + 1);
    for (const std::string& line : lines) {
      all.push_back(const_cast<char*>(line.c_str()));  // exec takes char*, and changes nothing
    }
    all.push_back(nullptr);
    return all;
  };
  for (std::size_t i = 0; i < kIgnored.size(); ++i) {
    static_cast<void>(::signal(kIgnored[i], before.ignored[i] ? SIG_IGN : SIG_DFL));
  }
  ::execvpe(words.front().c_str(), pointers(words).data(), pointers(environment).data());
  const int reason = errno;
  for (const int number : kIgnored) {
    static_cast<void>(::signal(number, SIG_IGN));
  }
  return reason;
}

/// "2026-09".
std::string this_month() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  std::array<char, 16> text{};
  if (::gmtime_r(&now, &parts) == nullptr ||
      std::strftime(text.data(), text.size(), "%Y-%m", &parts) == 0) {
    return {};
  }
  return text.data();
}

void catch_signals() {
  struct sigaction action {};
  action.sa_handler = &remember_signal;
  // Once: a second Ctrl-C ends the process at once, as the next run clears what it leaves.
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction old {};
    // Who started us with a signal ignored (nohup) wants it to stay so.
    if (::sigaction(number, nullptr, &old) == 0 && old.sa_handler != SIG_IGN) {
      ::sigaction(number, &action, nullptr);
    }
  }
  // Who started us with SIGCHLD ignored would leave nothing to wait for.
  static_cast<void>(::signal(SIGCHLD, SIG_DFL));
  // A reader that goes away is an error of writing, not a reason to die in the middle.
  static_cast<void>(::signal(SIGPIPE, SIG_IGN));
  // Nor is a limit on the size of files (ulimit -f): the writer says so, and clears its staging.
  static_cast<void>(::signal(SIGXFSZ, SIG_IGN));
}

/// Blocks of a stream are freed by one thread and taken again by another, all the time. malloc
/// would give that memory back to the system each time, and fault it in anew: for 450 MB 27,000
/// faults and not 5,000, a quarter of the time that the kernel takes.
void keep_freed_blocks() {
  constexpr int kLargest = 1 << 20;  // what is larger, a decoder's window, is mapped by itself
  constexpr int kKept = 64 << 20;    // more than all queues hold
  static_cast<void>(::mallopt(M_MMAP_THRESHOLD, kLargest));
  static_cast<void>(::mallopt(M_TRIM_THRESHOLD, kKept));
}

std::string environment(const char* name) {
  const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): no thread yet
  return value == nullptr ? "" : value;
}

std::string host_arch() {
  utsname facts{};
  if (::uname(&facts) != 0) {
    return {};
  }
  return compatpack::our_arch(static_cast<const char*>(facts.machine));
}

std::string host_glibc() {
#ifdef COMPATPACK_STATIC
  // What this program is linked with is not the host's.
  const auto root = compatpack::host::HostRoot::open("/");
  return root ? compatpack::host::glibc_of(*root) : "";
#else
  return ::gnu_get_libc_version();
#endif
}

/// Whether stdout is a pipe or socket whose other end is closed.
bool reader_has_gone() {
  pollfd out{.fd = STDOUT_FILENO, .events = 0, .revents = 0};
  return ::poll(&out, 1, 0) == 1 && (out.revents & POLLERR) != 0;
}

int terminal_width() {
  winsize size{};
  constexpr int kUsual = 80;
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : kUsual;
}

}  // namespace

int main(int argc, char** argv) {
  occupy_standard_descriptors();
  keep_freed_blocks();
  // Names in archives are bytes, most of them UTF-8; in the C locale libarchive warns of those.
  static_cast<void>(
      std::setlocale(LC_CTYPE, "C.UTF-8"));  // NOLINT(concurrency-mt-unsafe): no thread yet
  const Inherited before = ignored_before();
  catch_signals();
  std::vector<std::string> variables;
  for (char** line = environ; *line != nullptr; ++line) {
    variables.emplace_back(*line);
  }
  const std::string term = environment("TERM");
  const compatpack::commands::Env env{
      .out = std::cout,
      .err = std::cerr,
      .err_is_terminal = ::isatty(STDERR_FILENO) == 1 && !term.empty() && term != "dumb",
      .width = terminal_width(),
      .no_color = !environment("NO_COLOR").empty(),
      .host_arch = host_arch(),
      .host_glibc = host_glibc(),
      .interrupted = [] { return stop_signal != 0; },
      .reader_has_gone = &reader_has_gone,
      .now = &std::chrono::steady_clock::now,
      .environment = std::move(variables),
      .host_root = "/",
      .today = this_month(),
      .become = [&before](const auto& words,
                          const auto& lines) { return become(words, lines, before); },
      .confine = &compatpack::io::confine};
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const int status = compatpack::cli::run(arguments, env);
  if (stop_signal != 0) {
    // Die of the signal itself, so that a shell sees that and stops its loop too.
    static_cast<void>(::raise(stop_signal));
  }
  return status;
}
