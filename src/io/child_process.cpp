// SPDX-License-Identifier: Apache-2.0
#include "compatpack/io/child_process.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "compatpack/io/fd.hpp"

namespace compatpack::io {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks{100};

std::vector<char*> pointers(std::vector<std::string>& lines) {
  std::vector<char*> all;
  all.reserve(lines.size() + 1);
  for (std::string& line : lines) {
    all.push_back(line.data());
  }
  all.push_back(nullptr);
  return all;
}

/// Starts the program in a process group of its own; -1 with errno set where that fails.
pid_t spawn(const ChildRequest& request, int report) {
  std::vector<std::string> words{request.program};
  words.insert(words.end(), request.words.begin(), request.words.end());
  std::vector<std::string> environment(request.environment.begin(), request.environment.end());
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawnattr_init(&attributes);
  ::posix_spawn_file_actions_adddup2(&actions, report, kReportFd);
  ::posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
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

/// Reads what is there; false at the end.
bool read_some(const Fd& from, ByteCount max, std::string& into) {
  std::array<char, 4096> block{};
  const ssize_t count = ::read(from.get(), block.data(), block.size());
  if (count < 0) {
    return errno == EINTR || errno == EAGAIN;
  }
  if (into.size() < max.value) {
    into.append(block.data(), static_cast<std::size_t>(count));
  }
  return count != 0;
}

}  // namespace

Result<ChildEnd> run_child(const ChildRequest& request) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return io_error("cannot make a pipe", request.program, errno);
  }
  const Fd read_end(ends[0]);
  Fd write_end(ends[1]);
  if (write_end.get() == kReportFd || read_end.get() == kReportFd) {
    // dup2 of a descriptor to itself would leave it to be closed on exec.
    write_end = Fd(::fcntl(write_end.get(), F_DUPFD_CLOEXEC, kReportFd + 1));
  }
  const pid_t child = spawn(request, write_end.get());
  if (child < 0) {
    return io_error("cannot start", request.program, errno);
  }
  write_end = Fd();
  const auto deadline = std::chrono::steady_clock::now() + request.timeout;
  ChildEnd end{};
  bool open = true;
  bool interrupted = false;
  int status = 0;
  // The pipe's end is not the child's: a library may have left a process behind that holds it.
  for (;;) {
    pollfd wait{read_end.get(), POLLIN, 0};
    ::poll(&wait, open ? 1 : 0, static_cast<int>(kBetweenLooks.count()));
    if (open && wait.revents != 0) {
      open = read_some(read_end, request.output_max, end.report);
    } else if (::waitpid(child, &status, WNOHANG) == child) {
      break;
    }
    end.timed_out = std::chrono::steady_clock::now() > deadline;
    interrupted = request.interrupted && request.interrupted();
    if (end.timed_out || interrupted) {
      ::kill(-child, SIGKILL);
      while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
      }
      break;
    }
  }
  ::kill(-child, SIGKILL);  // what the child has left behind
  // What was written between the last look and the end.
  pollfd rest{read_end.get(), POLLIN, 0};
  while (open && ::poll(&rest, 1, 0) > 0 && (rest.revents & POLLIN) != 0) {
    open = read_some(read_end, request.output_max, end.report);
  }
  if (interrupted) {
    return Error{.code = Errc::interrupted, .what = "interrupted"};
  }
  end.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  end.status = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
  return end;
}

}  // namespace compatpack::io
