// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>
#include <utility>

#include "compatpack/knowledge/catalog.hpp"
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

void warn_of_missing_libraries(const Question& question) {
  const Package& package = *question.package;
  if (package.libraries.empty() || !package.cuda) {
    return;
  }
  const std::set<std::string, std::less<>> stems(package.libraries.begin(),
                                                 package.libraries.end());
  for (const auto& lack : knowledge::find_lacks(stems, package.cuda, package.arch)) {
    question.out.warnings.push_back("the package lacks " + lack.stems + ": " +
                                    std::string(lack.without));
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
