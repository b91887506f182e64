// SPDX-License-Identifier: Apache-2.0
#include "compatpack/io/child_process.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "compatpack/io/block_worker.hpp"
#include "compatpack/io/fd.hpp"

namespace compatpack::io {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kBetweenLooks{100};
// Once it has closed all pipes the child is about to end.
constexpr std::chrono::milliseconds kNearTheEnd{5};
constexpr int kFirstFileFd = kReportFd + 1;

std::vector<char*> pointers(std::vector<std::string>& lines) {
  std::vector<char*> all;
  all.reserve(lines.size() + 1);
  for (std::string& line : lines) {
    all.push_back(line.data());
  }
  all.push_back(nullptr);
  return all;
}

/// A descriptor that is none of those that the child gets: while one is put in place there, none
/// of the others is overwritten, and dup2 of one to itself would leave it to be closed on exec.
Fd above(Fd fd, const ChildRequest& request) {
  const int first_free = kFirstFileFd + static_cast<int>(request.files.size());
  const bool is_fit = !fd.is_open() || fd.get() >= first_free;
  return is_fit ? std::move(fd) : Fd(::fcntl(fd.get(), F_DUPFD_CLOEXEC, first_free));
}

struct Pipe {
  Fd read_end;
  Fd write_end;
};

Result<Pipe> make_pipe(const ChildRequest& request) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return io_error("cannot make a pipe", request.program, errno);
  }
  return Pipe{above(Fd(ends[0]), request), above(Fd(ends[1]), request)};
}

/// A file without a name, of these bytes.
Result<Fd> make_file(const std::string& content, const ChildRequest& request) {
  Fd file = above(Fd(::memfd_create("compatpack", MFD_CLOEXEC)), request);
  for (std::size_t done = 0; file.is_open() && done < content.size();) {
    const ssize_t count = ::write(file.get(), content.data() + done, content.size() - done);
    if (count < 0 && errno != EINTR) {
      return io_error("cannot make a file in memory for", request.program, errno);
    }
    done += count < 0 ? 0 : static_cast<std::size_t>(count);
  }
  return file.is_open() ? Result<Fd>(std::move(file))
                        : io_error("cannot make a file in memory for", request.program, errno);
}

/// What the child is given, and our ends of it.
struct Ends {
  Pipe report;
  Pipe words;  // under keep_output
  Pipe input;  // where there is input
  std::vector<Fd> files;
};

Result<Ends> make_ends(const ChildRequest& request) {
  Ends ends;
  CP_TRY(ends.report, make_pipe(request));
  if (request.keep_output) {
    CP_TRY(ends.words, make_pipe(request));
  }
  if (request.input != nullptr) {
    CP_TRY(ends.input, make_pipe(request));
    ::fcntl(ends.input.write_end.get(), F_SETFL, O_NONBLOCK);
  }
  for (const std::string& content : request.files) {
    CP_TRY(Fd file, make_file(content, request));
    ends.files.push_back(std::move(file));
  }
  return ends;
}

/// Starts the program in a process group of its own; -1 with errno set where that fails.
pid_t spawn(const ChildRequest& request, const Ends& ends) {
  std::vector<std::string> words{request.program};
  words.insert(words.end(), request.words.begin(), request.words.end());
  std::vector<std::string> environment(request.environment.begin(), request.environment.end());
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawnattr_init(&attributes);
  const auto give = [&actions](int fd, int as) {
    ::posix_spawn_file_actions_adddup2(&actions, fd, as);
  };
  give(ends.report.write_end.get(), kReportFd);
  give(request.keep_output ? ends.report.write_end.get() : STDERR_FILENO, STDOUT_FILENO);
  if (request.keep_output) {
    give(ends.words.write_end.get(), STDERR_FILENO);
  }
  if (request.input != nullptr) {
    give(ends.input.read_end.get(), STDIN_FILENO);
  }
  for (std::size_t i = 0; i < ends.files.size(); ++i) {
    give(ends.files[i].get(), kFirstFileFd + static_cast<int>(i));
  }
  sigset_t usual;
  ::sigemptyset(&usual);
  ::sigaddset(&usual, SIGPIPE);  // which we ignore
  ::posix_spawnattr_setsigdefault(&attributes, &usual);
  ::posix_spawnattr_setpgroup(&attributes, 0);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
  pid_t child = -1;
  const int failure = ::posix_spawn(&child, request.program.c_str(), &actions, &attributes,
                                    pointers(words).data(), pointers(environment).data());
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  errno = failure;
  return failure == 0 ? child : -1;
}

/// What the child writes to one pipe.
class Listener {
 public:
  Listener(Fd from, ByteCount max) : from_(std::move(from)), max_(max) {}

  /// What poll() is to wait for; a descriptor of -1 is passed over.
  [[nodiscard]] pollfd wanted() const { return {from_.get(), POLLIN, 0}; }

