// SPDX-License-Identifier: Apache-2.0
#include "compatpack/host/judge.hpp"

#include <algorithm>
#include <array>

#include <doctest/doctest.h>

using namespace compatpack;
using namespace compatpack::host;

namespace {

const knowledge::CompatTable& table() {
  static const knowledge::CompatTable kBuiltIn = knowledge::built_in_compat_table();
  return kBuiltIn;
}

HostFacts host_with(const char* driver, const std::vector<std::string>& gpus) {
  HostFacts host;
  host.driver = {.version = DriverVersion::parse(driver), .origin = "/proc/driver/nvidia/version"};
  for (const std::string& name : gpus) {
    host.gpus.push_back({.name = name, .origin = "a file"});
  }
  host.platform.arch = "x86_64";
  host.platform.glibc = "2.31";
  return host;
}

Package package_with(const char* driver, CudaVersion cuda) {
  return {.driver = DriverVersion::parse(driver),
          .cuda = cuda,
          .arch = "x86_64",
          .glibc_needed = "2.17"};
}

Package package_with(const char* driver, CudaVersion cuda, std::vector<std::uint32_t> accepts) {
  Package package = package_with(driver, cuda);
  package.has_note = true;
  package.note = formats::FwdCompatNote{cuda, std::move(accepts)};
  return package;
}

Judgement judged(const HostFacts& host, const Package& package) {
  return judge(host, &package, table(), "2026-11");
}

bool has_line(const Judgement& judgement, std::string_view label, std::string_view text) {
  return std::any_of(judgement.lines.begin(), judgement.lines.end(), [&](const Line& line) {
    return line.label == label && line.text.find(text) != std::string::npos;
  });
}

bool any_holds(const std::vector<std::string>& texts, std::string_view part) {
  return std::any_of(texts.begin(), texts.end(),
                     [&](const std::string& text) { return text.find(part) != std::string::npos; });
}

}  // namespace

TEST_CASE("judge: a host, a GPU and a package without a note, by the table") {
  struct Case {
    const char* host;
    const char* gpu;
    const char* package;
    CudaVersion cuda;
    Verdict verdict;
    std::optional<int> foretold;
  };
  const auto cases = std::to_array<Case>({
      // NVIDIA's page: C, X, and its own branch.
      {"535.129.03", "NVIDIA A100-SXM4-40GB", "550.54.15", {12, 4}, Verdict::expected, {}},
      {"535.129.03", "NVIDIA A100-SXM4-40GB", "580.65.06", {13, 0}, Verdict::expected, {}},
      {"535.54.03", "NVIDIA A100-SXM4-40GB", "535.129.03", {12, 2}, Verdict::possible, {}},
      // Newer hosts, and the same: never forward compatibility.
      {"570.86.10", "NVIDIA A100-SXM4-40GB", "550.54.15", {12, 4}, Verdict::harmful, 803},
      {"550.135", "NVIDIA A100-SXM4-40GB", "550.54.15", {12, 4}, Verdict::harmful, 803},
      {"550.54.15", "NVIDIA A100-SXM4-40GB", "550.54.15", {12, 4}, Verdict::not_needed, {}},
      // Listed by older sources only; disputed; by none.
      {"470.82.01", "Tesla T4", "535.129.03", {12, 2}, Verdict::possible, {}},
      {"525.60.13", "Tesla T4", "550.54.15", {12, 4}, Verdict::possible, {}},
      {"418.197.02", "Tesla V100-SXM2-32GB", "550.54.15", {12, 4}, Verdict::unknown, {}},
      {"545.23.06", "Tesla T4", "550.54.15", {12, 4}, Verdict::unknown, {}},
      // GPUs.
      {"535.129.03", "NVIDIA GeForce RTX 4090", "550.54.15", {12, 4}, Verdict::no, 804},
      {"535.129.03", "NVIDIA CMP 170HX", "550.54.15", {12, 4}, Verdict::no, 804},
      {"535.129.03", "NVIDIA RTX A6000", "550.54.15", {12, 4}, Verdict::possible, {}},
      {"535.129.03", "GRID A100-8Q", "550.54.15", {12, 4}, Verdict::unknown, {}},
      {"535.129.03", "", "550.54.15", {12, 4}, Verdict::unknown, {}},
      // Architectures that a branch has dropped, or does not know yet.
      {"535.129.03", "Tesla V100-SXM2-32GB", "580.65.06", {13, 0}, Verdict::expected, {}},
      {"535.129.03", "Tesla V100-SXM2-32GB", "590.44.01", {13, 1}, Verdict::no, {}},
      {"450.80.02", "Tesla K80", "470.57.02", {11, 4}, Verdict::possible, {}},
      {"450.80.02", "Tesla K80", "510.47.03", {11, 6}, Verdict::no, {}},
      {"535.129.03", "NVIDIA B200", "580.65.06", {13, 0}, Verdict::no, {}},
      {"418.197.02", "A100", "450.80.02", {11, 0}, Verdict::no, {}},
  });
  for (const Case& c : cases) {
    CAPTURE(c.host);
    CAPTURE(c.gpu);
    CAPTURE(c.package);

    const Judgement judgement = judged(host_with(c.host, {c.gpu}), package_with(c.package, c.cuda));

    CAPTURE(judgement.reason);
    CHECK(name_of(judgement.verdict) == name_of(c.verdict));
    CHECK(judgement.foretold == c.foretold);
    CHECK_FALSE(judgement.reason.empty());
  }
}

