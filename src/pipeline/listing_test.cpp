// SPDX-License-Identifier: Apache-2.0

// When a bundle's own list of files lets a pass stop, and that nothing is lost by it.

#include "compatpack/pipeline/listing.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <doctest/doctest.h>

#include "compatpack/pipeline/gathering.hpp"
#include "compatpack/pipeline/planner.hpp"

#include "support/compress.hpp"
#include "support/rpm_file.hpp"
#include "support/run_file.hpp"
#include "support/sample_driver.hpp"
#include "support/staged.hpp"
#include "support/tar_file.hpp"
#include "support/temp_dir.hpp"

using namespace compatpack;
using namespace compatpack::pipeline;
using compatpack::formats::Compression;
using compatpack::test::NvidiaRun;
using compatpack::test::SampleMember;
using compatpack::test::TarFile;

namespace {

using Members = std::vector<SampleMember>;

/// A bundle that was read with leave to stop.
struct Read {
  Result<Done> done;
  Gathered gathered;
  SelectionRequest request;

  [[nodiscard]] bool stopped() const {
    REQUIRE(done);
    return gathered.bundles.front().verification.stopped;
  }
  [[nodiscard]] Plan plan() const {
    auto plan = make_plan(gathered, {.selection = request, .prefix = "/opt/compat"});
    REQUIRE(plan);
    return *std::move(plan);
  }
};

Read read(std::string_view bytes, SelectionRequest request = test::cuda_request(),
          ReadOptions options = {}) {
  const test::TempDir temp;
  const auto path = temp.path() / "bundle";
  std::ofstream(path, std::ios::binary) << bytes;
  const Limits limits;
  options.may_stop = true;
  const auto bundle = Bundle::open(path.string(), nullptr, limits);
  REQUIRE(bundle);
  Gatherer gatherer(request, limits, nullptr, temp.path().string());
  auto done = gatherer.read(**bundle, options, "");
  return {std::move(done), gatherer.release(), request};
}

TarFile tar_of(const Members& members) {
  TarFile tar;
  for (const SampleMember& member : members) {
    if (!member.path.ends_with('/')) {
      tar.file("./" + member.path, member.content, member.mode);
    }
  }
  return tar;
}

NvidiaRun run_of(const TarFile& tar) {
  return NvidiaRun(test::compress(Compression::zstd, tar.bytes()));
}

/// A sample driver with what the tree takes before the rest, or behind it.
Members driver(bool wanted_first) {
  Members members = test::make_sample_driver();
  std::stable_partition(members.begin(), members.end(), [&](const SampleMember& member) {
    const auto path = RelPath::parse(member.path);
    const bool wanted = path && !member.path.starts_with("32/") &&
                        select_by_path(*path, test::cuda_request()).use != Selection::Use::none;
    return wanted == wanted_first;
  });
  return members;
}

/// All but look-alikes, which no manifest lists.
std::string left_out_of(const Plan& plan) {
  std::string lines;
  for (const LeftOut& one : plan.left_out) {
    if (one.path.find("installcheck") == std::string::npos) {
      lines += one.path + " [" + one.component + "]\n";
    }
  }
  return lines;
}

}  // namespace

TEST_CASE("listing: what stands behind the last wanted member is not decompressed") {
  // A device would refuse the bundle, if anybody saw it.
  const TarFile tar = tar_of(driver(true)).character_device("./null");
  const auto run = run_of(tar).build();

  const Read read_run = read(run.bytes);

  CHECK(read_run.stopped());
  const Verification& verification = read_run.gathered.bundles.front().verification;
  CHECK(verification.sha256 == test::reference_sha256(run.bytes));
  CHECK(verification.claims.size() == 2);
}

TEST_CASE("listing: where the wanted members stand does not show in the plan") {
  const Read first = read(run_of(tar_of(driver(true))).build().bytes);
  const Read last = read(run_of(tar_of(driver(false))).build().bytes);

  CHECK(first.stopped());
  const Plan a = first.plan();
  const Plan b = last.plan();
  CHECK(a.files.size() == b.files.size());
  CHECK(a.links.size() == b.links.size());
  CHECK(a.warnings == b.warnings);
  CHECK(left_out_of(a) == left_out_of(b));
  CHECK_FALSE(left_out_of(a).empty());
}

TEST_CASE("listing: without a digest over all of the payload, all of it is decompressed") {
  const TarFile tar = tar_of(driver(true)).character_device("./null");

  for (const auto& run : {run_of(tar).with_md5(std::string(32, '0')).build(),
                          run_of(tar).with_md5(std::string(32, '0')).with_crc("0").build()}) {
    const Read done = read(run.bytes);
    REQUIRE_FALSE(done.done);
    CHECK(done.done.error().code == Errc::unsafe_path);
  }
  const auto run = run_of(tar).build();
  CHECK_FALSE(read(run.bytes, test::cuda_request(), {.verify = Verify::nothing}).done);
}

TEST_CASE("listing: the user's own digest covers the payload too") {
  const auto run = run_of(tar_of(driver(true)).character_device("./null"))
                       .with_md5(std::string(32, '0'))
                       .build();
  const DigestClaim said{DigestAlgorithm::sha256,
                         test::reference_sha256(run.bytes),
                         {{0}, {run.bytes.size()}},
                         "--sha256"};

  CHECK(read(run.bytes, test::cuda_request(), {.user_claims = {said}}).stopped());
}

TEST_CASE("listing: damage behind the last wanted member is found all the same") {
  auto run = run_of(tar_of(driver(true)).file("./firmware", std::string(300'000, 'x'))).build();
  run.bytes.back() = static_cast<char>(run.bytes.back() ^ 1);

  const Read damaged = read(run.bytes);

  REQUIRE_FALSE(damaged.done);
  CHECK(damaged.done.error().code == Errc::mismatch);
}

TEST_CASE("listing: a pass goes on while a listed file has not been seen, to the end if need be") {
  Members members = driver(true);
  std::erase_if(members, [](const SampleMember& member) { return member.path == "LICENSE"; });

  const Read read_run = read(run_of(tar_of(members)).build().bytes);

  CHECK_FALSE(read_run.stopped());
  CHECK(read_run.plan().driver->text() == "535.54.03");
}

TEST_CASE("listing: what no list can foretell keeps a pass going to the end") {
  const auto run = run_of(tar_of(driver(true))).build();
  SelectionRequest included = test::cuda_request();
  included.include = {"nvidia-smi"};
  SelectionRequest all = test::cuda_request();
  all.all = true;
  SelectionRequest graphics = test::cuda_request();
  graphics.components.insert(knowledge::Component::graphics);

  CHECK_FALSE(read(run.bytes, included).stopped());
  CHECK_FALSE(read(run.bytes, all).stopped());
  CHECK_FALSE(read(run.bytes, graphics).stopped());
}

TEST_CASE("listing: an rpm's header says what is in it") {
  test::RpmFile rpm;
  rpm.header().text(1001, "535.54.03");
  for (const SampleMember& member : driver(true)) {
    if (member.path.find(".so.") != std::string::npos && !member.path.starts_with("32/")) {
      rpm.file("/opt/" + member.path, member.content, 0100000U | member.mode);
    }
  }

  const Read read_rpm = read(rpm.bytes());

  CHECK(read_rpm.stopped());
  CHECK(read_rpm.plan().driver->text() == "535.54.03");
}
