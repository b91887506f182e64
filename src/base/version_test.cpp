// SPDX-License-Identifier: Apache-2.0
#include "compatpack/base/version.hpp"

#include <doctest/doctest.h>

using namespace compatpack;

TEST_CASE("version: driver versions compare by number, part by part, a missing part as 0") {
  const auto v = [](const char* text) { return *DriverVersion::parse(text); };

  CHECK(v("535.54.03") < v("535.104.05"));
  CHECK(v("570.26") < v("570.86.10"));
  CHECK(v("515.76") == v("515.76.0"));
  CHECK(v("460.73.01") == v("460.73.1"));
  CHECK(v("99.1") < v("100.0"));
  CHECK(v("460.73.01").text() == "460.73.01");
  CHECK(v("615.31").branch() == 615);
}

TEST_CASE("version: what is no driver version is refused") {
  for (const char* const bad : {"", "0", "535", "535.", ".1", "535.1.2.3", "535.x", "1.0-5336",
                                "535.1234567890", " 535.1"}) {
    CAPTURE(bad);
    CHECK_FALSE(DriverVersion::parse(bad));
  }
}

TEST_CASE("version: CUDA versions have two parts") {
  CHECK(CudaVersion::parse("12.2") == CudaVersion{12, 2});
  CHECK(CudaVersion{11, 8} < CudaVersion{12, 0});
  CHECK(CudaVersion{13, 0}.text() == "13.0");
  CHECK_FALSE(CudaVersion::parse("12"));
  CHECK_FALSE(CudaVersion::parse("12.2.1"));
}

TEST_CASE("version: any dotted numbers can be told newer or not") {
  CHECK(is_newer_version("2.34", "2.4"));
  CHECK(is_newer_version("2.2.6", "2.2.5"));
  CHECK(is_newer_version("2.34", ""));
  CHECK_FALSE(is_newer_version("2.34", "2.34.0"));
  CHECK_FALSE(is_newer_version("", "2.34"));
  CHECK_FALSE(is_newer_version("musl", "2.34"));
}
