// SPDX-License-Identifier: Apache-2.0
#include "compatpack/host/cuda_trial.hpp"

#include <array>
#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <memory>
#include <set>
#include <utility>

#include <dlfcn.h>
#include <unistd.h>

#include "compatpack/base/text.hpp"

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

// A kernel that needs the JIT compiler: out[i] = 3 * i + 7.
constexpr unsigned kElements = 256;
constexpr const char* kKernelName = "compatpack_probe";
constexpr const char* kKernelBody = R"(
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

/// A value within one line: \ and line ends written as \\ and \n.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    out += c == '\\' ? "\\\\" : c == '\n' ? "\\n" : std::string(1, c);
  }
  return out;
}

std::string unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_escape = text[i] == '\\' && i + 1 < text.size();
    i += is_escape ? 1U : 0U;
    out += is_escape && text[i] == 'n' ? '\n' : text[i];
  }
  return out;
}

/// A path of /proc/self/maps, where the kernel writes a line end as \012.
std::string path_of_maps(std::string path) {
  constexpr std::string_view kLineEnd = "\\012";
  for (std::size_t at = path.find(kLineEnd); at != std::string::npos; at = path.find(kLineEnd)) {
    path.replace(at, kLineEnd.size(), "\n");
  }
  return path;
}

class Reporter {
 public:
  explicit Reporter(int fd) : fd_(fd) {}

  void say(std::string_view key, std::string_view value) const {
    const std::string line = std::string(key) + " " + escaped(value) + "\n";
    const char* rest = line.data();
    std::size_t left = line.size();
    while (left > 0) {
      const ssize_t count = ::write(fd_, rest, left);
      if (count <= 0) {
        return;  // nobody listens any more
      }
      rest += count;
      left -= static_cast<std::size_t>(count);
    }
  }

 private:
  int fd_;
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
    report_.say("code", "0");
    say_library();
    int version = 0;
    if (call<Code(int*)>("cuDriverGetVersion", &version) == 0) {
      report_.say("driver_api", std::to_string(version));
    }
    const Code code = call<Code(unsigned)>("cuInit", 0U);
    report_.say("init", std::to_string(code));
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
    report_.say("code", std::to_string(code));
    if (code != 0) {
      failed_call_ = name;
      failed_code_ = code;
    }
    return code;
  }

  void say_library() const {
    Dl_info where{};
    void* const symbol = ::dlsym(library_, "cuInit");
    if (symbol != nullptr && ::dladdr(symbol, &where) != 0) {
      const std::unique_ptr<char, void (*)(void*)> real(::realpath(where.dli_fname, nullptr),
                                                        &std::free);
      report_.say("library", real ? real.get() : where.dli_fname);
    }
  }

  /// Each file with a libcuda or JIT compiler's name that is in memory.
  void say_mapped() const {
    std::set<std::string> told;
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
      const std::size_t path_at = line.find('/');
      if (path_at == std::string::npos) {
        continue;
      }
      const std::string path = path_of_maps(line.substr(path_at));
      const std::string name = path.substr(path.rfind('/') + 1);
      const bool is_cuda = name.starts_with("libcuda.so");
      if ((is_cuda || name.starts_with("libnvidia-ptxjitcompiler.so")) &&
          told.insert(path).second) {
        report_.say(is_cuda ? "libcuda" : "jit", path);
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
      report_.say("device", std::to_string(i));
      failed_call_.clear();
      failed_code_ = 0;
      const bool works =
          call<Code(Device*, int)>("cuDeviceGet", &device, i) == 0 && try_device(device);
      if (works) {
        report_.say("kernel", "right");
      } else {
        report_.say("failed", std::to_string(failed_code_) + " " + failed_call_);
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
    report_.say("capability", std::to_string(major) + "." + std::to_string(minor));
    report_.say("memory", std::to_string(memory));
    Handle context = nullptr;
    if (call<Code(Handle*, Device)>("cuDevicePrimaryCtxRetain", &context, device) != 0) {
      return false;
    }
    const bool works = call<Code(Handle)>("cuCtxSetCurrent", context) == 0 && try_kernel(major);
    const std::string failed_call = failed_call_;
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
    // PTX of ISA 6.0 (CUDA 9) is read by every driver since. Its target must not be newer than the
    // GPU.
    constexpr int kMaxwell = 5;
    const std::string ptx = std::string(".version 6.0\n.target ") +
                            (major < kMaxwell ? "sm_30" : "sm_50") + kKernelBody;
    Handle module = nullptr;
    Handle function = nullptr;
    if (call<Code(Handle*, const void*)>("cuModuleLoadData", &module, ptx.c_str()) != 0 ||
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
  std::string failed_call_;
  Code failed_code_ = 0;
};

std::optional<int> int_of(std::string_view text) {
  const bool negative = text.starts_with('-');
  const auto value = parse_decimal(text.substr(negative ? 1 : 0));
  if (!value || *value > static_cast<std::uint64_t>(std::numeric_limits<int>::max())) {
    return std::nullopt;
  }
  return negative ? -static_cast<int>(*value) : static_cast<int>(*value);
}

void read_device_line(std::string_view key, std::string_view value, TrialDevice& device) {
  if (key == "name") {
    device.name = value;
  } else if (key == "capability") {
    const std::size_t dot = value.find('.');
    device.major = int_of(value.substr(0, dot)).value_or(0);
    device.minor = dot == std::string_view::npos ? 0 : int_of(value.substr(dot + 1)).value_or(0);
  } else if (key == "memory") {
    device.memory = parse_decimal(value).value_or(0);
  } else if (key == "kernel") {
    device.kernel_ran = value == "right";
  } else if (key == "failed") {
    const std::size_t blank = value.find(' ');
    device.code = int_of(value.substr(0, blank)).value_or(0);
    device.failed_call = blank == std::string_view::npos ? "" : value.substr(blank + 1);
  }
}

}  // namespace

void run_cuda_trial(int report) { Trial(report).run(); }

TrialReport parse_trial_report(std::string_view text) {
  // More than any machine has.
  constexpr std::size_t kDevicesMax = 1'024;
  TrialReport report;
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    const std::size_t blank = line.find(' ');
    if (blank == std::string_view::npos) {
      continue;
    }
    const std::string_view key = line.substr(0, blank);
    const std::string value = unescaped(line.substr(blank + 1));
    if (key == "call") {
      report.last_call = value;
    } else if (key == "code") {
      report.last_call.clear();
    } else if (key == "load_error") {
      report.load_error = value;
      report.last_call.clear();
    } else if (key == "library") {
      report.library = value;
    } else if (key == "libcuda") {
      report.libcudas.emplace_back(value);
    } else if (key == "jit") {
      report.jit = value;
    } else if (key == "driver_api") {
      report.driver_api = int_of(value);
    } else if (key == "init") {
      report.init = int_of(value);
    } else if (key == "missing") {
      report.missing = value;
    } else if (key == "finished") {
      report.finished = true;
    } else if (key == "device" && report.devices.size() < kDevicesMax) {
      report.devices.emplace_back();
    } else if (!report.devices.empty()) {
      read_device_line(key, value, report.devices.back());
    }
  }
  return report;
}

}  // namespace compatpack::host
