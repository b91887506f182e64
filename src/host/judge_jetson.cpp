// SPDX-License-Identifier: Apache-2.0
#include "judge_parts.hpp"

namespace compatpack::host {
namespace {

using knowledge::PairRow;
using knowledge::PairStatus;

void say_packages(const Question& question) {
  std::vector<CudaVersion> accepted;
  for (const PairRow& row : question.table.rows) {
    if (!row.jetpack.empty() && row.jetpack == question.host.platform.jetpack &&
        row.status == PairStatus::accepted) {
      accepted.push_back(row.cuda);
    }
  }
  question.out.packages_accepted = accepted;
  if (!accepted.empty()) {
    question.say("policy", "NVIDIA lists packages of CUDA " + listed(accepted) + " for JetPack " +
                               question.host.platform.jetpack);
  }
}

Finding judge_by_jetpack(const Question& question) {
  const std::string& jetpack = question.host.platform.jetpack;
  const CudaVersion cuda = *question.package->cuda;
  for (const PairRow& row : question.table.rows) {
    if (row.jetpack != jetpack || !row.is_of(cuda)) {
      continue;
    }
    const std::string pair = "CUDA " + cuda.text() + " on JetPack " + jetpack;
    question.say("policy", "NVIDIA's table for Jetson has a row for " + pair);
    question.say("table", question.table.name + dated(row.as_of) +
                              (row.source.empty() ? "" : ", from " + row.source));
    switch (row.status) {
      case PairStatus::accepted:
        return {Verdict::expected, "NVIDIA's table for Jetson lists " + pair};
      case PairStatus::own_branch:
        return {Verdict::not_needed, "JetPack " + jetpack + " comes with that CUDA"};
      default:
        return {Verdict::no, "NVIDIA's table for Jetson says not: " + pair};
    }
  }
  return {Verdict::unknown, "NVIDIA's table for Jetson does not list this pair"};
}

}  // namespace

Finding judge_jetson(const Question& question) {
  const std::string& jetpack = question.host.platform.jetpack;
  if (question.package == nullptr) {
    say_packages(question);
    question.advise("name a package: compatpack check BUNDLE");
    return {Verdict::unknown, "on a Jetson it depends on JetPack and the package"};
  }
  // Thor, from JetPack 7 on, takes the packages of servers; Orin has its own.
  const bool is_orin_package = question.package->note && !question.package->note->branches;
  const bool is_orin_host = jetpack == "5.x" || jetpack == "6.x";
  if (is_orin_host && !is_orin_package) {
    question.advise("use NVIDIA's cuda-compat-orin package for this JetPack");
    return {Verdict::no, "the package is for discrete GPUs: never put it on an Orin"};
  }
  if (jetpack.empty() || !question.package->cuda) {
    return {Verdict::unknown, "the JetPack release, or the package's CUDA version, is not known"};
  }
  return judge_by_jetpack(question);
}

}  // namespace compatpack::host