TEST_CASE("judge: exit status 0 is for what is expected alone") {
  CHECK(exit_status(Verdict::expected) == 0);
  CHECK(exit_status(Verdict::possible) == 6);
  CHECK(exit_status(Verdict::unknown) == 6);
  CHECK(exit_status(Verdict::not_needed) == 5);
  CHECK(exit_status(Verdict::harmful) == 5);
  CHECK(exit_status(Verdict::no) == 5);
}

TEST_CASE("judge: the library's own note is stronger than any table, both ways") {
  const HostFacts on_550 = host_with("550.54.15", {"A100"});  // NVIDIA's page has it no more
  const HostFacts on_535 = host_with("535.129.03", {"A100"});

  const Judgement accepted = judged(on_550, package_with("575.57.08", {12, 9}, {535, 550}));
  const Judgement refused = judged(on_535, package_with("575.57.08", {12, 9}, {550, 570}));

  CHECK(accepted.verdict == Verdict::expected);
  CHECK(has_line(accepted, "mechanism", "535 550: this one is among them"));
  CHECK(has_line(accepted, "policy", "does not list CUDA 12.9 on R550: not supported today"));
  CHECK(refused.verdict == Verdict::no);
  CHECK(refused.foretold == 803);
  CHECK(has_line(refused, "policy", "lists CUDA 12.9 on R535 as compatible"));
}

TEST_CASE("judge: what a table refuses does not work, and gives 803") {
  const auto refusing =
      knowledge::parse_compat_table("compat_cuda,host_branch,status\n12.4,535,X\n");
  REQUIRE(refusing);
  const Package package = package_with("550.54.15", {12, 4});

  const Judgement judgement = judge(host_with("535.129.03", {"A100"}), &package, *refusing, "");

  CHECK(judgement.verdict == Verdict::no);
  CHECK(judgement.foretold == 803);
  CHECK(has_line(judgement, "policy", "CUDA 12.4 on R535 is not compatible"));
  CHECK(any_holds(judgement.next, "compatpack matrix --driver 535.129.03"));
}

TEST_CASE("judge: a damaged note is none, and the table decides") {
  Package package = package_with("550.54.15", {12, 4});
  package.has_note = true;

  const Judgement judgement = judged(host_with("535.129.03", {"A100"}), package);

  CHECK(judgement.verdict == Verdict::expected);
  CHECK(has_line(judgement, "mechanism", "cannot be read"));
}

TEST_CASE("judge: a note that was read from the same driver's libcuda counts as its own") {
  const Judgement judgement =
      judged(host_with("560.35.03", {"A100"}), package_with("575.57.08", {12, 9}));
  const Judgement other =
      judged(host_with("560.35.03", {"A100"}), package_with("575.64.03", {12, 9}));

  CHECK(judgement.verdict == Verdict::expected);
  CHECK(other.verdict == Verdict::possible);
}