  void read_some() {
    std::array<char, 4096> block{};
    const ssize_t count = ::read(from_.get(), block.data(), block.size());
    if (count == 0 || (count < 0 && errno != EINTR && errno != EAGAIN)) {
      from_ = Fd();
    } else if (count > 0 && heard_.size() < max_.value) {
      heard_.append(block.data(), static_cast<std::size_t>(count));
    }
  }

  /// What is there already, and no more.
  std::string finish() {
    pollfd rest = wanted();
    while (from_.is_open() && ::poll(&rest, 1, 0) > 0 && (rest.revents & POLLIN) != 0) {
      read_some();
    }
    return std::move(heard_);
  }

 private:
  Fd from_;
  ByteCount max_;
  std::string heard_;
};

/// Gives the child its input, block by block. Keeps the reading end open, so that a child that
/// reads no more costs us no SIGPIPE, and the pipe fills up.
class Feeder {
 public:
  Feeder(Source* input, Pipe pipe) : input_(input), pipe_(std::move(pipe)) {}

  [[nodiscard]] pollfd wanted() const { return {pipe_.write_end.get(), POLLOUT, 0}; }

  /// Writes what fits in. Requires: poll() says that something does.
  Result<Done> write_some() {
    if (rest_.empty()) {
      block_.resize(kBlockSize);
      CP_TRY(const std::size_t count, input_->read(block_));
      rest_ = std::span(block_).first(count);
    }
    if (rest_.empty()) {
      pipe_ = {};
      return Done{};
    }
    const ssize_t count = ::write(pipe_.write_end.get(), rest_.data(), rest_.size());
    if (count < 0 && errno != EAGAIN && errno != EINTR) {
      return io_error("cannot write to a pipe", "", errno);
    }
    rest_ = rest_.subspan(count < 0 ? 0 : static_cast<std::size_t>(count));
    return Done{};
  }

 private:
  Source* input_;
  Pipe pipe_;
  std::vector<std::byte> block_;
  std::span<const std::byte> rest_;
};

/// A child at work. Killed, with what it has started, when this ends.
class Child {
 public:
  Child(const ChildRequest& request, pid_t child, Ends&& ends)
      : request_(request),
        child_(child),
        report_(std::move(ends.report.read_end), request.output_max),
        words_(std::move(ends.words.read_end), request.output_max),
        feeder_(request.input, std::move(ends.input)) {}
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() { stop(); }

  Result<ChildEnd> wait() {
    auto deadline = Clock::now() + request_.timeout;
    ChildEnd end{};
    // A pipe's end is not the child's: a library may have left a process behind that holds it.
    while (!ended_) {
      std::array<pollfd, 3> waits{report_.wanted(), words_.wanted(), feeder_.wanted()};
      const bool hears = waits[0].fd >= 0 || waits[1].fd >= 0;
      const auto pause = hears ? kBetweenLooks : kNearTheEnd;
      ::poll(waits.data(), waits.size(), static_cast<int>(pause.count()));
      if (waits[0].revents != 0) {
        report_.read_some();
      }
      if (waits[1].revents != 0) {
        words_.read_some();
      }
      if (waits[2].revents != 0) {
        CP_CHECK(feeder_.write_some());
        deadline = Clock::now() + request_.timeout;
      }
      ended_ = ::waitpid(child_, &status_, WNOHANG) == child_;
      if (!ended_ && request_.interrupted && request_.interrupted()) {
        return Error{.code = Errc::interrupted, .what = "interrupted"};
      }
      if (!ended_ && Clock::now() > deadline) {
        end.timed_out = true;
        stop();
      }
    }
    ::kill(-child_, SIGKILL);  // what the child has left behind
    end.report = report_.finish();
    end.words = words_.finish();
    end.signal = WIFSIGNALED(status_) ? WTERMSIG(status_) : 0;
    end.status = WIFEXITED(status_) ? WEXITSTATUS(status_) : 0;
    return end;
  }

 private:
  void stop() {
    if (ended_) {
      return;
    }
    ::kill(-child_, SIGKILL);
    while (::waitpid(child_, &status_, 0) < 0 && errno == EINTR) {
    }
    ended_ = true;
  }

  const ChildRequest& request_;
  pid_t child_;
  Listener report_;
  Listener words_;
  Feeder feeder_;
  int status_ = 0;
  bool ended_ = false;
};

}  // namespace

std::string child_file(std::size_t number) {
  return "/proc/self/fd/" + std::to_string(kFirstFileFd + static_cast<int>(number));
}

Result<ChildEnd> run_child(const ChildRequest& request) {
  CP_TRY(Ends ends, make_ends(request));
  const pid_t child = spawn(request, ends);
  if (child < 0) {
    return io_error("cannot start", request.program, errno);
  }
  ends.report.write_end = Fd();
  ends.words.write_end = Fd();
  return Child(request, child, std::move(ends)).wait();
}

}  // namespace compatpack::io
