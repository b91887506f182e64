// SPDX-License-Identifier: Apache-2.0
#include "compatpack/host/judge.hpp"

#include <algorithm>

#include "judge_parts.hpp"

namespace compatpack::host {
namespace {

/// What keeps a package from being loaded at all, or from being judged.
std::optional<Finding> unfit_package(const Question& question) {
  const Platform& platform = question.host.platform;
  const Package& package = *question.package;
  if (!package.driver) {
    return Finding{Verdict::unknown, "the package's driver version is not known"};
  }
  if (!platform.arch.empty() && !package.arch.empty() && platform.arch != package.arch) {
    question.advise("get the package for " + platform.arch);
    return Finding{Verdict::no,
                   "the package is for " + package.arch + ", this host is " + platform.arch};
  }
  if (!platform.glibc.empty() && is_newer_version(package.glibc_needed, platform.glibc)) {
    question.advise("run in a container whose glibc is newer");
    return Finding{Verdict::no, "the libraries need glibc " + package.glibc_needed +
                                    ", this host has " + platform.glibc};
  }
  if (package.note && !package.note->branches) {
    return Finding{Verdict::no, "the package is for Jetson Orin, as its note shows"};
  }
  return std::nullopt;
}

/// What is not newer than the kernel driver is of no use, or does harm.
std::optional<Finding> not_newer(const Question& question) {
  const DriverVersion& ours = *question.package->driver;
  const DriverVersion& theirs = *question.host.driver.version;
  if (ours == theirs) {
    return Finding{Verdict::not_needed,
                   "the host's driver is of the same version and gives all that the package does"};
  }
  if (theirs < ours) {
    return std::nullopt;
  }
  question.out.foretold = kMismatch;
  question.advise("do not use it here: the host's own driver is the newer");
  question.advise("env.sh and `compatpack run` stand aside on such a host by themselves");
  return Finding{Verdict::harmful, "driver " + ours.text() + " over the newer kernel driver " +
                                       theirs.text() + " would break CUDA (error 803)"};
}

/// The package's branch and the GPUs must both do; the weaker of the two is the verdict.
Finding combined(const Question& question, const Finding& library) {
  const auto& hazards = question.host.hazards;
  if (const auto grave = std::find_if(hazards.begin(), hazards.end(),
                                      [](const Hazard& one) { return one.is_grave; });
      grave != hazards.end()) {
    question.advise(grave->next);
    return {Verdict::no, grave->text};
  }
  Finding gpus = gpus_together(question);
  if (gpus.verdict == Verdict::no) {
    return gpus;
  }
  const Platform& platform = question.host.platform;
  if (!platform.has_device_files) {
    question.advise(platform.container.empty()
                        ? "ask why /dev/nvidiactl is missing (nvidia-modprobe makes it)"
                        : "start the container with the GPU: docker run --gpus all, apptainer "
                          "--nv");
    return {Verdict::unknown, "there is no /dev/nvidiactl: programs here reach no GPU (error 100)"};
  }
  if (library.verdict == Verdict::unknown) {
    question.advise("see which packages this host takes: compatpack matrix --driver " +
                    question.host.driver.version->text());
    return library;
  }
  if (gpus.verdict == Verdict::unknown) {
    return gpus;
  }
  if (library.verdict == Verdict::possible || gpus.verdict == Verdict::possible) {
    question.advise("compatpack probe TREE, where the GPU is, settles it");
    return {Verdict::possible, library.verdict == Verdict::possible ? library.reason : gpus.reason};
  }
  if (question.package != nullptr) {
    question.advise("make sure where the GPU is: compatpack probe TREE");
  }
  return {Verdict::expected, library.reason + ", and " + gpus.reason};
}

Finding decide(const Question& question) {
  const HostFacts& host = question.host;
  if (host.platform.kind == Platform::Kind::wsl) {
    question.advise("update the driver in Windows: WSL2 uses that one");
    return {Verdict::no, "forward compatibility is not for WSL2, whose driver is Windows' own"};
  }
  if (host.platform.kind == Platform::Kind::jetson) {
    return judge_jetson(question);
  }
  if (question.package != nullptr) {
    if (auto unfit = unfit_package(question)) {
      return *std::move(unfit);
    }
  }
  if (!host.driver.version) {
    if (!host.platform.container.empty()) {
      question.advise("start the container with the GPU: docker run --gpus all, apptainer --nv");
    }
    question.advise(
        "run this where the GPU is, or name what is there: --driver 535.129.03 --gpu A100");
    return {Verdict::unknown, host.driver.problem.empty()
                                  ? "no NVIDIA kernel driver was seen here"
                                  : "the kernel driver's version cannot be read"};
  }
  if (question.package == nullptr) {
    return combined(question, judge_any_package(question));
  }
  if (auto useless = not_newer(question)) {
    return *std::move(useless);
  }
  offer_minor_version(question);
  Finding library = judge_library(question);
  if (library.verdict == Verdict::no) {
    question.out.foretold = kMismatch;
    question.advise("see which packages this host takes: compatpack matrix --driver " +
                    host.driver.version->text());
    return library;
  }
  return combined(question, library);
}

}  // namespace

std::string_view words_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::expected:
      return "expected to work";
    case Verdict::possible:
      return "unsupported, but the library may accept it";
    case Verdict::not_needed:
      return "not needed";
    case Verdict::harmful:
      return "no, harmful";
    case Verdict::no:
      return "no";
    case Verdict::unknown:
      break;
  }
  return "unknown";
}

std::string_view name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::expected:
      return "expected";
    case Verdict::possible:
      return "possible";
    case Verdict::not_needed:
      return "not needed";
    case Verdict::harmful:
      return "harmful";
    case Verdict::no:
      return "no";
    case Verdict::unknown:
      break;
  }
  return "unknown";
}

int exit_status(Verdict verdict) {
  constexpr int kNo = 5;
  constexpr int kUnknown = 6;
  switch (verdict) {
    case Verdict::expected:
      return 0;
    case Verdict::not_needed:
    case Verdict::harmful:
    case Verdict::no:
      return kNo;
    case Verdict::possible:
    case Verdict::unknown:
      break;
  }
  return kUnknown;
}

Judgement judge(const HostFacts& host, const Package* package, const knowledge::CompatTable& table,
                const std::string& today) {
  Judgement out;
  const Question question{host, package, table, today, out};
  describe_host(question);
  judge_gpus(question);
  if (package != nullptr) {
    describe_package(question);
  }
  for (const Hazard& hazard : host.hazards) {
    out.warnings.push_back(hazard.text + "; " + hazard.next);
  }
  Finding finding = decide(question);
  out.verdict = finding.verdict;
  out.reason = std::move(finding.reason);
  if (package != nullptr) {
    warn_of_package(question);
  }
  return out;
}

}  // namespace compatpack::host
