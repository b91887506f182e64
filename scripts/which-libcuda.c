// SPDX-License-Identifier: Apache-2.0
//
// Does what a CUDA program does first: loads libcuda.so.1 by name, through the loader's own search,
// and asks for its version. Prints the answer, and the file that was loaded.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

int main(void) {
  void* const library = dlopen("libcuda.so.1", RTLD_NOW);
  if (library == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  int (*version)(int*) = NULL;
  *(void**)&version = dlsym(library, "cuDriverGetVersion");
  Dl_info info;
  int number = 0;
  if (version == NULL || version(&number) != 0 || dladdr(*(void**)&version, &info) == 0) {
    fprintf(stderr, "libcuda.so.1 does not tell its version\n");
    return 1;
  }
  printf("%d %s\n", number, info.dli_fname);
  return 0;
}
