// SPDX-License-Identifier: Apache-2.0
#include "compatpack/host/cuda_trial.hpp"

#include <doctest/doctest.h>

using namespace compatpack::host;

TEST_CASE("cuda trial: a whole report is read") {
  const TrialReport report = parse_trial_report(
      "call dlopen\ncode 0\nlibrary /t/libcuda.so.550.54.15\ncall cuDriverGetVersion\ncode 0\n"
      "driver_api 12040\ncall cuInit\ncode 0\ninit 0\ndevice 0\nname NVIDIA A100\ncapability 8.0\n"
      "memory 42949672960\nkernel right\ndevice 1\nname Other\ncapability 6.1\nfailed 209 "
      "cuModuleLoadData\nlibcuda /t/libcuda.so.550.54.15\nlibcuda /t/libcuda.so.550.54.15\njit "
      "/t/jit\nfinished yes\n");

  CHECK(report.library == "/t/libcuda.so.550.54.15");
  CHECK(report.driver_api == 12040);
  CHECK(report.init == 0);
  CHECK(report.libcudas.size() == 1);
  CHECK(report.jit == "/t/jit");
  CHECK(report.finished);
  CHECK(report.last_call.empty());
  REQUIRE(report.devices.size() == 2);
  CHECK(report.devices[0].name == "NVIDIA A100");
  CHECK(report.devices[0].major == 8);
  CHECK(report.devices[0].memory == 42'949'672'960U);
  CHECK(report.devices[0].kernel_ran);
  CHECK(report.devices[1].failed_call == "cuModuleLoadData");
  CHECK(report.devices[1].code == 209);
  CHECK_FALSE(report.devices[1].kernel_ran);
}

TEST_CASE("cuda trial: a report that ends in a call names it") {
  const TrialReport report = parse_trial_report("call dlopen\ncode 0\ncall cuInit\n");

  CHECK(report.last_call == "cuInit");
  CHECK_FALSE(report.finished);
  CHECK_FALSE(report.init);
}

TEST_CASE("cuda trial: nonsense in a report is passed over") {
  for (const char* const text : {"", "\n\n", "x", "init x\ndriver_api 99999999999\n",
                                 "name early\n", "device\nkernel right\n", "memory -1\nfailed\n"}) {
    CAPTURE(text);

    const TrialReport report = parse_trial_report(text);

    CHECK_FALSE(report.init);
    CHECK_FALSE(report.driver_api);
    CHECK(report.devices.empty());
  }
}

TEST_CASE("cuda trial: paths keep their line ends and backslashes") {
  CHECK(parse_trial_report("library /a\\nb\\\\n\n").library == "/a\nb\\n");
  // As /proc/self/maps has it.
  CHECK(parse_trial_report("libcuda /a\\\\012b/libcuda.so.1\n").libcudas[0] ==
        "/a\nb/libcuda.so.1");
}
