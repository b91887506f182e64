// SPDX-License-Identifier: Apache-2.0
// Any bytes as a bundle of whatever kind, to its plan: names stay inside the tree, nothing has two
// names or one of compatpack's own, each link leads to something in the plan, what is planned was
// read, and the same bytes give the same plan again. Nothing is written: the tree has no folder,
// and bundles inside the bundle are kept in memory.

#include <algorithm>
#include <clocale>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>
#include <utility>

#include "compatpack/io/output_file.hpp"
#include "compatpack/pipeline/planner.hpp"
#include "compatpack/pipeline/tree.hpp"

using namespace compatpack;

namespace {

void require(bool holds) {
  if (!holds) {
    std::abort();
  }
}

/// The caps of the program, but for what one input may cost here.
Limits small_limits() {
  Limits limits;
  limits.members = 2'000;
  limits.member = {4U << 20U};
  limits.unpacked = {16U << 20U};
  limits.decoder_memory = {32U << 20U};
  return limits;
}

pipeline::SelectionRequest request_of(std::uint8_t how) {
  pipeline::SelectionRequest request{.components = {knowledge::Component::cuda}, .arch = "x86_64"};
  if ((how & 1U) != 0) {
    request.include = {"*"};
  }
  return request;
}

Result<std::unique_ptr<pipeline::Bundle>> open_bundle(std::span<const std::byte> bytes,
                                                      const Limits& limits) {
  CP_TRY(io::OutputFile file, io::OutputFile::in_memory("bundle"));
  CP_CHECK(file.write(bytes));
  CP_TRY(auto source, io::FileSource::adopt(file.release(), "bundle", nullptr));
  return pipeline::Bundle::read(std::move(source), "bundle", "bundle", limits);
}

struct Planned {
  pipeline::Gathered gathered;
  pipeline::Plan plan;
};

Result<Planned> plan_of(std::span<const std::byte> bytes, std::uint8_t how) {
  const Limits limits = small_limits();
  CP_TRY(const auto bundle, open_bundle(bytes, limits));
  const pipeline::SelectionRequest request = request_of(how);
  pipeline::Gatherer gatherer(request, limits, nullptr, "/dev/shm");
  pipeline::ReadOptions options;
  options.limits = limits;
  options.may_stop = (how & 2U) != 0;
  // As with --no-verify: a fuzzer does not guess digests, and what lies behind them is to be seen.
  options.verify = (how & 4U) != 0 ? pipeline::Verify::nothing : pipeline::Verify::claims;
  CP_CHECK(gatherer.read(*bundle, options, ""));
  pipeline::Gathered gathered = gatherer.release();
  CP_TRY(pipeline::Plan made,
         pipeline::make_plan(gathered, {.selection = request, .prefix = "/opt/compat"}));
  return Planned{std::move(gathered), std::move(made)};
}

void check(const Planned& planned) {
  const pipeline::Plan& plan = planned.plan;
  std::set<std::string> names{std::string(pipeline::kReceiptName)};
  const auto add = [&names](const FileName& name) {
    require(name.text().find('/') == std::string::npos);
    require(!name.text().empty() && name.text() != "." && name.text() != "..");
    require(name.text().find('\0') == std::string::npos);
    require(names.insert(name.text()).second);
  };
  for (const pipeline::PlannedFile& file : plan.files) {
    add(file.to);
    const auto member = planned.gathered.contents.members.find(file.member);
    require(member != planned.gathered.contents.members.end());
    require(member->second.sha256 == file.sha256 && member->second.size == file.size);
    require(file.sha256.size() == 64 && RelPath::parse(file.from));
  }
  for (const pipeline::PlannedText& text : plan.texts) {
    add(text.at);
  }
  for (const pipeline::PlannedLink& link : plan.links) {
    add(link.at);
  }
  for (const pipeline::PlannedLink& link : plan.links) {
    require(names.contains(link.target.text()) && link.target.text() != link.at.text());
  }
}

/// All of what would be written, as text.
std::string shown(const Planned& planned) {
  const pipeline::Receipt receipt =
      pipeline::make_receipt(planned.plan, planned.gathered.bundles, pipeline::Verify::claims,
                             {.selection = request_of(0), .prefix = "/opt/compat"});
  std::string all = pipeline::render_receipt(receipt);
  require(bool(pipeline::parse_receipt(all)));
  for (const std::string& warning : planned.plan.warnings) {
    all += warning + '\n';
  }
  return all;
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  std::setlocale(LC_CTYPE, "C.UTF-8");  // as the program does
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) {
    return 0;
  }
  // The last byte says how: a bundle's beginning tells its kind, and has to stay where it is.
  const std::uint8_t how = data[size - 1];
  const auto bytes = std::as_bytes(std::span(data, size)).first(size - 1);
  const auto once = plan_of(bytes, how);
  const auto again = plan_of(bytes, how);
  require(bool(once) == bool(again));
  if (!once) {
    const std::string error = render(once.error());
    require(!error.empty() && error == render(again.error()));
    return 0;
  }
  check(*once);
  require(shown(*once) == shown(*again));
  return 0;
}
