// SPDX-License-Identifier: Apache-2.0

// What trial.cpp is linked with in place of glibc: the names of what it calls, without glibc's
// versions. A program that asks for a name without a version gets the oldest one that the host's
// glibc has, and every glibc has that. All of these have kept its meaning.
//
// A name that is missing here is an error when the trial is linked.

#define COMPATPACK_NAME(name) \
  extern "C" void name() {}  // NOLINT

COMPATPACK_NAME(__libc_start_main)
COMPATPACK_NAME(__getdelim)
COMPATPACK_NAME(_exit)
COMPATPACK_NAME(abort)
COMPATPACK_NAME(dladdr)
COMPATPACK_NAME(dlerror)
COMPATPACK_NAME(dlopen)
COMPATPACK_NAME(dlsym)
COMPATPACK_NAME(fdopen)
COMPATPACK_NAME(fopen)
COMPATPACK_NAME(fprintf)
COMPATPACK_NAME(fputc)
COMPATPACK_NAME(fputs)
COMPATPACK_NAME(fwrite)
COMPATPACK_NAME(getline)
COMPATPACK_NAME(memchr)
COMPATPACK_NAME(memcmp)
COMPATPACK_NAME(memcpy)
COMPATPACK_NAME(memset)
COMPATPACK_NAME(prctl)
COMPATPACK_NAME(setrlimit)
COMPATPACK_NAME(setvbuf)
COMPATPACK_NAME(strlen)
COMPATPACK_NAME(strncmp)
