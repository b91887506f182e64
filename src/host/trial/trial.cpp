// SPDX-License-Identifier: Apache-2.0

// The program that host/cuda_trial.hpp tells of. It is linked with the host's C library, as it must
// be to load a libcuda, while compatpack itself may be linked statically, or against another glibc.
// So that it starts under any glibc, it asks for functions without a version (see libc_names.cpp),
// and does without the C++ library.

#include <array>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <string_view>

#include <dlfcn.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "compatpack/io/child_process.hpp"

namespace compatpack::host {
namespace {

// The CUDA driver API, as far as it is used here: its ABI is stable, and so no header of NVIDIA's
// is needed. Handles are opaque; device addresses are 64 bits wide.
using Code = int;
using Device = int;
using DevicePtr = unsigned long long;
using Handle = void*;

constexpr int kMajor = 75;  // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR
constexpr int kMinor = 76;

// A kernel that needs the JIT compiler: out[i] = 3 * i + 7. PTX of ISA 6.0 (CUDA 9) is read by
// every driver since. Its target must not be newer than the GPU.
constexpr unsigned kElements = 256;
constexpr const char* kKernelName = "compatpack_probe";
constexpr std::string_view kTarget = "sm_50";
constexpr std::string_view kKeplerTarget = "sm_30";
constexpr std::string_view kKernel = R"(.version 6.0
.target sm_50
.address_size 64
.visible .entry compatpack_probe(.param .u64 out, .param .u32 count)
{
  .reg .pred %p<2>;
  .reg .b32 %r<7>;
  .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [out];
  ld.param.u32 %r1, [count];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.s32 %r5, %r2, %r3, %r4;
  setp.ge.u32 %p1, %r5, %r1;
  @%p1 bra done;
  cvta.to.global.u64 %rd2, %rd1;
  mul.wide.u32 %rd3, %r5, 4;
  add.s64 %rd4, %rd2, %rd3;
  mad.lo.s32 %r6, %r5, 3, 7;
  st.global.u32 [%rd4], %r6;
done:
  ret;
}
)";

bool begins_with(const char* text, const char* start) {
  return std::strncmp(text, start, std::strlen(start)) == 0;
}

/// Where the report goes; in lines, each written at once, as the next call may never come back.
class Reporter {
 public:
  explicit Reporter(int fd) : file_(::fdopen(fd, "we")) {
    static_cast<void>(std::setvbuf(file_, nullptr, _IOLBF, BUFSIZ));
  }

  /// `value` may be anything: \\ and line ends are written as \\\\ and \\n.
  void say(const char* key, std::string_view value) const {
    static_cast<void>(std::fprintf(file_, "%s ", key));
    for (const char c : value) {
      const char* const escaped = c == '\\' ? "\\\\" : c == '\n' ? "\\n" : nullptr;
      static_cast<void>(escaped == nullptr ? std::fputc(c, file_) : std::fputs(escaped, file_));
    }
    static_cast<void>(std::fputs("\n", file_));
  }

  void say(const char* key, long long number) const {
    static_cast<void>(std::fprintf(file_, "%s %lld\n", key, number));
  }

  void say_capability(int major, int minor) const {
    static_cast<void>(std::fprintf(file_, "capability %d.%d\n", major, minor));
  }

  void say_failed(Code code, const char* call) const {
    static_cast<void>(std::fprintf(file_, "failed %d %s\n", code, call));
  }

 private:
  std::FILE* file_;
};

class Trial {
 public:
  explicit Trial(int report) : report_(report) {}

  void run() {
    report_.say("call", "dlopen");
    library_ = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
    if (library_ == nullptr) {
      const char* const why = ::dlerror();  // NOLINT(concurrency-mt-unsafe): one thread
      report_.say("load_error", why == nullptr ? "no reason given" : why);
      return;
    }
    report_.say("code", 0);
    say_library();
    int version = 0;
    if (call<Code(int*)>("cuDriverGetVersion", &version) == 0) {
      report_.say("driver_api", version);
    }
    const Code code = call<Code(unsigned)>("cuInit", 0U);
    report_.say("init", code);
    if (code == 0) {
      try_devices();
    }
    say_mapped();
    report_.say("finished", "yes");
  }

 private:
  template <class Function, class... Arguments>
  Code call(const char* name, Arguments... arguments) {
    void* const symbol = ::dlsym(library_, name);
    if (symbol == nullptr) {
      report_.say("missing", name);
      failed_call_ = name;
      failed_code_ = -1;
      return -1;
    }
    report_.say("call", name);
    const Code code = reinterpret_cast<Function*>(symbol)(arguments...);
    report_.say("code", code);
    if (code != 0) {
      failed_call_ = name;
      failed_code_ = code;
    }
    return code;
  }

  /// As the loader names it: the parent follows its links.
  void say_library() const {
    Dl_info where{};
    void* const symbol = ::dlsym(library_, "cuInit");
    if (symbol != nullptr && ::dladdr(symbol, &where) != 0) {
      report_.say("library", where.dli_fname);
    }
  }