TEST_CASE("judge: one GeForce beside an A100 sinks both, unless it is hidden") {
  HostFacts host = host_with("535.129.03", {"NVIDIA GeForce GT 1030", "NVIDIA A100-SXM4-40GB"});
  host.gpus[0].uuid = "GPU-aaaa";
  host.gpus[1].uuid = "GPU-bbbb";
  const Package package = package_with("550.54.15", {12, 4});

  const Judgement both = judged(host, package);
  host.visible_devices = "GPU-bbbb";
  const Judgement hidden = judged(host, package);
  host.visible_devices = "1";
  const Judgement by_index = judged(host, package);
  host.is_pci_order = true;
  const Judgement by_pci_index = judged(host, package);
  host.visible_devices = "";
  const Judgement none = judged(host, package);

  CHECK(both.verdict == Verdict::no);
  CHECK(both.foretold == 804);
  CHECK(any_holds(both.next, "CUDA_VISIBLE_DEVICES=GPU-bbbb"));
  CHECK(hidden.verdict == Verdict::expected);
  CHECK(by_index.verdict == Verdict::no);  // an index counts in an order that only CUDA knows
  CHECK(by_pci_index.verdict == Verdict::expected);
  CHECK(none.verdict == Verdict::unknown);
}

TEST_CASE("judge: what is not known is unknown, and says what") {
  const Package package = package_with("550.54.15", {12, 4});
  HostFacts no_driver = host_with("535.129.03", {"A100"});
  no_driver.driver = {};
  HostFacts unreadable = no_driver;
  unreadable.driver.problem = "/proc/driver/nvidia/version is empty";
  const HostFacts no_gpu = host_with("535.129.03", {});
  HostFacts no_device_file = host_with("535.129.03", {"A100"});
  no_device_file.platform.has_device_files = false;

  CHECK(judged(no_driver, package).verdict == Verdict::unknown);
  CHECK(judged(no_driver, package).reason == "no NVIDIA kernel driver was seen here");
  CHECK(judged(unreadable, package).verdict == Verdict::unknown);
  CHECK(has_line(judged(unreadable, package), "kernel driver", "is empty"));
  CHECK(judged(no_gpu, package).verdict == Verdict::unknown);
  CHECK(judged(no_gpu, package).reason == "no GPU was seen");
  CHECK(judged(no_device_file, package).verdict == Verdict::unknown);
}

TEST_CASE("judge: what cannot be loaded does not work, whatever the tables say") {
  const HostFacts host = host_with("535.129.03", {"A100"});
  Package foreign = package_with("550.54.15", {12, 4});
  foreign.arch = "aarch64";
  Package modern = package_with("550.54.15", {12, 4});
  modern.glibc_needed = "2.34";

  CHECK(judged(host, foreign).verdict == Verdict::no);
  CHECK(judged(host, foreign).reason == "the package is for aarch64, this host is x86_64");
  CHECK(judged(host, modern).verdict == Verdict::no);
  CHECK(judged(host, modern).reason == "the libraries need glibc 2.34, this host has 2.31");
}

TEST_CASE("judge: WSL2 and Jetson have rules of their own") {
  HostFacts wsl = host_with("535.129.03", {"A100"});
  wsl.platform.kind = Platform::Kind::wsl;
  HostFacts orin = host_with("540.4.0", {});
  orin.platform.kind = Platform::Kind::jetson;
  orin.platform.jetpack = "6.x";
  orin.platform.arch = "aarch64";
  HostFacts thor = orin;
  thor.platform.jetpack = "7.0";
  Package discrete = package_with("580.65.06", {13, 0});
  discrete.arch = "aarch64";
  Package for_orin = discrete;
  for_orin.has_note = true;
  for_orin.note = formats::FwdCompatNote{CudaVersion{12, 8}, std::nullopt};
  for_orin.cuda = CudaVersion{12, 8};
  Package too_new = for_orin;
  too_new.cuda = CudaVersion{13, 2};

  CHECK(judged(wsl, package_with("550.54.15", {12, 4})).verdict == Verdict::no);
  CHECK(judged(orin, discrete).verdict == Verdict::no);
  CHECK(judged(orin, discrete).reason ==
        "the package is for discrete GPUs: never put it on an Orin");
  CHECK(judged(orin, for_orin).verdict == Verdict::expected);
  CHECK(judged(orin, too_new).verdict == Verdict::no);
  CHECK(judged(thor, discrete).verdict == Verdict::not_needed);
  CHECK(judged(host_with("535.129.03", {"A100"}), for_orin).verdict == Verdict::no);
}

TEST_CASE("judge: minor-version compatibility is offered before a package") {
  const Package package = package_with("550.54.15", {12, 4});

  const Judgement same_major = judged(host_with("535.129.03", {"A100"}), package);
  const Judgement older_major = judged(host_with("470.82.01", {"A100"}), package);

  REQUIRE_FALSE(same_major.next.empty());
  CHECK(same_major.next.front().find("without a package first") != std::string::npos);
  CHECK(has_line(same_major, "without it", "525.60.13"));
  CHECK_FALSE(any_holds(older_major.next, "without a package first"));
}

