// SPDX-License-Identifier: Apache-2.0

// One bit of a bundle is other than it was: then it is refused, or what it gives is to the last
// byte what it gave before.
//
//   COMPATPACK_FLIPS=10000      flips in each bundle; some hundred unless set
//   COMPATPACK_FLIP_SEED=1      another seed is other places

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <random>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include "compatpack/base/text.hpp"
#include "compatpack/io/output_file.hpp"
#include "compatpack/pipeline/gathering.hpp"
#include "compatpack/pipeline/planner.hpp"

#include "support/compress.hpp"
#include "support/deb_file.hpp"
#include "support/rpm_file.hpp"
#include "support/run_file.hpp"
#include "support/sample_driver.hpp"
#include "support/staged.hpp"
#include "support/tar_file.hpp"

using namespace compatpack;
using namespace compatpack::pipeline;
using compatpack::formats::Compression;
using compatpack::test::SampleMember;

namespace {

constexpr std::uint64_t kUsualFlips = 250;
constexpr std::uint64_t kUsualSeed = 20'261'130;

std::uint64_t number_from(const char* variable, std::uint64_t usual) {
  const char* const text = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe): nobody sets it
  const auto value = text == nullptr ? std::nullopt : parse_decimal(text);
  return value.value_or(usual);
}

/// A driver's libraries of the default set, and its licence and manifest; no large ones.
std::vector<SampleMember> members() {
  std::vector<SampleMember> few;
  for (SampleMember& member :
       test::make_sample_driver({.version = "550.54.15", .compat32 = false, .filler = 300})) {
    if (member.path.starts_with("libcuda.so") || member.path.starts_with("libnvidia-ptxjit") ||
        member.path.starts_with("libnvidia-nvvm") || member.path == "LICENSE" ||
        member.path == ".manifest") {
      few.push_back(std::move(member));
    }
  }
  return few;
}

std::string run_bundle(Compression compression, const test::CompressOptions& options) {
  return test::NvidiaRun(test::compress(compression, test::make_driver_tar(members()), options))
      .with_version("550.54.15")
      .build()
      .bytes;
}

std::string deb_bundle() {
  std::string sums;
  test::TarFile data;
  for (const SampleMember& member : members()) {
    const std::string path = "usr/local/cuda-12.4/compat/" + member.path;
    sums += test::digest_of(DigestAlgorithm::md5, member.content) + "  " + path + "\n";
    data.file("./" + path, member.content, member.mode);
  }
  const std::string control =
      "Package: cuda-compat-12-4\nVersion: 550.54.15-1\nArchitecture: amd64\n"
      "Maintainer: nobody\nDescription: test\n";
  const std::string facts =
      test::TarFile().file("./control", control).file("./md5sums", sums).bytes();
  return test::DebFile()
      .member("debian-binary", "2.0\n")
      .member("control.tar.xz", test::compress(Compression::xz, facts))
      .member("data.tar.xz", test::compress(Compression::xz, data.bytes()))
      .bytes();
}

std::string rpm_bundle() {
  test::RpmFile rpm;
  rpm.with_compression(Compression::zstd);
  for (const SampleMember& member : members()) {
    rpm.file("/usr/local/cuda-12.4/compat/" + member.path, member.content, 0100000U | member.mode);
  }
  return rpm.bytes();
}

/// All that a tree would hold, but for its receipt's word on where it is from.
std::string shown(const Plan& plan) {
  std::string all = plan.arch + " " + plan.glibc_needed + " " +
                    (plan.driver ? plan.driver->text() : "") + " " +
                    (plan.cuda ? plan.cuda->text() : "") + "\n";
  for (const PlannedFile& file : plan.files) {
    all += file.to.text() + " " + file.sha256 + (file.is_program ? " program\n" : "\n");
  }
  for (const PlannedLink& link : plan.links) {
    all += link.at.text() + " -> " + link.target.text() + "\n";
  }
  for (const PlannedText& text : plan.texts) {
    all += text.at.text() + ":\n" + text.content;
  }
  return all;
}

/// What extract would make of the bundle.
Result<std::string> planned(std::string_view bytes) {
  const Limits limits;
  const SelectionRequest request = test::cuda_request();
  CP_TRY(io::OutputFile file, io::OutputFile::in_memory("bundle"));
  CP_CHECK(file.write(as_bytes(bytes)));
  CP_TRY(auto source, io::FileSource::adopt(file.release(), "bundle", nullptr));
  CP_TRY(const auto bundle, Bundle::read(std::move(source), "bundle", "bundle", limits));
  Gatherer gatherer(request, limits, nullptr, "/nonexistent");
  ReadOptions options;
  options.may_stop = true;
  CP_CHECK(gatherer.read(*bundle, options, ""));
  const Gathered gathered = gatherer.release();
  CP_TRY(const Plan plan, make_plan(gathered, {.selection = request, .prefix = "/opt/compat"}));
  return shown(plan);
}

void flip_bits_of(const std::string& name, std::string bytes) {
  const std::uint64_t flips = number_from("COMPATPACK_FLIPS", kUsualFlips);
  const std::uint64_t seed = number_from("COMPATPACK_FLIP_SEED", kUsualSeed);
  CAPTURE(name);
  CAPTURE(seed);
  const auto whole = planned(bytes);
  REQUIRE(whole);
  std::mt19937_64 random(seed);
  std::uint64_t refused = 0;
  for (std::uint64_t i = 0; i < flips; ++i) {
    const std::uint64_t bit = random() % (bytes.size() * 8);
    const auto mask = static_cast<char>(1U << bit % 8);
    CAPTURE(bit);
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ mask);
    const auto found = planned(bytes);
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ mask);
    if (found) {
      REQUIRE(*found == *whole);
    } else {
      const int status = exit_status(found.error().code);
      CAPTURE(render(found.error()));
      REQUIRE((status == 3 || status == 4));
      ++refused;
    }
  }
  // All but what no sum reaches.
  CHECK(refused >= flips / 2);
  if (flips != kUsualFlips) {
    std::cout << name << ", " << bytes.size() << " bytes, seed " << seed << ": of " << flips
              << " flips " << refused << " refused, " << flips - refused << " the same plan\n";
  }
}

}  // namespace

TEST_CASE("bit flip: a .run with one bit changed is refused, or gives the same tree") {
  flip_bits_of("run, zstd", run_bundle(Compression::zstd, {}));
  flip_bits_of("run, xz without check", run_bundle(Compression::xz, {.check = test::Check::none}));
}

TEST_CASE("bit flip: a .deb with one bit changed is refused, or gives the same tree") {
  flip_bits_of("deb, xz", deb_bundle());
}

TEST_CASE("bit flip: an .rpm with one bit changed is refused, or gives the same tree") {
  flip_bits_of("rpm, zstd", rpm_bundle());
}
