// SPDX-License-Identifier: Apache-2.0

// A libcuda.so.1 for tests, which answers as its environment tells it:
//
//   STUB_VERSION=12020          cuDriverGetVersion (12040)
//   STUB_INIT=804               cuInit (0)
//   STUB_DEVICES=A100,RTX 4090  names of devices (none)
//   STUB_FAIL=cuMemAlloc_v2:2   that call gives that code
//   STUB_CRASH=cuInit           that call crashes; STUB_HANG=..., never comes back; STUB_EXIT=...,
//   ends
//                               the process
//   STUB_KERNEL=wrong           kernels write what they should not
//   STUB_ALSO=/path             cuInit loads this library too
//
// The memory of its devices is the process's own, and its only kernel is known by heart.

#include <csignal>
#include <cstdlib>
#include <cstring>

#include <dlfcn.h>
#include <unistd.h>

namespace {

const char* variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// What the environment wants of a call; 0: that it works.
int answer(const char* call) {
  if (std::strcmp(variable("STUB_CRASH"), call) == 0) {
    std::raise(SIGSEGV);
  }
  if (std::strcmp(variable("STUB_EXIT"), call) == 0) {
    _exit(0);
  }
  while (std::strcmp(variable("STUB_HANG"), call) == 0) {
    pause();
  }
  const char* const fail = variable("STUB_FAIL");
  const std::size_t length = std::strlen(call);
  if (std::strncmp(fail, call, length) == 0 && fail[length] == ':') {
    return std::atoi(fail + length + 1);
  }
  return 0;
}

}  // namespace

extern "C" {

int cuDriverGetVersion(int* version) {
  const char* const wanted = variable("STUB_VERSION");
  *version = *wanted == '\0' ? 12040 : std::atoi(wanted);
  return answer("cuDriverGetVersion");
}

int cuInit(unsigned) {
  if (*variable("STUB_ALSO") != '\0') {
    dlopen(variable("STUB_ALSO"), RTLD_NOW);
  }
  const int code = answer("cuInit");
  return code != 0 ? code : std::atoi(variable("STUB_INIT"));
}

int cuDeviceGetCount(int* count) {
  const char* rest = variable("STUB_DEVICES");
  *count = *rest == '\0' ? 0 : 1;
  for (; *rest != '\0'; ++rest) {
    *count += *rest == ',' ? 1 : 0;
  }
  return answer("cuDeviceGetCount");
}

int cuDeviceGet(int* device, int number) {
  *device = number;
  return answer("cuDeviceGet");
}

int cuDeviceGetName(char* name, int size, int device) {
  const char* begin = variable("STUB_DEVICES");
  for (; device > 0; --device) {
    begin = std::strchr(begin, ',') + 1;
  }
  int i = 0;
  for (; i + 1 < size && begin[i] != '\0' && begin[i] != ','; ++i) {
    name[i] = begin[i];
  }
  name[i] = '\0';
  return answer("cuDeviceGetName");
}

int cuDeviceGetAttribute(int* value, int attribute, int) {
  *value = attribute == 75 ? 8 : 0;
  return answer("cuDeviceGetAttribute");
}

int cuDeviceTotalMem_v2(std::size_t* bytes, int) {
  *bytes = std::size_t{40} << 30U;
  return answer("cuDeviceTotalMem_v2");
}

int cuDevicePrimaryCtxRetain(void** context, int) {
  *context = nullptr;
  return answer("cuDevicePrimaryCtxRetain");
}

int cuDevicePrimaryCtxRelease(int) { return answer("cuDevicePrimaryCtxRelease"); }
int cuCtxSetCurrent(void*) { return answer("cuCtxSetCurrent"); }
int cuCtxSynchronize() { return answer("cuCtxSynchronize"); }

int cuMemAlloc_v2(unsigned long long* address, std::size_t bytes) {
  *address = reinterpret_cast<unsigned long long>(std::malloc(bytes));
  return answer("cuMemAlloc_v2");
}

int cuMemFree_v2(unsigned long long address) {
  std::free(reinterpret_cast<void*>(address));
  return answer("cuMemFree_v2");
}

int cuMemcpyHtoD_v2(unsigned long long to, const void* from, std::size_t bytes) {
  std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  return answer("cuMemcpyHtoD_v2");
}

int cuMemcpyDtoH_v2(void* to, unsigned long long from, std::size_t bytes) {
  std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
  return answer("cuMemcpyDtoH_v2");
}

int cuModuleLoadData(void** module, const void* text) {
  *module = nullptr;
  const bool is_ptx = std::strncmp(static_cast<const char*>(text), ".version", 8) == 0;
  const int code = answer("cuModuleLoadData");
  return code != 0 || is_ptx ? code : 200;
}

int cuModuleGetFunction(void** function, void*, const char*) {
  *function = nullptr;
  return answer("cuModuleGetFunction");
}

int cuModuleUnload(void*) { return answer("cuModuleUnload"); }

int cuLaunchKernel(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                   void*, void** parameters, void**) {
  const unsigned long long address = *static_cast<unsigned long long*>(parameters[0]);
  auto* const out = reinterpret_cast<unsigned*>(address);
  const unsigned count = *static_cast<unsigned*>(parameters[1]);
  for (unsigned i = 0; i < count; ++i) {
    out[i] = 3 * i + 7;
  }
  if (std::strcmp(variable("STUB_KERNEL"), "wrong") == 0) {
    out[count - 1] = 0;
  }
  return answer("cuLaunchKernel");
}

}  // extern "C"
