// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstring>

#include "compatpack/commands/commands.hpp"
#include "compatpack/host/cuda_trial.hpp"
#include "compatpack/io/absolute_path.hpp"
#include "compatpack/io/child_process.hpp"
#include "compatpack/knowledge/cuda_errors.hpp"
#include "compatpack/pipeline/activation.hpp"
#include "compatpack/pipeline/target.hpp"

#include "bundle_steps.hpp"
#include "host_steps.hpp"
#include "rows.hpp"

namespace compatpack::commands {
namespace {

using host::TrialDevice;
using host::TrialReport;

// A report of 16 GPUs has 10 KB.
constexpr ByteCount kReportMax{1U << 20U};
constexpr int kNo = 5;

struct Outcome {
  bool works = false;
  std::string reason;
  std::string next;         // "" if nothing is to be done
  std::optional<int> code;  // the CUDA error that decided, if one did
};

std::string described(int code) {
  const auto row = knowledge::cuda_error(code);
  return std::string(row.name) + " (" + std::to_string(code) + "): " + std::string(row.meaning);
}

Outcome failed(const std::string& call, int code) {
  return {false, call + " gives " + described(code), std::string(knowledge::cuda_error(code).next),
          code};
}

std::string signal_name(int number) {
  const char* const name = ::sigabbrev_np(number);
  return name == nullptr ? "signal " + std::to_string(number) : "SIG" + std::string(name);
}

Outcome judge_devices(const TrialReport& report) {
  if (report.devices.empty()) {
    return {false, "cuInit works, and there is no device",
            std::string(knowledge::cuda_error(100).next), 100};
  }
  for (const TrialDevice& device : report.devices) {
    if (device.kernel_ran) {
      continue;
    }
    const std::string name = device.name.empty() ? "a device" : device.name;
    if (device.code > 0) {
      return failed(name + ": " + device.failed_call, device.code);
    }
    return {false,
            name + ": " +
                (device.failed_call.empty() ? "not tried to its end"
                 : device.code < 0          ? "the library lacks " + device.failed_call
                                            : device.failed_call + " is wrong"),
            "do not trust this tree; see `compatpack verify TREE`", std::nullopt};
  }
  return {true, "yes", "", std::nullopt};
}

/// The verdict on what the child has reported and how it ended. `tree` is "" for the host's own
/// driver.
Outcome judge(const TrialReport& report, const io::ChildEnd& end, const std::string& tree,
              unsigned timeout_s) {
  const std::string step = report.last_call.empty() ? "" : " in " + report.last_call;
  if (end.timed_out) {
    return {
        false, "no answer within " + std::to_string(timeout_s) + " s" + step,
        "give it more time with --timeout, or see the kernel's log (dmesg): a GPU that has fallen "
        "off hangs like this",
        std::nullopt};
  }
  if (end.signal != 0) {
    return {false, "the driver's library crashed" + step + " (" + signal_name(end.signal) + ")",
            "see `compatpack verify TREE`, and the kernel's log (dmesg)", std::nullopt};
  }
  if (!report.load_error.empty()) {
    return {false, "libcuda.so.1 cannot be loaded: " + report.load_error,
            tree.empty() ? "no driver is installed here; to try a tree: compatpack probe TREE"
                         : "see `compatpack verify TREE`",
            std::nullopt};
  }
  if (!report.finished) {
    return {false, "the library ended the process" + step, "see `compatpack verify TREE`",
            std::nullopt};
  }
  if (!tree.empty() && !report.library.starts_with(tree + "/")) {
    return {false, "another libcuda was loaded: " + report.library,
            "see what `compatpack check TREE` says of the loader's path", std::nullopt};
  }
  if (report.libcudas.size() > 1) {
    return {false,
            "two libcudas are in one process: " + report.libcudas[0] + " and " + report.libcudas[1],
            "see what `compatpack check TREE` says of CUDA_INJECTION64_PATH", std::nullopt};
  }
  if (!report.missing.empty()) {
    return {false, "the library lacks " + report.missing, "see `compatpack verify TREE`",
            std::nullopt};
  }
  if (!report.init || *report.init != 0) {
    return failed("cuInit", report.init.value_or(999));
  }
  return judge_devices(report);
}

std::string api_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

/// As check has them: a list.
std::vector<std::string> next_steps(const Outcome& outcome) {
  return outcome.next.empty() ? std::vector<std::string>() : std::vector{outcome.next};
}

std::string described(const TrialDevice& device) {
  const std::string text = device.name + ", " + std::to_string(device.major) + "." +
                           std::to_string(device.minor) + ", " + human_size({device.memory}) + ": ";
  if (device.kernel_ran) {
    return text + "a kernel compiled, ran, and gave what it should";
  }
  return text + (device.code > 0 ? device.failed_call + " gives " + described(device.code)
                                 : device.failed_call);
}

void print(const TrialReport& report, const Outcome& outcome, const Env& env, Console& console) {
  Rows rows(env, console);
  rows.verdict(
      outcome.works ? "works here" : "no",
      outcome.works ? "verified by cuInit, and by a kernel on each device" : outcome.reason,
      next_steps(outcome));
  const auto fact = [&rows](const std::string& label, const std::string& text) {
    if (!text.empty()) {
      rows.fact(label, text);
    }
  };
  fact("loaded", report.library);
  fact("JIT compiler", report.jit);
  fact("driver API", report.driver_api
                         ? api_text(*report.driver_api) + ", by cuDriverGetVersion (" +
                               std::to_string(*report.driver_api) +
                               "), which answers even where nothing works"
                         : "");
  fact("cuInit", report.init ? described(*report.init) : "");
  for (std::size_t i = 0; i < report.devices.size(); ++i) {
    fact("device " + std::to_string(i), described(report.devices[i]));
  }
}

Json document(const TrialReport& report, const io::ChildEnd& end, const Outcome& outcome) {
  Json devices = Json::array();
  for (const TrialDevice& device : report.devices) {
    devices.push_back(
        {{"name", device.name},
         {"capability", std::to_string(device.major) + "." + std::to_string(device.minor)},
         {"memory", device.memory},
         {"works", device.kernel_ran},
         {"failed_call", text_or_null(device.failed_call)},
         {"code", device.kernel_ran ? Json() : Json(device.code)}});
  }
  return {{"verdict", outcome.works ? "verified" : "no"},
          {"reason", outcome.reason},
          {"cuda_error", outcome.code ? Json(*outcome.code) : Json()},
          {"next", next_steps(outcome)},
          {"libcuda", text_or_null(report.library)},
          {"libcudas_in_memory", report.libcudas},
          {"jit_compiler", text_or_null(report.jit)},
          {"driver_api", report.driver_api ? Json(*report.driver_api) : Json()},
          {"cuinit", report.init ? Json(*report.init) : Json()},
          {"devices", std::move(devices)},
          {"timed_out", end.timed_out},
          {"signal", end.signal == 0 ? Json() : Json(signal_name(end.signal))}};
}

Result<io::ChildEnd> run_trial(std::span<const std::string> environment,
                               std::chrono::seconds timeout, const Env& env) {
  const std::vector<std::string> files{std::string(host::cuda_trial_program())};
  auto end = io::run_child({.program = io::child_file(0),
                            .words = {},
                            .environment = environment,
                            .timeout = timeout,
                            .output_max = kReportMax,
                            .interrupted = env.interrupted,
                            .files = files});
  if (!end && end.error().code == Errc::io) {
    Error error = std::move(end).error();
    error.what = "cannot start the process that loads libcuda";
    error.subject.clear();
    error.hint = "it needs /proc, and glibc, as NVIDIA's libraries do";
    return error;
  }
  return end;
}

}  // namespace

Result<int> run_probe(const ProbeOptions& options, const Env& env, Console& console) {
  std::vector<std::string> environment = env.environment;
  std::string tree;
  if (!options.tree.empty()) {
    CP_CHECK(driver_of_folder(options.tree));
    CP_TRY(tree, io::absolute_folder(options.tree));
    CP_CHECK(pipeline::check_tree_path(tree));
    environment = pipeline::activated(std::move(environment), tree);
  }
  if (const auto preload = value_of(environment, "LD_PRELOAD")) {
    console.warn("LD_PRELOAD is left out of the probe: " + std::string(*preload));
    std::erase_if(environment,
                  [](const std::string& line) { return line.starts_with("LD_PRELOAD="); });
  }
  CP_TRY(const io::ChildEnd end,
         run_trial(environment, std::chrono::seconds(options.timeout_s), env));
  TrialReport report = host::parse_trial_report(end.report);
  report.library = io::resolved(report.library).value_or(report.library);
  const Outcome outcome = judge(report, end, io::resolved(tree).value_or(tree), options.timeout_s);
  if (console.json()) {
    console.document(rendered(document(report, end, outcome)));
  } else {
    print(report, outcome, env, console);
  }
  return outcome.works ? 0 : kNo;
}

}  // namespace compatpack::commands
