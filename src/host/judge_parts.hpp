// SPDX-License-Identifier: Apache-2.0
#pragma once

// The parts of judge(), a subject each. They share one Question: what is known, and what has been
// said of it so far.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compatpack/host/judge.hpp"
#include "compatpack/knowledge/gpu_names.hpp"

namespace compatpack::host {

inline constexpr int kMismatch = 803;
inline constexpr int kNotOnThisDevice = 804;

/// What one part came to.
struct Finding {
  Verdict verdict;
  std::string reason;
  std::optional<int> foretold = {};  ///< the CUDA error to expect
};

struct Question {
  const HostFacts& host;
  const Package* package;  ///< null: any package
  const knowledge::CompatTable& table;
  const std::string& today;
  Judgement& out;

  /// Whether the kernel driver's version names a branch: a Jetson's does not.
  [[nodiscard]] bool has_branch() const {
    return host.driver.version && host.platform.kind == Platform::Kind::plain;
  }
  [[nodiscard]] std::uint32_t branch() const { return host.driver.version->branch(); }
  [[nodiscard]] std::string branch_text() const { return "R" + std::to_string(branch()); }

  /// "CUDA 12.4", or "this package" where its CUDA version is not known.
  [[nodiscard]] std::string package_text() const {
    return package != nullptr && package->cuda ? "CUDA " + package->cuda->text() : "this package";
  }

  void say(std::string label, std::string text) const {
    out.lines.push_back({std::move(label), std::move(text)});
  }
  void advise(std::string next) const { out.next.push_back(std::move(next)); }
};

/// "12.3 12.4".
[[nodiscard]] std::string listed(const std::vector<CudaVersion>& versions);

/// ", as of 2026-09"; "" if there is no date.
[[nodiscard]] std::string dated(const std::string& as_of);

// --- judge_facts.cpp: what is there ---

void describe_host(const Question& question);
void describe_package(const Question& question);

/// Numbers that circulate and are of something else; libraries that a package should have.
void warn_of_package(const Question& question);

// --- judge_gpus.cpp: is forward compatibility for these GPUs? ---

/// Each GPU for itself, into `question.out.gpus`.
void judge_gpus(const Question& question);

/// All visible GPUs together, after judge_gpus(): one that is refused can sink the process for all.
[[nodiscard]] Finding gpus_together(const Question& question);

/// The oldest architecture among the visible GPUs that a driver branch has dropped or will drop;
/// null if none is.
[[nodiscard]] const knowledge::ArchitectureRow* first_to_be_dropped(const Question& question);

// --- judge_pair.cpp: does a package go with the host's branch? ---

/// The library's own word first, then the table's; NVIDIA's policy as a line of its own. The
/// package's driver is known, and newer than the host's.
[[nodiscard]] Finding judge_library(const Question& question);

/// What the tables say of all packages for this host.
[[nodiscard]] Finding judge_any_package(const Question& question);

/// Says where programs run without a package, and advises to try that first.
void offer_minor_version(const Question& question);

// --- judge_jetson.cpp: Tegra, whose driver comes with JetPack ---

[[nodiscard]] Finding judge_jetson(const Question& question);

}  // namespace compatpack::host
