// SPDX-License-Identifier: Apache-2.0

// What a program started from a shell sees, for shell tests:
//
//   env_probe env     the variables that the activation scripts set, one a line
//   env_probe cuda    which libcuda.so.1 the loader takes, and its version

#include <cstdlib>
#include <iostream>
#include <string_view>

#include <dlfcn.h>

namespace {

void print_environment() {
  for (const char* const name :
       {"LD_LIBRARY_PATH", "TRITON_LIBCUDA_PATH", "JULIA_CUDA_USE_COMPAT", "COMPATPACK_TREE",
        "_COMPATPACK_OLD_LD", "_COMPATPACK_OLD_TRITON", "_COMPATPACK_OLD_JULIA", "_compatpack_at",
        "LIBRARY_PATH", "LD_PRELOAD"}) {
    if (const char* const value = std::getenv(name); value != nullptr) {
      std::cout << name << "=[" << value << "]\n";
    }
  }
}

void print_cuda() {
  void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    std::cout << "no libcuda.so.1\n";
    return;
  }
  void* const symbol = dlsym(library, "cuDriverGetVersion");
  Dl_info where = {};
  int version = 0;
  if (symbol != nullptr && dladdr(symbol, &where) != 0) {
    reinterpret_cast<int (*)(int*)>(symbol)(&version);
    std::cout << "libcuda.so.1 is [" << where.dli_fname << "], version " << version << "\n";
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc == 2 ? argv[1] : "";
  if (what == "env") {
    print_environment();
  } else if (what == "cuda") {
    print_cuda();
  } else {
    std::cerr << "usage: env_probe env|cuda\n";
    return 2;
  }
  return 0;
}