  /// Each mapping of a file with a libcuda or JIT compiler's name: files have several.
  void say_mapped() const {
    std::FILE* const maps = std::fopen("/proc/self/maps", "re");
    char* text = nullptr;
    std::size_t capacity = 0;
    for (ssize_t size = 0; maps != nullptr && (size = ::getline(&text, &capacity, maps)) > 0;) {
      const std::string_view line(text, static_cast<std::size_t>(size) - 1);
      const std::size_t path_at = line.find('/');
      if (path_at == std::string_view::npos) {
        continue;
      }
      const std::string_view path(text + path_at, line.size() - path_at);
      const char* const name = text + line.rfind('/') + 1;
      if (begins_with(name, "libcuda.so")) {
        report_.say("libcuda", path);
      } else if (begins_with(name, "libnvidia-ptxjitcompiler.so")) {
        report_.say("jit", path);
      }
    }
  }

  void try_devices() {
    int count = 0;
    if (call<Code(int*)>("cuDeviceGetCount", &count) != 0) {
      return;
    }
    for (int i = 0; i < count; ++i) {
      Device device = 0;
      report_.say("device", i);
      failed_call_ = "";
      failed_code_ = 0;
      const bool works =
          call<Code(Device*, int)>("cuDeviceGet", &device, i) == 0 && try_device(device);
      if (works) {
        report_.say("kernel", "right");
      } else {
        report_.say_failed(failed_code_, failed_call_);
      }
    }
  }

  bool try_device(Device device) {
    std::array<char, 256> name{};
    int major = 0;
    int minor = 0;
    std::size_t memory = 0;
    if (call<Code(char*, int, Device)>("cuDeviceGetName", name.data(),
                                       static_cast<int>(name.size() - 1), device) != 0 ||
        call<Code(int*, int, Device)>("cuDeviceGetAttribute", &major, kMajor, device) != 0 ||
        call<Code(int*, int, Device)>("cuDeviceGetAttribute", &minor, kMinor, device) != 0 ||
        call<Code(std::size_t*, Device)>("cuDeviceTotalMem_v2", &memory, device) != 0) {
      return false;
    }
    report_.say("name", name.data());
    report_.say_capability(major, minor);
    report_.say("memory", static_cast<long long>(memory));
    Handle context = nullptr;
    if (call<Code(Handle*, Device)>("cuDevicePrimaryCtxRetain", &context, device) != 0) {
      return false;
    }
    const bool works = call<Code(Handle)>("cuCtxSetCurrent", context) == 0 && try_kernel(major);
    const char* const failed_call = failed_call_;
    const Code failed_code = failed_code_;
    call<Code(Device)>("cuDevicePrimaryCtxRelease", device);
    if (!works) {
      failed_call_ = failed_call;
      failed_code_ = failed_code;
    }
    return works;
  }

  bool try_kernel(int major) {
    DevicePtr memory = 0;
    std::array<unsigned, kElements> numbers{};
    numbers.fill(0xA5A5A5A5U);
    constexpr std::size_t kSize = sizeof numbers;
    if (call<Code(DevicePtr*, std::size_t)>("cuMemAlloc_v2", &memory, kSize) != 0) {
      return false;
    }
    const bool works = call<Code(DevicePtr, const void*, std::size_t)>(
                           "cuMemcpyHtoD_v2", memory, numbers.data(), kSize) == 0 &&
                       launch(major, memory) &&
                       call<Code(void*, DevicePtr, std::size_t)>("cuMemcpyDtoH_v2", numbers.data(),
                                                                 memory, kSize) == 0;
    if (works) {
      call<Code(DevicePtr)>("cuMemFree_v2", memory);
    }
    for (unsigned i = 0; works && i < kElements; ++i) {
      if (numbers[i] != 3 * i + 7) {
        failed_call_ = "the kernel's result";
        failed_code_ = 0;
        return false;
      }
    }
    return works;
  }

  bool launch(int major, DevicePtr memory) {
    constexpr int kMaxwell = 5;
    std::array<char, kKernel.size() + 1> ptx{};
    std::memcpy(ptx.data(), kKernel.data(), kKernel.size());
    if (major < kMaxwell) {
      std::memcpy(ptx.data() + kKernel.find(kTarget), kKeplerTarget.data(), kKeplerTarget.size());
    }
    Handle module = nullptr;
    Handle function = nullptr;
    if (call<Code(Handle*, const void*)>("cuModuleLoadData", &module, ptx.data()) != 0 ||
        call<Code(Handle*, Handle, const char*)>("cuModuleGetFunction", &function, module,
                                                 kKernelName) != 0) {
      return false;
    }
    unsigned count = kElements;
    std::array<void*, 2> parameters{&memory, &count};
    constexpr unsigned kBlock = 64;
    using Launch = Code(Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                        unsigned, Handle, void**, void**);
    return call<Launch>("cuLaunchKernel", function, kElements / kBlock, 1U, 1U, kBlock, 1U, 1U, 0U,
                        static_cast<Handle>(nullptr), parameters.data(),
                        static_cast<void**>(nullptr)) == 0 &&
           call<Code()>("cuCtxSynchronize") == 0 &&
           call<Code(Handle)>("cuModuleUnload", module) == 0;
  }

  Reporter report_;
  void* library_ = nullptr;  // never closed: libcuda does not survive that
  const char* failed_call_ = "";
  Code failed_code_ = 0;
};

}  // namespace
}  // namespace compatpack::host

int main() {
  // A crash of the driver is an answer, not a core file of gigabytes; and nobody waits once the
  // parent is gone.
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  compatpack::host::Trial(compatpack::io::kReportFd).run();
  // All is said. What libraries do at a process's end can hang or crash, and is not what was asked.
  ::_exit(0);
}
