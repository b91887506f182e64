// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "compatpack/base/text.hpp"
#include "compatpack/knowledge/driver_branches.hpp"
#include "compatpack/knowledge/gpu_names.hpp"

#include "judge_parts.hpp"

namespace compatpack::host {
namespace {

using knowledge::GpuClass;

/// Whether CUDA_VISIBLE_DEVICES lets a GPU be seen. An index counts in an order that only CUDA
/// knows, unless CUDA_DEVICE_ORDER says otherwise.
bool is_visible(const HostFacts& host, const Gpu& gpu, std::size_t index) {
  if (!host.visible_devices) {
    return true;
  }
  for (const std::string_view word : split(*host.visible_devices, ',')) {
    const std::string_view one = trim(word);
    if (const auto place = parse_decimal(one)) {
      if (!host.is_pci_order || *place == index) {
        return true;
      }
    } else if (one.starts_with("GPU-")) {
      if (gpu.uuid.empty() || gpu.uuid.starts_with(one)) {
        return true;
      }
    } else if (one.starts_with("MIG-")) {
      return true;
    } else {
      break;  // CUDA stops at the first word that it cannot read
    }
  }
  return false;
}

Finding judge_class(GpuClass gpu_class, bool has_name) {
  switch (gpu_class) {
    case GpuClass::data_center:
      return {Verdict::expected, "a data-center GPU by its name"};
    case GpuClass::workstation:
      return {Verdict::possible,
              "a workstation GPU by its name: libraries accept the class, NVIDIA supports some "
              "of it"};
    case GpuClass::geforce:
      return {Verdict::no, "forward compatibility refuses GeForce and Titan GPUs (error 804)",
              kNotOnThisDevice};
    case GpuClass::mining:
      return {Verdict::no, "forward compatibility is not for mining GPUs (error 804)",
              kNotOnThisDevice};
    case GpuClass::unclear:
      break;
  }
  return {Verdict::unknown, has_name
                                ? "its name does not tell whether forward compatibility is for it"
                                : "without a name it cannot be judged"};
}

/// Whether the package's branch still drives the architecture, and the kernel driver does already.
Finding judge_architecture(const Question& question, knowledge::Architecture architecture,
                           const Gpu& gpu) {
  const auto& row = row_of(architecture);
  const std::string name(row.name);
  if (architecture == knowledge::Architecture::unknown) {
    return {Verdict::expected, ""};
  }
  const Package* const package = question.package;
  const bool has_driver = package != nullptr && package->driver;
  if (has_driver && row.last_branch != 0 && package->driver->branch() > row.last_branch) {
    return {Verdict::no, "drivers newer than R" + std::to_string(row.last_branch) +
                             " do not drive " + name + " any more"};
  }
  const auto cuda =
      question.has_branch() ? knowledge::cuda_of_branch(question.branch()) : std::nullopt;
  if (!cuda || *cuda >= row.first_cuda) {
    return {Verdict::expected, ""};
  }
  const std::string text = "the kernel driver, " + question.branch_text() + ", is older than " +
                           name + ", which came with CUDA " + row.first_cuda.text();
  return gpu.named_by_driver
             ? Finding{Verdict::unknown, text + ", and yet it knows this GPU's name"}
             : Finding{Verdict::no, text +
                                        ": no package helps where the kernel driver does not "
                                        "know the GPU"};
}

JudgedGpu judge_gpu(const Question& question, const Gpu& gpu, std::size_t index) {
  const knowledge::GpuKind kind = knowledge::classify_gpu(gpu.name);
  Finding finding = judge_class(kind.gpu_class, !gpu.name.empty());
  const Finding by_age = judge_architecture(question, kind.architecture, gpu);
  if (by_age.verdict == Verdict::no ||
      (by_age.verdict == Verdict::unknown && finding.verdict != Verdict::no)) {
    finding = by_age;
  }
  return {.gpu = gpu,
          .gpu_class = std::string(name_of(kind.gpu_class)),
          .architecture = std::string(row_of(kind.architecture).name),
          .is_visible = is_visible(question.host, gpu, index),
          .verdict = finding.verdict,
          .reason = finding.reason,
          .foretold = finding.foretold};
}

std::string described(const JudgedGpu& judged) {
  const Gpu& gpu = judged.gpu;
  std::string text = gpu.name.empty() ? "a GPU whose name cannot be told" : gpu.name;
  text += gpu.pci_id.empty() || !gpu.name.empty() ? "" : " (" + gpu.pci_id + ")";
  text += judged.architecture.empty() ? "" : ", " + judged.architecture;
  text += ": " + judged.reason;
  return text + (judged.is_visible ? "" : " (hidden by CUDA_VISIBLE_DEVICES)");
}

using Gpus = std::vector<const JudgedGpu*>;

/// At least one in `bad`, which are visible.
Finding some_are_bad(const Question& question, const Gpus& good, const Gpus& bad) {
  const JudgedGpu& worst = *bad.front();
  if (worst.foretold) {
    question.out.foretold = worst.foretold;
  }
  if (good.empty()) {
    question.advise("use the host's own driver, and programs built for its CUDA version or older");
    return {Verdict::no, worst.gpu.name + ": " + worst.reason};
  }
  std::string devices;
  bool complete = true;
  for (const JudgedGpu* const one : good) {
    devices += (devices.empty() ? "" : ",") + one->gpu.uuid;
    complete = complete && !one->gpu.uuid.empty();
  }
  question.advise(
      "hide what is refused: export CUDA_VISIBLE_DEVICES=" +
      (complete ? devices : "GPU-... of " + good.front()->gpu.name + " (nvidia-smi -L)"));
  return {Verdict::no,
          "a visible GPU is refused, which can fail the whole process: " + worst.gpu.name};
}

Finding none_is_there(const Question& question) {
  if (!question.out.gpus.empty()) {
    return {Verdict::unknown, "CUDA_VISIBLE_DEVICES hides all GPUs"};
  }
  question.advise(question.host.driver.is_of_another_machine
                      ? "name the GPU too: --gpu A100"
                      : "run this where the GPU is, or name it: --gpu A100");
  return {Verdict::unknown, "no GPU was seen"};
}

}  // namespace

void judge_gpus(const Question& question) {
  const std::vector<Gpu>& gpus = question.host.gpus;
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    question.out.gpus.push_back(judge_gpu(question, gpus[i], i));
  }
  const std::vector<JudgedGpu>& judged = question.out.gpus;
  // A server has eight of a kind: one line for all that are told in the same words.
  for (std::size_t first = 0; first < judged.size();) {
    const std::string text = described(judged[first]);
    std::size_t end = first + 1;
    while (end < judged.size() && described(judged[end]) == text) {
      ++end;
    }
    std::string label = "GPU";
    if (judged.size() > 1) {
      label += " " + std::to_string(first);
      label += end - first > 1 ? "-" + std::to_string(end - 1) : "";
    }
    question.say(label, text);
    first = end;
  }
  if (gpus.empty() && question.host.platform.kind == Platform::Kind::plain) {
    question.say("GPU", "none seen");
  }
}

