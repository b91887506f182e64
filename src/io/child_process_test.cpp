// SPDX-License-Identifier: Apache-2.0
#include "compatpack/io/child_process.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace compatpack::io {
namespace {

/// As many bytes as are asked for, or an Error after them.
class Zeros final : public Source {
 public:
  explicit Zeros(std::uint64_t count, bool fails = false) : left_(count), fails_(fails) {}

  Result<std::size_t> read(std::span<std::byte> into) override {
    if (left_ == 0 && fails_) {
      return Error{.code = Errc::corrupt, .what = "planted"};
    }
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(into.size(), left_));
    std::fill_n(into.begin(), count, std::byte{0});
    left_ -= count;
    return count;
  }

  [[nodiscard]] std::uint64_t left() const { return left_; }

 private:
  std::uint64_t left_;
  bool fails_;
};

struct Shell {
  std::string script;
  std::vector<std::string> files = {};
  Source* input = nullptr;
  std::function<bool()> interrupted = {};
  std::chrono::milliseconds timeout = std::chrono::seconds(20);
  bool keep_output = true;
};

Result<ChildEnd> run(const Shell& shell) {
  const std::vector<std::string> words{"-c", shell.script};
  const std::vector<std::string> environment{"PATH=/usr/bin:/bin", "LC_ALL=C"};
  return run_child({.program = "/bin/sh",
                    .words = words,
                    .environment = environment,
                    .timeout = shell.timeout,
                    .output_max = {1000},
                    .interrupted = shell.interrupted,
                    .files = shell.files,
                    .input = shell.input,
                    .keep_output = shell.keep_output});
}

}  // namespace

TEST_CASE("child_process: report, status and words come back") {
  const auto end = run({"echo one >&3; echo two; echo three >&2; exit 7"});

  REQUIRE(end);
  CHECK(end->report == "one\ntwo\n");
  CHECK(end->words == "three\n");
  CHECK(end->status == 7);
  CHECK(end->signal == 0);
}

TEST_CASE("child_process: files have their contents, whatever the numbers of our descriptors") {
  const std::vector<std::string> files{"first", "", std::string(300'000, 'x')};

  const auto end = run(
      {"cat " + child_file(0) + "; wc -c <" + child_file(1) + "; wc -c <" + child_file(2), files});

  REQUIRE(end);
  CHECK(end->report == "first0\n300000\n");
}

TEST_CASE("child_process: input of any size goes through a pipe") {
  Zeros input(3'000'000);

  const auto end = run({.script = "wc -c", .input = &input});

  REQUIRE(end);
  CHECK(end->report == "3000000\n");
}

TEST_CASE("child_process: a child need not read its input") {
  Zeros input(3'000'000);

  const auto end = run({.script = "exit 3", .input = &input});

  REQUIRE(end);
  CHECK(end->status == 3);
  CHECK(input.left() > 0);
}

TEST_CASE("child_process: an error of the input ends the child") {
  Zeros input(10, true);

  const auto end = run({.script = "cat >/dev/null; sleep 100", .input = &input});

  REQUIRE_FALSE(end);
  CHECK(end.error().what == "planted");
}

TEST_CASE("child_process: a child that does not end is killed, and one that we are to leave") {
  Zeros input(3'000'000);

  const auto late =
      run({.script = "sleep 100", .input = &input, .timeout = std::chrono::milliseconds(200)});
  const auto stopped = run({.script = "sleep 100", .interrupted = [] { return true; }});

  REQUIRE(late);
  CHECK(late->timed_out);
  REQUIRE_FALSE(stopped);
  CHECK(stopped.error().code == Errc::interrupted);
}

TEST_CASE("child_process: what is written is cut at the limit, and not waited for") {
  const auto end = run({"head -c 100000 /dev/zero; (sleep 100 &) ; exit 0"});

  REQUIRE(end);
  CHECK(end->report.size() >= 1000);
  CHECK(end->report.size() < 6000);
}

TEST_CASE("child_process: a program that is not there is an error") {
  const auto end = run_child({.program = "/nonexistent/program",
                              .words = {},
                              .environment = {},
                              .timeout = std::chrono::seconds(1),
                              .output_max = {10},
                              .interrupted = {}});

  REQUIRE_FALSE(end);
  CHECK(end.error().code == Errc::io);
}

}  // namespace compatpack::io
