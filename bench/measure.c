// SPDX-License-Identifier: Apache-2.0
//
// Runs a command and writes to FILE what it took: one line of
//
//   EXIT_STATUS NANOSECONDS CPU_MICROSECONDS PEAK_RSS_KIB WRITTEN_BYTES
//
//   measure FILE COMMAND [ARGUMENT...]
//
// A small program between bench/run and the command: Linux counts what a process had in memory before
// exec to its peak, which of a child of Python would be Python's, and starting one takes Python longer
// than some commands run. Peak memory is that of the largest process of the command. Bytes written are
// the kernel's count (write_bytes of /proc/PID/io) for the command and those that it waited for: pages
// made dirty for a file system with a disk behind it, when they are made dirty; -1 where the kernel does not count.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long long nanoseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static long long microseconds(struct timeval time) {
  return time.tv_sec * 1000000LL + time.tv_usec;
}

// Of a process that has ended and was not yet waited for.
static long long written_bytes(pid_t pid) {
  char path[64];
  char line[128];
  long long bytes = -1;
  snprintf(path, sizeof path, "/proc/%d/io", (int)pid);
  FILE* const file = fopen(path, "r");
  if (file == NULL) {
    return -1;
  }
  while (fgets(line, sizeof line, file) != NULL) {
    sscanf(line, "write_bytes: %lld", &bytes);
  }
  fclose(file);
  return bytes;
}

int main(int argc, char** argv) {
  if (argc < 3) {
    fputs("usage: measure FILE COMMAND [ARGUMENT...]\n", stderr);
    return 2;
  }
  FILE* const report = fopen(argv[1], "we");
  if (report == NULL) {
    perror(argv[1]);
    return 2;
  }
  const long long begun = nanoseconds();
  const pid_t child = fork();
  if (child == 0) {
    execvp(argv[2], argv + 2);
    perror(argv[2]);
    _exit(127);
  }
  siginfo_t ended;
  if (child < 0 || waitid(P_PID, (id_t)child, &ended, WEXITED | WNOWAIT) != 0) {
    perror("measure");
    return 2;
  }
  const long long taken = nanoseconds() - begun;
  const long long written = written_bytes(child);
  int status = 0;
  struct rusage usage;
  if (wait4(child, &status, 0, &usage) != child) {
    perror("measure");
    return 2;
  }
  fprintf(report, "%d %lld %lld %ld %lld\n",
          WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), taken,
          microseconds(usage.ru_utime) + microseconds(usage.ru_stime), usage.ru_maxrss, written);
  return fclose(report) == 0 ? 0 : 2;
}
