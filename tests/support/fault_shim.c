/* SPDX-License-Identifier: Apache-2.0
 *
 * Preloaded (LD_PRELOAD), it makes one call of a program fail as a full disk or a broken one would,
 * and writes down the calls that matter for what survives a power cut:
 *
 *   FAULT_CALL=write    the function, by the name that the program calls it by
 *   FAULT_NUMBER=3      which of its calls fails, from 1 on; with FAULT_ALWAYS=1, all from there on;
 *                       with FAULT_EACH_SECOND=1, every second one
 *   FAULT_HOW=ENOSPC    what it fails with: a name of the table below; or "short": half is done, of
 *                       read, pread and write; or "end": read and pread find the end of the file;
 *                       or "stop": the program stops before it (SIGSTOP), and goes on as usual then
 *   FAULT_ALSO=renameat2=EINVAL   each call of this function fails so, besides
 *   FAULT_NO_WAIT=1     fsync does nothing and is well, as a walk would take long otherwise
 *   FAULT_REACHED=PATH  this file gets a byte when a call has failed by FAULT_NUMBER
 *   FAULT_LOG=PATH      a line each of write, fsync, rename, link and chmod: the call, what it was
 *                       about, and of a rename its new name
 *
 * Calls are counted over all threads. A function that a program reaches by two names (read and
 * __read_chk, which is read with the length of the buffer) is one here.
 */

#define _GNU_SOURCE
/* The functions are defined here, so their own checked forms must not be in the way. */
#undef _FORTIFY_SOURCE

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { FAULT_NONE = 0, FAULT_SHORT = -1, FAULT_END = -2 }; /* else an errno */

static atomic_int calls_so_far;

static int number_of_error(const char* name) {
  static const struct {
    const char* name;
    int number;
  } table[] = {{"EACCES", EACCES},     {"EAGAIN", EAGAIN}, {"EDQUOT", EDQUOT}, {"EFBIG", EFBIG},
               {"EINTR", EINTR},       {"EINVAL", EINVAL}, {"EIO", EIO},       {"EMFILE", EMFILE},
               {"ENOENT", ENOENT},     {"ENOLCK", ENOLCK}, {"ENOMEM", ENOMEM}, {"ENOSPC", ENOSPC},
               {"ENOSYS", ENOSYS},     {"EPERM", EPERM},   {"EROFS", EROFS},   {"ESTALE", ESTALE},
               {"short", FAULT_SHORT}, {"end", FAULT_END}};
  for (size_t i = 0; i < sizeof table / sizeof *table; ++i) {
    if (strcmp(table[i].name, name) == 0) {
      return table[i].number;
    }
  }
  static const char message[] = "fault_shim: FAULT_HOW is not known\n";
  syscall(SYS_write, 2, message, sizeof message - 1);
  syscall(SYS_exit_group, 99);
  return EIO;
}

/* Files that only the shim knows of. They are opened when the program is loaded, past everything that
 * the shim stands in for, since later the program may have given up the right to make them; and by
 * numbers that the program's own descriptors do not reach. */
static int reached = -1;
static int logged = -1;

static int open_for_appending(const char* variable) {
  const char* const path = getenv(variable);
  if (path == NULL) {
    return -1;
  }
  const int fd =
      (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  const int high = fd < 0 ? -1 : (int)syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, 200);
  if (fd >= 0) {
    syscall(SYS_close, fd);
  }
  return high;
}

__attribute__((constructor)) static void open_own_files(void) {
  reached = open_for_appending("FAULT_REACHED");
  logged = open_for_appending("FAULT_LOG");
}

static void append(int fd, const char* text) {
  if (fd >= 0) {
    const int before = errno;
    syscall(SYS_write, fd, text, strlen(text));
    errno = before;
  }
}

/* What each call of a function comes to by FAULT_ALSO. */
static int fault_besides(const char* function) {
  const char* const also = getenv("FAULT_ALSO");
  const size_t length = strlen(function);
  const int is_it = also != NULL && strncmp(also, function, length) == 0 && also[length] == '=';
  return is_it ? number_of_error(also + length + 1) : FAULT_NONE;
}

/* What this call is to come to; the count goes on only for the function that is meant. */
static int fault_of(const char* function) {
  const char* const wanted = getenv("FAULT_CALL");
  const char* const number = getenv("FAULT_NUMBER");
  const char* const how = getenv("FAULT_HOW");
  if (wanted == NULL || number == NULL || how == NULL || strcmp(wanted, function) != 0) {
    return fault_besides(function);
  }
  const int nth = atoi(number);
  const int now = atomic_fetch_add(&calls_so_far, 1) + 1;
  const int again = getenv("FAULT_ALWAYS") != NULL ||
                    (getenv("FAULT_EACH_SECOND") != NULL && (now - nth) % 2 == 0);
  if (now < nth || (now > nth && !again)) {
    return FAULT_NONE;
  }
  append(reached, "x");
  if (strcmp(how, "stop") == 0) {
    raise(SIGSTOP);
    return FAULT_NONE;
  }
  return number_of_error(how);
}

