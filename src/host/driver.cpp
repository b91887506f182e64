// SPDX-License-Identifier: Apache-2.0
#include "compatpack/host/driver.hpp"

#include "compatpack/base/text.hpp"

namespace compatpack::host {
namespace {

constexpr const char* kProcFile = "/proc/driver/nvidia/version";
constexpr const char* kSysFile = "/sys/module/nvidia/version";

/// The first word of `text` that is a version.
std::optional<DriverVersion> first_version(std::string_view text) {
  for (const std::string_view word : split(text, ' ')) {
    if (auto version = DriverVersion::parse(trim(word))) {
      return version;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<DriverLine> parse_driver_line(std::string_view text) {
  constexpr std::string_view kModule = "Kernel Module";
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    const std::size_t at = line.find(kModule);
    if (line.find("NVRM") == std::string_view::npos || at == std::string_view::npos) {
      continue;
    }
    const std::string_view rest = line.substr(at + kModule.size());
    const auto version = first_version(rest);
    if (!version) {
      return std::nullopt;
    }
    const bool open = line.substr(0, at).ends_with("Open ");
    const bool tegra = !open && rest.starts_with(" for aarch64");
    return DriverLine{*version, open    ? DriverFlavour::open
                                : tegra ? DriverFlavour::tegra
                                        : DriverFlavour::proprietary};
  }
  return std::nullopt;
}

KernelDriver read_kernel_driver(const HostRoot& root) {
  KernelDriver driver;
  const auto note_problem = [&driver](const char* file, const std::string& why) {
    driver.problem += (driver.problem.empty() ? "" : "; ") + std::string(file) + " " + why;
  };
  const HostText proc = root.read(kProcFile);
  if (proc.state == HostText::State::read) {
    if (const auto line = parse_driver_line(proc.text)) {
      driver.version = line->version;
      driver.flavour = line->flavour;
      driver.origin = kProcFile;
      return driver;
    }
    note_problem(kProcFile, proc.text.empty() ? "is empty" : "holds no driver version");
  } else if (proc.state == HostText::State::unreadable) {
    note_problem(kProcFile, "cannot be read: " + proc.why);
  }
  const HostText sys = root.read(kSysFile);
  if (sys.state == HostText::State::read) {
    driver.version = DriverVersion::parse(trim(sys.text));
    if (driver.version) {
      driver.origin = kSysFile;
      return driver;
    }
    note_problem(kSysFile, sys.text.empty() ? "is empty" : "holds no driver version");
  } else if (sys.state == HostText::State::unreadable) {
    note_problem(kSysFile, "cannot be read: " + sys.why);
  }
  return driver;
}

}  // namespace compatpack::host