const knowledge::ArchitectureRow* first_to_be_dropped(const Question& question) {
  const knowledge::ArchitectureRow* first = nullptr;
  for (const JudgedGpu& one : question.out.gpus) {
    const auto& row = row_of(knowledge::classify_gpu(one.gpu.name).architecture);
    if (one.is_visible && row.last_branch != 0 &&
        (first == nullptr || row.last_branch < first->last_branch)) {
      first = &row;
    }
  }
  return first;
}

Finding gpus_together(const Question& question) {
  Gpus good;
  Gpus bad;
  const JudgedGpu* possible = nullptr;
  const JudgedGpu* unclear = nullptr;
  for (const JudgedGpu& one : question.out.gpus) {
    if (!one.is_visible) {
      continue;
    }
    if (one.verdict == Verdict::no) {
      bad.push_back(&one);
      continue;
    }
    good.push_back(&one);
    possible = one.verdict == Verdict::possible ? &one : possible;
    unclear = one.verdict == Verdict::unknown ? &one : unclear;
  }
  if (!bad.empty()) {
    return some_are_bad(question, good, bad);
  }
  if (good.empty()) {
    return none_is_there(question);
  }
  if (unclear != nullptr) {
    question.advise(unclear->gpu.name.empty()
                        ? "name it: --gpu NAME, as nvidia-smi -L prints it where the GPU is"
                        : "compatpack probe TREE, where the GPU is, settles it");
    return {Verdict::unknown,
            (unclear->gpu.name.empty() ? "the GPU" : unclear->gpu.name) + ": " + unclear->reason};
  }
  if (possible != nullptr) {
    return {Verdict::possible, possible->gpu.name + " is a workstation GPU"};
  }
  return {Verdict::expected, good.size() == 1 ? "the GPU is of the data-center class"
                                              : "all GPUs are of the data-center class"};
}

}  // namespace compatpack::host
