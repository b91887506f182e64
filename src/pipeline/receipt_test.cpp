// SPDX-License-Identifier: Apache-2.0
#include "compatpack/pipeline/receipt.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

using namespace compatpack;
using namespace compatpack::pipeline;
using compatpack::knowledge::Component;

namespace {

Receipt sample() {
  return {
      .compatpack_version = "0.1.0",
      .bundles =
          {{.name = "driver.run",
            .size = {463'025'450},
            .sha256 = std::string(64, 'a'),
            .header_sha256 = std::string(64, 'b'),
            .kind = "run",
            .dialect = "NVIDIA makeself 1.6.0-nv9",
            .verified =
                {{DigestAlgorithm::md5, std::string(32, 'c'), {{78}, {463'025'450}}, "its header"},
                 {DigestAlgorithm::cksum, "123", {{78}, {463'025'450}}, "its header"}}}},
      .verification_skipped = false,
      .driver_version = "610.57.04",
      .cuda_version = "13.3",
      .selection = {.components = {Component::cuda, Component::nvml},
                    .all = true,
                    .include = {"nvidia-smi"},
                    .exclude = {"32/*", "a\"b"},
                    .arch = "x86_64"},
      .prefix = "/opt/a compat",
      .files =
          {{.path = "LICENSE", .size = {12}, .sha256 = std::string(64, 'd'), .is_program = false},
           {.path = "libcuda.so.610.57.04",
            .size = {98'000'000},
            .sha256 = std::string(64, 'e'),
            .is_program = true,
            .component = "cuda",
            .from = "libcuda.so.610.57.04"}},
      .links = {{"libcuda.so.1", "libcuda.so.610.57.04"}}};
}

std::vector<std::string> keys_of(const nlohmann::ordered_json& json) {
  std::vector<std::string> keys;
  for (auto it = json.begin(); it != json.end(); ++it) {
    keys.push_back(it.key());
  }
  return keys;
}

/// The sample as JSON with one thing changed.
template <class Change>
std::string changed(Change change) {
  auto json = nlohmann::ordered_json::parse(render_receipt(sample()));
  change(json);
  return json.dump();
}

}  // namespace

TEST_CASE("receipt: who has signed a bundle is said") {
  Receipt signed_one = sample();
  signed_one.bundles[0].signed_by = "AADEF4DC8E1630051886EDBC8170B7481D96AF27";

  const auto read = parse_receipt(render_receipt(signed_one));

  REQUIRE(read);
  CHECK(read->bundles[0].signed_by == signed_one.bundles[0].signed_by);
  CHECK_FALSE(is_same(*read, sample()));
}

TEST_CASE("receipt: what is written is read again, and the same receipt is the same bytes") {
  const std::string text = render_receipt(sample());

  const auto receipt = parse_receipt(text);

  REQUIRE(receipt);
  CHECK(render_receipt(*receipt) == text);
  CHECK(render_receipt(sample()) == text);
  CHECK(text.ends_with("}\n"));
  CHECK(receipt->selection == sample().selection);
  CHECK(receipt->bundles[0].verified == sample().bundles[0].verified);
  CHECK(receipt->bundles[0].header_sha256 == sample().bundles[0].header_sha256);
  CHECK(receipt->prefix == "/opt/a compat");
  REQUIRE(receipt->files.size() == 2);
  CHECK_FALSE(receipt->files[0].is_program);
  CHECK(receipt->files[1].is_program);
  CHECK(receipt->files[1].size == ByteCount{98'000'000});
  CHECK(receipt->links[0].target == "libcuda.so.610.57.04");
}

TEST_CASE("receipt: the keys are those that other programs read") {
  const auto json = nlohmann::ordered_json::parse(render_receipt(sample()));

  CHECK(keys_of(json) == std::vector<std::string>{"format", "compatpack", "driver_version",
                                                  "cuda_version", "bundles", "verification_skipped",
                                                  "selection", "prefix", "files", "links"});
  CHECK(json["format"] == 1);
  CHECK(json["files"][1]["mode"] == "0755");
  CHECK(json["bundles"][0]["verified"][0]["from_byte"] == 78);
}