TEST_CASE("judge: policy and end of life are told apart from what the library accepts") {
  const Judgement judgement =
      judged(host_with("575.57.08", {"A100"}), package_with("590.44.01", {13, 1}, {535, 575, 580}));
  const Judgement living = judge(host_with("535.129.03", {"A100"}), nullptr, table(), "2026-05");

  CHECK(judgement.verdict == Verdict::expected);
  CHECK(has_line(judgement, "host branch", "NVIDIA supports no package on such a branch"));
  CHECK(has_line(judged(host_with("535.129.03", {"A100"}), package_with("550.54.15", {12, 4})),
                 "host branch", "ended 2026-06"));
  CHECK(has_line(living, "host branch", "end of life 2026-06"));
}

TEST_CASE("judge: numbers that circulate are named for what they are") {
  const Judgement on_525 =
      judged(host_with("525.85.12", {"A100"}), package_with("550.54.15", {12, 4}));
  const Judgement on_535 =
      judged(host_with("535.129.03", {"A100"}), package_with("550.54.15", {12, 4}));

  CHECK(any_holds(on_525.warnings, "525.60.13 circulates"));
  CHECK_FALSE(any_holds(on_535.warnings, "circulates"));
}

TEST_CASE("judge: what is sure to defeat the tree is a no, what may is a warning") {
  HostFacts host = host_with("535.129.03", {"A100"});
  const Package package = package_with("550.54.15", {12, 4});
  host.hazards = {{false, "MPS runs", "stop MPS"}};
  const Judgement warned = judged(host, package);
  host.hazards.push_back({true, "LD_PRELOAD loads another", "unset LD_PRELOAD"});
  const Judgement defeated = judged(host, package);

  CHECK(warned.verdict == Verdict::expected);
  CHECK(any_holds(warned.warnings, "MPS runs; stop MPS"));
  CHECK(defeated.verdict == Verdict::no);
  CHECK(defeated.reason == "LD_PRELOAD loads another");
}

TEST_CASE("judge: without a package it says which would do") {
  const Judgement on_535 = judge(host_with("535.129.03", {"A100"}), nullptr, table(), "2026-11");
  const Judgement on_470 = judge(host_with("470.82.01", {"A100"}), nullptr, table(), "2026-11");
  const Judgement geforce =
      judge(host_with("535.129.03", {"GeForce RTX 3090"}), nullptr, table(), "2026-11");

  CHECK(on_535.verdict == Verdict::expected);
  CHECK(on_535.packages_accepted.front() == CudaVersion{12, 3});
  CHECK(on_535.packages_accepted.back() == CudaVersion{13, 4});
  CHECK(on_470.verdict == Verdict::possible);
  CHECK(std::count(on_470.packages_possible.begin(), on_470.packages_possible.end(),
                   CudaVersion{12, 6}) == 1);
  CHECK(geforce.verdict == Verdict::no);
}

TEST_CASE("judge: packages that are too new for a GPU are not offered") {
  const Judgement v100 =
      judge(host_with("535.129.03", {"Tesla V100-SXM2-32GB", "A100"}), nullptr, table(), "");
  HostFacts hidden = host_with("535.129.03", {"Tesla V100-SXM2-32GB", "A100"});
  hidden.is_pci_order = true;
  hidden.visible_devices = "1";

  CHECK(v100.verdict == Verdict::expected);
  CHECK(v100.packages_accepted.back() == CudaVersion{13, 0});
  CHECK(has_line(v100, "GPU's limit", "newer than CUDA 13.0 do not drive Volta"));
  CHECK(v100.reason.starts_with("NVIDIA's table lists packages of CUDA 12.3 to 13.0 for R535"));
  CHECK(judge(hidden, nullptr, table(), "").packages_accepted.back() == CudaVersion{13, 4});
}

TEST_CASE("judge: in a container without a driver the GPU may just not have been asked for") {
  HostFacts host;
  host.platform.container = "a Docker container";

  const Judgement judgement = judged(host, package_with("550.54.15", {12, 4}));

  CHECK(judgement.verdict == Verdict::unknown);
  CHECK(any_holds(judgement.next, "docker run --gpus all"));
}

