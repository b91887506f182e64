#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# What docs/clusters.md says of RPATH, on real binaries: which tree path in a program makes the loader
# take the tree's libcuda, and makes that find its JIT compiler, which it loads by name.
#
# Needs a C compiler and patchelf; where CI or COMPATPACK_REQUIRE_PATCHELF is set, lacking them is a
# failure.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

if ! command -v patchelf >/dev/null || ! command -v cc >/dev/null; then
  [ -z "${CI-}${COMPATPACK_REQUIRE_PATCHELF-}" ] || fail rpath 'cc and patchelf' 'not both'
  skip 'no cc or no patchelf'
fi

# --- a host's driver and a tree's, a program and a library between them ---

cat >jit.c <<'END'
void jit(void) {}
END
cat >cuda.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
int cuDriverGetVersion(int* version) { *version = 12040; return 0; }
const char* jit_path(void) {
  Dl_info found;
  void* library = dlopen("libnvidia-ptxjitcompiler.so.1", RTLD_NOW);
  return library && dladdr(dlsym(library, "jit"), &found) ? found.dli_fname : "none";
}
END
cat >report.h <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>
/* The folder's name: paths here are long. */
static const char* folder(const char* path) {
  static char copies[2][4096];
  static int used;
  char* copy = copies[used++ % 2];
  strcpy(copy, path);
  return strchr(path, '/') ? basename(dirname(copy)) : path;
}
static int report(void* version, void* jit) {
  Dl_info found;
  if (!version || !dladdr(version, &found)) { puts("none"); return 0; }
  printf("cuda: %s, jit: %s\n", folder(found.dli_fname), folder(((const char* (*)(void))jit)()));
  return 0;
}
static int report_loaded(void) {
  void* library = dlopen("libcuda.so.1", RTLD_NOW);
  return library ? report(dlsym(library, "cuDriverGetVersion"), dlsym(library, "jit_path"))
                 : report(0, 0);
}
END
echo '#include "report.h"
int cuDriverGetVersion(int*); const char* jit_path(void);
int main(void) { return report((void*)cuDriverGetVersion, (void*)jit_path); }' >needs.c
echo '#include "report.h"
int main(void) { return report_loaded(); }' >loads.c
echo '#include "report.h"
int runtime(void) { return report_loaded(); }' >runtime.c
echo 'int runtime(void); int main(void) { return runtime(); }' >uses.c

"$FIXTURE_TOOL" nvidia-run --out driver.run
"$COMPATPACK" extract driver.run --out tree --no-sync >extracted
mkdir host lib
for folder in host tree; do
  cc -shared -fPIC -Wl,-soname,libcuda.so.1 cuda.c -o $folder/made -ldl
  cc -shared -fPIC -Wl,-soname,libnvidia-ptxjitcompiler.so.1 jit.c -o $folder/jit
done
mv host/made host/libcuda.so.1
mv host/jit host/libnvidia-ptxjitcompiler.so.1
mv tree/made tree/libcuda.so.535.54.03
mv tree/jit tree/libnvidia-ptxjitcompiler.so.535.54.03
tree=$PWD/tree
cc -shared -fPIC runtime.c -Wl,-soname,libruntime.so -o lib/libruntime.so -ldl
cc needs.c -o needs -Ltree -l:libcuda.so.1 -ldl
cc loads.c -o loads -ldl
cc uses.c -o uses -Llib -l:libruntime.so

# told PROGRAM: what it says without LD_LIBRARY_PATH, and with the host's driver there.
told() { # the loader complains about a library that a program needs and it does not find
  without=$("$1" 2>/dev/null) || without='does not start'
  with=$(LD_LIBRARY_PATH=$PWD/host "$1" 2>/dev/null) || with='does not start'
  echo "$without; over the host's: $with"
}

none="does not start; over the host's: cuda: host, jit: host"
expect_equal "$(told ./needs)" "$none"

# --- patchelf --set-rpath: DT_RUNPATH ---

# It is for what the program itself asks for, and stands behind LD_LIBRARY_PATH: libcuda is found, and
# does not find its JIT compiler.
partly="cuda: tree, jit: none; over the host's: cuda: host, jit: host"
for program in needs loads; do
  cp $program runpath
  patchelf --set-rpath "$tree" runpath
  expect_equal "$(readelf -d runpath | grep -c RUNPATH)" 1
  expect_equal "$(told ./runpath)" "$partly"
done
cp uses runpath
patchelf --set-rpath "$tree:$PWD/lib" runpath
# A library that loads libcuda, as CUDA's runtime does, gets nothing of it.
expect_equal "$(told ./runpath)" "none; over the host's: cuda: host, jit: host"

# --- patchelf --force-rpath --set-rpath, or ld --disable-new-dtags: DT_RPATH ---

wholly="cuda: tree, jit: tree; over the host's: cuda: tree, jit: tree"
for program in needs loads uses; do
  cp $program rpath
  patchelf --force-rpath --set-rpath "$tree:$PWD/lib" rpath
  expect_equal "$(readelf -d rpath | grep -c 'RPATH')" 1
  expect_equal "$(told ./rpath)" "$wholly"
done
cc needs.c -o linked -Ltree -l:libcuda.so.1 -ldl -Wl,--disable-new-dtags,-rpath,"$tree"
expect_equal "$(told ./linked)" "$wholly"
cc needs.c -o linked -Ltree -l:libcuda.so.1 -ldl -Wl,--enable-new-dtags,-rpath,"$tree"
expect_equal "$(told ./linked)" "$partly"
# patchelf leaves a RUNPATH that is there where it is, unless told.
patchelf --force-rpath --set-rpath "$tree" linked
expect_equal "$(told ./linked)" "$wholly"

# --- a library with a RUNPATH of its own, as many in Python packages have ---

# What it loads is searched there and not in the program's RPATH, which serves the libcuda of the host
# again: a mixture. So the library needs the tree itself.
patchelf --set-rpath "\$ORIGIN" lib/libruntime.so
expect_equal "$(told ./rpath)" "none; over the host's: cuda: host, jit: tree"
patchelf --force-rpath --set-rpath "\$ORIGIN:$tree" lib/libruntime.so
expect_equal "$(told ./rpath)" "$wholly"

# A path relative to the program's own.
mkdir -p app/bin
cp loads app/bin/
patchelf --force-rpath --set-rpath "\$ORIGIN/../compat" app/bin/loads
ln -s "$tree" app/compat
expect_equal "$(app/bin/loads | sed 's/compat/tree/g')" 'cuda: tree, jit: tree'