TEST_CASE("receipt: names that are no UTF-8 are written, and the receipt stays JSON") {
  Receipt receipt = sample();
  receipt.bundles[0].name = "driver\xff.run";

  const auto again = parse_receipt(render_receipt(receipt));

  REQUIRE(again);
  CHECK(again->bundles[0].name == "driver\xEF\xBF\xBD.run");
}

TEST_CASE("receipt: text that is no receipt is refused") {
  for (const char* const text :
       {"", "{}", "[]", "null", "1", "\"text\"", "{\"format\": 1}", "{\"format\": \"1\"}",
        "{\"format\": 1, \"files\": [", "\xff\xfe"}) {
    CAPTURE(text);
    const auto receipt = parse_receipt(text);
    REQUIRE_FALSE(receipt);
    CHECK(receipt.error().code == Errc::corrupt);
  }
}

TEST_CASE("receipt: each missing key is found out") {
  const auto json = nlohmann::ordered_json::parse(render_receipt(sample()));
  for (const std::string& name : keys_of(json)) {
    CAPTURE(name);
    CHECK_FALSE(parse_receipt(changed([&](auto& one) { one.erase(name); })));
  }
  for (const std::string& name : keys_of(json["bundles"][0])) {
    CAPTURE(name);
    CHECK_FALSE(parse_receipt(changed([&](auto& one) { one["bundles"][0].erase(name); })));
  }
  for (const std::string& name : keys_of(json["files"][0])) {
    CAPTURE(name);
    CHECK_FALSE(parse_receipt(changed([&](auto& one) { one["files"][0].erase(name); })));
  }
}

TEST_CASE("receipt: names that cannot be in a tree are refused: what it names may be mended") {
  for (const char* const bad : {"../x", "/etc/passwd", "a/b", "", ".", ".."}) {
    CAPTURE(bad);
    CHECK_FALSE(parse_receipt(changed([bad](auto& one) { one["files"][0]["path"] = bad; })));
    CHECK_FALSE(parse_receipt(changed([bad](auto& one) { one["links"][0]["path"] = bad; })));
    CHECK_FALSE(parse_receipt(changed([bad](auto& one) { one["links"][0]["target"] = bad; })));
  }
}

TEST_CASE("receipt: values of another type or range are refused") {
  CHECK_FALSE(parse_receipt(changed([](auto& one) { one["files"][0]["size"] = "12"; })));
  CHECK_FALSE(parse_receipt(changed([](auto& one) { one["files"] = "none"; })));
  CHECK_FALSE(parse_receipt(changed([](auto& one) { one["files"][0]["size"] = -1; })));
  CHECK_FALSE(parse_receipt(changed([](auto& one) { one["files"][0]["size"] = 1ULL << 40U; })));
  CHECK_FALSE(parse_receipt(changed([](auto& one) { one["bundles"][0]["size"] = 1.5; })));
  CHECK_FALSE(parse_receipt(changed([](auto& one) { one["format"] = 1e300; })));
  CHECK_FALSE(parse_receipt(
      changed([](auto& one) { one["bundles"][0]["verified"][0]["algorithm"] = "rot13"; })));
}

TEST_CASE("receipt: one that a newer compatpack wrote is said to be so") {
  const auto receipt = parse_receipt(changed([](auto& one) { one["format"] = 2; }));

  REQUIRE_FALSE(receipt);
  CHECK(receipt.error().code == Errc::unsupported);
  CHECK(receipt.error().found == "format 2");
}

TEST_CASE("receipt: deep nesting is refused, not followed") {
  const std::string deep(200'000, '[');

  CHECK_FALSE(parse_receipt(deep));
}

TEST_CASE("receipt: a hostile one of very many members takes no square of their number") {
  // Kept in order, these would take minutes.
  std::string many = "{\"format\":1";
  for (int i = 0; i < 100'000; ++i) {
    many += ",\"" + std::to_string(i) + "\":0";
  }

  CHECK_FALSE(parse_receipt(many + "}"));
}