TEST_CASE("judge: a library that the CUDA version should have is missed") {
  Package package = package_with("550.54.15", {12, 4});
  package.libraries = {"libcuda", "libnvidia-nvvm"};

  const Judgement judgement = judged(host_with("535.129.03", {"A100"}), package);

  CHECK(any_holds(judgement.warnings, "lacks libnvidia-ptxjitcompiler"));
  CHECK(any_holds(judgement.warnings, "lacks libcudadebugger"));
  CHECK_FALSE(any_holds(judgement.warnings, "lacks libnvidia-nvvm"));
  CHECK_FALSE(any_holds(judgement.warnings, "gpucomp"));
}

TEST_CASE("judge: a pair alone, by the tables, in the words of the whole") {
  struct Case {
    CudaVersion cuda;
    std::uint32_t branch;
    Verdict verdict;
    const char* reason;
  };
  const auto cases = std::to_array<Case>({
      {{12, 4}, 535, Verdict::expected, "NVIDIA's table lists CUDA 12.4 on R535"},
      {{12, 4}, 550, Verdict::not_needed, "R550 gives CUDA 12.4 by itself"},
      {{12, 4},
       570,
       Verdict::harmful,
       "R570 gives CUDA 12.8 by itself; an older driver's libraries would break CUDA (error 803)"},
      {{12, 6},
       470,
       Verdict::possible,
       "NVIDIA does not list this pair today, but other sources do"},
      {{12, 4},
       525,
       Verdict::possible,
       "NVIDIA does not list this pair today, and other sources disagree about it"},
      {{12, 4},
       418,
       Verdict::unknown,
       "no table says that CUDA 12.4 works on R418, and others say that it does not"},
      {{12, 4}, 999, Verdict::unknown, "no table says that CUDA 12.4 works on R999"},
  });
  for (const Case& c : cases) {
    CAPTURE(c.branch);

    const PairJudgement pair = judge_pair(table(), c.cuda, c.branch);

    CHECK(name_of(pair.verdict) == name_of(c.verdict));
    CHECK(pair.reason == c.reason);
  }
}

TEST_CASE("judge: GPUs that are told in the same words share a line") {
  const HostFacts host = host_with("535.129.03", {"A100", "A100", "A100", "T4", "A100"});

  const Judgement judgement = judged(host, package_with("550.54.15", {12, 4}));

  CHECK(judgement.gpus.size() == 5);
  CHECK(has_line(judgement, "GPU 0-2", "A100, Ampere: a data-center GPU by its name"));
  CHECK(has_line(judgement, "GPU 3", "T4"));
  CHECK(has_line(judgement, "GPU 4", "A100"));
}

TEST_CASE("judge: a GPU without a name is to be named") {
  HostFacts host = host_with("535.129.03", {""});
  host.gpus[0].pci_id = "10de:20b2, subsystem 10de:1463";

  const Judgement judgement = judged(host, package_with("550.54.15", {12, 4}));

  CHECK(judgement.reason == "the GPU: without a name it cannot be judged");
  CHECK(any_holds(judgement.next, "--gpu NAME"));
  CHECK(has_line(judgement, "GPU", "10de:20b2"));
}

TEST_CASE("judge: the table is named with its date and its source") {
  const Judgement judgement =
      judged(host_with("535.129.03", {"A100"}), package_with("550.54.15", {12, 4}));

  CHECK(has_line(judgement, "table",
                 "compatpack's table, as of 2026-09, from https://docs.nvidia.com/"));
}

TEST_CASE("judge: what packages have since CUDA 13.1 is missed in one warning, by architecture") {
  Package package = package_with("590.44.01", {13, 1}, {535});
  package.libraries = {"libcuda", "libnvidia-ptxjitcompiler", "libnvidia-nvvm", "libcudadebugger"};
  const HostFacts host = host_with("535.129.03", {"A100"});

  const Judgement on_x86 = judged(host, package);
  HostFacts arm = host;
  arm.platform.arch = package.arch = "aarch64";
  const Judgement on_arm = judged(arm, package);

  REQUIRE(on_x86.warnings.size() == 1);
  CHECK(on_x86.warnings[0] ==
        "the package lacks libnvidia-gpucomp, libnvidia-nvvm70, libnvidia-tileiras, "
        "libnvidia-pkcs11-openssl3: NVIDIA's packages have that since CUDA 13.1");
  CHECK_FALSE(any_holds(on_arm.warnings, "pkcs11"));
}
