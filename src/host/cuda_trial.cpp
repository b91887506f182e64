// SPDX-License-Identifier: Apache-2.0
#include "compatpack/host/cuda_trial.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "compatpack/base/text.hpp"

// The build makes the program of src/host/trial, and this puts its bytes in ours.
asm(R"(
  .pushsection .rodata
kCompatpackTrial:
  .incbin ")" COMPATPACK_TRIAL_PROGRAM R"("
kCompatpackTrialEnd:
  .balign 8
kCompatpackTrialSize:
  .quad kCompatpackTrialEnd - kCompatpackTrial
  .popsection
)");
extern "C" const char kCompatpackTrial;
extern "C" const std::uint64_t kCompatpackTrialSize;

namespace compatpack::host {
namespace {

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

std::string_view cuda_trial_program() { return {&kCompatpackTrial, kCompatpackTrialSize}; }

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
      std::string path = path_of_maps(value);
      if (std::find(report.libcudas.begin(), report.libcudas.end(), path) ==
          report.libcudas.end()) {
        report.libcudas.push_back(std::move(path));
      }
    } else if (key == "jit") {
      report.jit = path_of_maps(value);
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