/* The path of a descriptor, or of a name below one, as the kernel has it. */
static void log_call(const char* call, int fd, const char* name, const char* to) {
  if (logged < 0) {
    return;
  }
  char link[64];
  char folder[PATH_MAX] = "?";
  char line[3 * PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const long length = syscall(SYS_readlinkat, AT_FDCWD, link, folder, sizeof folder - 1);
  if (length > 0) {
    folder[length] = '\0';
  }
  /* Names of the folders that tests run in may hold line ends. */
  for (char* c = folder; *c != '\0'; ++c) {
    *c = *c == '\n' ? ' ' : *c;
  }
  snprintf(line, sizeof line, "%s %s%s%s%s%s\n", call, folder, name == NULL ? "" : "/",
           name == NULL ? "" : name, to == NULL ? "" : " -> ", to == NULL ? "" : to);
  append(logged, line);
}

/* ISO C has no cast from dlsym()'s pointer to one of a function; POSIX has this. */
#define REAL(function)                              \
  static __typeof__(&(function)) real;              \
  if (real == NULL) {                               \
    *(void**)(&real) = dlsym(RTLD_NEXT, #function); \
  }

#define FAIL_WITH(function, failure)       \
  do {                                     \
    const int fault_ = fault_of(function); \
    if (fault_ > 0) {                      \
      errno = fault_;                      \
      return failure;                      \
    }                                      \
  } while (0)

/* --- opening --- */

static mode_t mode_after(int flags, va_list arguments) {
  return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(arguments, mode_t) : 0;
}

int open(const char* path, int flags, ...) {
  REAL(open);
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_after(flags, arguments);
  va_end(arguments);
  FAIL_WITH("open", -1);
  return real(path, flags, mode);
}

int openat(int folder, const char* path, int flags, ...) {
  REAL(openat);
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_after(flags, arguments);
  va_end(arguments);
  FAIL_WITH("openat", -1);
  return real(folder, path, flags, mode);
}

int __open_2(const char* path, int flags);
int __open_2(const char* path, int flags) { return open(path, flags); }
int __openat_2(int folder, const char* path, int flags);
int __openat_2(int folder, const char* path, int flags) { return openat(folder, path, flags); }

int memfd_create(const char* name, unsigned flags) {
  REAL(memfd_create);
  FAIL_WITH("memfd_create", -1);
  return real(name, flags);
}

DIR* fdopendir(int fd) {
  REAL(fdopendir);
  FAIL_WITH("fdopendir", NULL);
  return real(fd);
}

struct dirent* readdir(DIR* folder) {
  REAL(readdir);
  FAIL_WITH("readdir", NULL);
  return real(folder);
}

/* --- reading and writing --- */

ssize_t read(int fd, void* into, size_t size) {
  REAL(read);
  const int fault = fault_of("read");
  if (fault == FAULT_END) {
    return 0;
  }
  if (fault == FAULT_SHORT) {
    size -= size / 2;
  } else if (fault > 0) {
    errno = fault;
    return -1;
  }
  return real(fd, into, size);
}

ssize_t __read_chk(int fd, void* into, size_t size, size_t room);
ssize_t __read_chk(int fd, void* into, size_t size, size_t room) {
  return size > room ? (abort(), -1) : read(fd, into, size);
}

ssize_t pread(int fd, void* into, size_t size, off_t at) {
  REAL(pread);
  const int fault = fault_of("pread");
  if (fault == FAULT_END) {
    return 0;
  }
  if (fault == FAULT_SHORT) {
    size -= size / 2;
  } else if (fault > 0) {
    errno = fault;
    return -1;
  }
  return real(fd, into, size, at);
}

ssize_t __pread_chk(int fd, void* into, size_t size, off_t at, size_t room);
ssize_t __pread_chk(int fd, void* into, size_t size, off_t at, size_t room) {
  return size > room ? (abort(), -1) : pread(fd, into, size, at);
}

ssize_t write(int fd, const void* from, size_t size) {
  REAL(write);
  /* On a full disk a terminal still says so. */
  const int spared = fd <= 2 && getenv("FAULT_ALWAYS") != NULL;
  const int fault = spared ? FAULT_NONE : fault_of("write");
  if (fault == FAULT_SHORT) {
    size -= size / 2;
  } else if (fault > 0) {
    errno = fault;
    return -1;
  }
  log_call("write", fd, NULL, NULL);
  return real(fd, from, size);
}

off_t lseek(int fd, off_t offset, int whence) {
  REAL(lseek);
  FAIL_WITH("lseek", -1);
  return real(fd, offset, whence);
}

int ftruncate(int fd, off_t size) {
  REAL(ftruncate);
  FAIL_WITH("ftruncate", -1);
  return real(fd, size);
}

int fsync(int fd) {
  REAL(fsync);
  FAIL_WITH("fsync", -1);
  log_call("fsync", fd, NULL, NULL);
  return getenv("FAULT_NO_WAIT") != NULL ? 0 : real(fd);
}

int sync_file_range(int fd, off64_t offset, off64_t count, unsigned flags) {
  REAL(sync_file_range);
  FAIL_WITH("sync_file_range", -1);
  return real(fd, offset, count, flags);
}

int posix_fadvise(int fd, off_t offset, off_t size, int advice) {
  REAL(posix_fadvise);
  const int fault = fault_of("posix_fadvise");
  return fault > 0 ? fault : real(fd, offset, size, advice);
}

/* Memory that malloc() asks for does not come this way: only maps of files do. */
void* mmap(void* at, size_t size, int protection, int flags, int fd, off_t offset) {
  REAL(mmap);
  if (fd >= 0) {
    FAIL_WITH("mmap", MAP_FAILED);
  }
  return real(at, size, protection, flags, fd, offset);
}

/* The file is closed all the same, as Linux does it. */
int close(int fd) {
  REAL(close);
  const int result = real(fd);
  FAIL_WITH("close", -1);
  return result;
}

/* --- names --- */

int renameat2(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) {
  REAL(renameat2);
  FAIL_WITH("renameat2", -1);
  const int result = real(from_folder, from, to_folder, to, flags);
  if (result == 0) {
    log_call("rename", from_folder, from, to);
  }
  return result;
}

int renameat(int from_folder, const char* from, int to_folder, const char* to) {
  REAL(renameat);
  FAIL_WITH("renameat", -1);
  const int result = real(from_folder, from, to_folder, to);
  if (result == 0) {
    log_call("rename", from_folder, from, to);
  }
  return result;
}

int mkdirat(int folder, const char* name, mode_t mode) {
  REAL(mkdirat);
  FAIL_WITH("mkdirat", -1);
  return real(folder, name, mode);
}

int symlinkat(const char* target, int folder, const char* name) {
  REAL(symlinkat);
  FAIL_WITH("symlinkat", -1);
  log_call("link", folder, name, NULL);
  return real(target, folder, name);
}

int unlinkat(int folder, const char* name, int flags) {
  REAL(unlinkat);
  FAIL_WITH("unlinkat", -1);
  log_call("unlink", folder, name, NULL);
  return real(folder, name, flags);
}

/* --- facts --- */

int fchmod(int fd, mode_t mode) {
  REAL(fchmod);
  FAIL_WITH("fchmod", -1);
  log_call("chmod", fd, NULL, NULL);
  return real(fd, mode);
}

int flock(int fd, int operation) {
  REAL(flock);
  FAIL_WITH("flock", -1);
  return real(fd, operation);
}

int fstat(int fd, struct stat* facts) {
  REAL(fstat);
  FAIL_WITH("fstat", -1);
  return real(fd, facts);
}

int fstatat(int folder, const char* name, struct stat* facts, int flags) {
  REAL(fstatat);
  FAIL_WITH("fstatat", -1);
  return real(folder, name, facts, flags);
}

int lstat(const char* path, struct stat* facts) {
  REAL(lstat);
  FAIL_WITH("lstat", -1);
  return real(path, facts);
}

int fstatfs(int fd, struct statfs* facts) {
  REAL(fstatfs);
  FAIL_WITH("fstatfs", -1);
  return real(fd, facts);
}

int fstatvfs(int fd, struct statvfs* facts) {
  REAL(fstatvfs);
  FAIL_WITH("fstatvfs", -1);
  return real(fd, facts);
}

ssize_t readlinkat(int folder, const char* name, char* into, size_t size) {
  REAL(readlinkat);
  FAIL_WITH("readlinkat", -1);
  return real(folder, name, into, size);
}

ssize_t __readlinkat_chk(int folder, const char* name, char* into, size_t size, size_t room);
ssize_t __readlinkat_chk(int folder, const char* name, char* into, size_t size, size_t room) {
  return size > room ? (abort(), -1) : readlinkat(folder, name, into, size);
}

char* realpath(const char* path, char* into) {
  REAL(realpath);
  FAIL_WITH("realpath", NULL);
  return real(path, into);
}

ssize_t getrandom(void* into, size_t size, unsigned flags) {
  REAL(getrandom);
  FAIL_WITH("getrandom", -1);
  return real(into, size, flags);
}

/* --- threads --- */

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*),
                   void* argument) {
  REAL(pthread_create);
  const int fault = fault_of("pthread_create");
  return fault > 0 ? fault : real(thread, attributes, start, argument);
}
