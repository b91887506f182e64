// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <utility>

#include "compatpack/knowledge/driver_branches.hpp"

#include "judge_parts.hpp"

namespace compatpack::host {
namespace {

void describe_platform(const Question& question) {
  const Platform& platform = question.host.platform;
  if (platform.kind == Platform::Kind::wsl) {
    question.say("platform", "WSL2 (" + platform.evidence + ")");
  } else if (platform.kind == Platform::Kind::jetson) {
    question.say("platform", "Jetson" +
                                 (platform.jetpack.empty() ? "" : ", JetPack " + platform.jetpack) +
                                 " (" + platform.evidence + ")");
  } else if (!platform.container.empty()) {
    question.say("platform", "in " + platform.container);
  }
}

/// The branch, its kind and its end: NVIDIA's policy, whatever a library accepts.
void describe_branch(const Question& question) {
  const knowledge::BranchRow* const row = knowledge::find_branch(question.branch());
  if (row == nullptr) {
    question.say("host branch", question.branch_text() + ", which compatpack's tables do not know");
    return;
  }
  std::string about = question.branch_text() + ", CUDA " + row->cuda.text();
  if (const auto type = name_of(row->type); !type.empty()) {
    about += ", " + std::string(type);
  }
  if (!row->end_of_life.empty()) {
    const bool over = !question.today.empty() && row->end_of_life < question.today;
    about += (over ? ", ended " : ", end of life ") + std::string(row->end_of_life);
  }
  if (row->type == knowledge::BranchType::new_feature) {
    about += "; NVIDIA supports no package on such a branch";
  }
  question.say("host branch", about);
}

void warn_of_circulating_number(const Question& question) {
  const Package& package = *question.package;
  if (!package.cuda || !question.has_branch()) {
    return;
  }
  const auto* const one = knowledge::circulating_number(*package.cuda, question.branch());
  if (one != nullptr) {
    question.out.warnings.push_back(std::string(one->driver) +
                                    " circulates as the minimum driver for CUDA " +
                                    one->cuda.text() + " packages; it is " +
                                    std::string(one->truth) + ". Packages go by branch");
  }
}

/// What NVIDIA's packages have, since when, and what to say where it is missing.
struct ExpectedLibrary {
  const char* stem;
  CudaVersion since;
  const char* without;
  const char* arch = "";  // the only one that has it; "" for all
};

// What the later ones are for is not documented.
constexpr const char* kSince131 = "NVIDIA's packages have that since CUDA 13.1";

constexpr auto kExpectedLibraries = std::to_array<ExpectedLibrary>({
    {"libnvidia-ptxjitcompiler", {0, 0}, "PTX cannot be compiled (error 221)"},
    {"libnvidia-nvvm", {11, 5}, "some code cannot be compiled at run time"},
    {"libcudadebugger", {11, 8}, "cuda-gdb will not work"},
    {"libnvidia-gpucomp", {13, 1}, kSince131},
    {"libnvidia-nvvm70", {13, 1}, kSince131},
    {"libnvidia-tileiras", {13, 1}, kSince131},
    {"libnvidia-pkcs11-openssl3", {13, 1}, kSince131, "x86_64"},
});

void warn_of_missing_libraries(const Question& question) {
  const Package& package = *question.package;
  if (package.libraries.empty() || !package.cuda) {
    return;
  }
  const auto& all = package.libraries;
  // One warning for all whose lack does the same.
  std::vector<std::pair<std::string, std::string>> missing;
  for (const ExpectedLibrary& row : kExpectedLibraries) {
    const std::string_view arch = row.arch;
    if (*package.cuda < row.since || (!arch.empty() && package.arch != arch) ||
        std::find(all.begin(), all.end(), row.stem) != all.end()) {
      continue;
    }
    const auto same = std::find_if(missing.begin(), missing.end(),
                                   [&](const auto& one) { return one.second == row.without; });
    if (same == missing.end()) {
      missing.emplace_back(row.stem, row.without);
    } else {
      same->first.append(", ").append(row.stem);
    }
  }
  for (const auto& [stems, without] : missing) {
    question.out.warnings.push_back(
        std::string("the package lacks ").append(stems).append(": ").append(without));
  }
}

}  // namespace

std::string listed(const std::vector<CudaVersion>& versions) {
  std::string out;
  for (const CudaVersion version : versions) {
    out += (out.empty() ? "" : " ") + version.text();
  }
  return out;
}

std::string dated(const std::string& as_of) { return as_of.empty() ? "" : ", as of " + as_of; }

void describe_host(const Question& question) {
  describe_platform(question);
  const KernelDriver& driver = question.host.driver;
  if (!driver.version) {
    question.say("kernel driver",
                 driver.problem.empty() ? "none seen" : "cannot be told: " + driver.problem);
    return;
  }
  std::string text = driver.version->text();
  if (driver.flavour == DriverFlavour::open) {
    text += ", open module";
  }
  question.say("kernel driver", text + " (" + driver.origin + ")");
  if (question.has_branch()) {
    describe_branch(question);
  }
}

void describe_package(const Question& question) {
  const Package& package = *question.package;
  std::string text = "driver " + (package.driver ? package.driver->text() : "unknown");
  if (package.cuda) {
    text += ", CUDA " + package.cuda->text();
  }
  if (!package.arch.empty()) {
    text += ", " + package.arch;
  }
  if (!package.glibc_needed.empty()) {
    text += ", needs glibc " + package.glibc_needed;
  }
  question.say("package", text);
}

void warn_of_package(const Question& question) {
  warn_of_circulating_number(question);
  warn_of_missing_libraries(question);
}

}  // namespace compatpack::host
