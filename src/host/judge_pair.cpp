// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>

#include "compatpack/knowledge/driver_branches.hpp"

#include "judge_parts.hpp"

namespace compatpack::host {
namespace {

using knowledge::Basis;
using knowledge::CompatTable;
using knowledge::PairRow;
using knowledge::PairStatus;

/// What a table says of a package on a host branch, by weight.
struct Evidence {
  const PairRow* exact = nullptr;  // a note read from a file of this very driver
  const PairRow* page = nullptr;   // NVIDIA's table of today
  std::vector<const PairRow*> others_for;
  std::vector<const PairRow*> others_against;
};

Evidence evidence_of(const CompatTable& table, CudaVersion cuda, const std::string& driver,
                     std::uint32_t branch) {
  Evidence evidence;
  for (const PairRow& row : table.rows) {
    if (row.branch != branch || !row.is_of(cuda)) {
      continue;
    }
    if (row.basis == Basis::nvidia_page) {
      evidence.page = &row;
    } else if (row.basis == Basis::library_note && row.driver == driver) {
      evidence.exact = &row;
    } else if (row.status == PairStatus::accepted || row.status == PairStatus::start_gate) {
      evidence.others_for.push_back(&row);
    } else if (row.status == PairStatus::refused) {
      evidence.others_against.push_back(&row);
    }
  }
  return evidence;
}

/// "NVIDIA's container images (2024-12)", each source once, with its newest date.
std::string sources_of(const std::vector<const PairRow*>& rows) {
  std::map<Basis, std::string> newest;
  for (const PairRow* const row : rows) {
    std::string& as_of = newest[row->basis];
    as_of = std::max(as_of, row->as_of);
  }
  std::string out;
  for (const auto& [basis, as_of] : newest) {
    out += (out.empty() ? "" : ", ") + std::string(name_of(basis));
    out += as_of.empty() ? "" : " (" + as_of + ")";
  }
  return out;
}

std::string listed(const std::vector<std::uint32_t>& branches) {
  std::string out;
  for (const std::uint32_t branch : branches) {
    out += (out.empty() ? "" : " ") + std::to_string(branch);
  }
  return out;
}

bool accepts(const Package& package, std::uint32_t branch) {
  if (!package.note || !package.note->branches) {
    return false;
  }
  const auto& all = *package.note->branches;
  return std::find(all.begin(), all.end(), branch) != all.end();
}

Finding judge_own_branch(const Question& question) {
  question.say("mechanism",
               accepts(*question.package, question.branch())
                   ? "libcuda's note lists the host's own branch, for packages that are newer"
                   : "package and host are of one branch, " + question.branch_text());
  return {
      Verdict::possible,
      "the package is newer than the host's driver, but of the same branch: NVIDIA supports that "
      "on long-lived branches for some GPUs"};
}

/// `unknown` without a reason where there is no note that can be read.
Finding judge_by_note(const Question& question) {
  const Package& package = *question.package;
  if (!package.note || !package.note->branches) {
    question.say("mechanism",
                 std::string(package.has_note ? "libcuda's note of its hosts cannot be read"
                                              : "libcuda carries no note of its hosts") +
                     "; the table stands in");
    return {Verdict::unknown, ""};
  }
  const bool accepted = accepts(package, question.branch());
  question.say("mechanism", "libcuda's note accepts hosts of " + listed(*package.note->branches) +
                                (accepted ? ": this one is among them" : ": this one is not"));
  return accepted ? Finding{Verdict::expected,
                            "the library's own note accepts " + question.branch_text()}
                  : Finding{Verdict::no, "the library's own note does not accept " +
                                             question.branch_text() + " hosts (error 803)"};
}

void say_other_sources(const Question& question, const Evidence& evidence) {
  std::string others;
  if (!evidence.others_for.empty()) {
    others = "compatible, by " + sources_of(evidence.others_for);
  }
  if (!evidence.others_against.empty()) {
    others += (others.empty() ? "" : "; ") + std::string("not compatible, by ") +
              sources_of(evidence.others_against);
  }
  if (!others.empty()) {
    question.say("other sources", others);
  }
}

void say_policy(const Question& question, const Evidence& evidence, bool own) {
  const std::string pair = question.package_text() + " on " + question.branch_text();
  std::string text = "NVIDIA ";
  if (evidence.page == nullptr) {
    text += "does not list " + pair + (own ? "" : ": not supported today");
  } else if (evidence.page->status == PairStatus::refused) {
    text += "says that " + pair + " is not compatible";
  } else if (evidence.page->status == PairStatus::accepted) {
    text += "lists " + pair + " as compatible";
  } else {
    text += "says that " + pair + " needs no package";
  }
  question.say("policy", text);
  if (evidence.page == nullptr && !own) {
    say_other_sources(question, evidence);
  }
}

/// Which table it was, how old it is, and where it is from.
void say_table(const Question& question) {
  const auto& rows = question.table.rows;
  const auto page = std::find_if(rows.begin(), rows.end(), [](const PairRow& row) {
    return row.basis == Basis::nvidia_page && row.branch;
  });
  question.say("table", question.table.name + dated(question.table.as_of()) +
                            (page == rows.end() || page->source.empty() ? "" : ", from ") +
                            (page == rows.end() ? "" : page->source));
}

Finding judge_by_table(const Evidence& evidence, const std::string& package,
                       const std::string& host) {
  if (evidence.page != nullptr && evidence.page->status == PairStatus::accepted) {
    return {Verdict::expected, "NVIDIA's table lists " + package + " on " + host};
  }
  if (evidence.page != nullptr && evidence.page->status == PairStatus::refused) {
    return {Verdict::no,
            "NVIDIA's table says that " + package + " does not work on " + host + " (error 803)"};
  }
  if (!evidence.others_for.empty()) {
    return {Verdict::possible,
            evidence.others_against.empty()
                ? "NVIDIA does not list this pair today, but other sources do"
                : "NVIDIA does not list this pair today, and other sources disagree about it"};
  }
  return {Verdict::unknown,
          "no table says that " + package + " works on " + host +
              (evidence.others_against.empty() ? "" : ", and others say that it does not")};
}

/// The oldest driver on which programs of `cuda_major` run without a package, if this one is not
/// older; else "".
std::string floor_below(const DriverVersion& driver, std::uint32_t cuda_major) {
  const auto floor = knowledge::minor_version_floor(cuda_major);
  const auto lowest = floor ? DriverVersion::parse(*floor) : std::nullopt;
  return lowest && driver >= *lowest ? std::string(*floor) : "";
}

/// Minor-version compatibility, and where it ends.
std::string runs_without(std::uint32_t cuda_major, const std::string& floor) {
  return "CUDA " + std::to_string(cuda_major) + ".x programs run on any driver from " + floor +
         " on, but for PTX that is compiled at run time, and calls that are new";
}

/// Sorts the packages that are newer than the host's own CUDA by what is to be expected of them;
/// those that are too new for its GPUs are none.
void sort_packages(const Question& question) {
  std::set<CudaVersion> versions;
  for (const PairRow& row : question.table.rows) {
    if (row.branch && !row.or_later) {
      versions.insert(row.cuda);
    }
  }
  const auto native = knowledge::cuda_of_branch(question.branch());
  const auto* const dropped = first_to_be_dropped(question);
  const auto newest =
      dropped == nullptr ? std::nullopt : knowledge::cuda_of_branch(dropped->last_branch);
  if (newest) {
    question.say("GPU's limit", "packages newer than CUDA " + newest->text() + " do not drive " +
                                    std::string(dropped->name));
  }
  for (const CudaVersion cuda : versions) {
    if ((native && cuda <= *native) || (newest && cuda > *newest)) {
      continue;
    }
    const Verdict verdict = judge_pair(question.table, cuda, question.branch()).verdict;
    if (verdict == Verdict::expected) {
      question.out.packages_accepted.push_back(cuda);
    } else if (verdict == Verdict::possible) {
      question.out.packages_possible.push_back(cuda);
    }
  }
}

}  // namespace

Finding judge_library(const Question& question) {
  const Package& package = *question.package;
  const bool own = package.driver->branch() == question.branch();
  const Evidence evidence = package.cuda ? evidence_of(question.table, *package.cuda,
                                                       package.driver->text(), question.branch())
                                         : Evidence{};
  Finding finding = own ? judge_own_branch(question) : judge_by_note(question);
  if (!own && finding.verdict == Verdict::unknown && evidence.exact != nullptr) {
    finding = {Verdict::expected,
               "a note read from this very libcuda accepts " + question.branch_text() + " hosts"};
  }
  say_policy(question, evidence, own);
  say_table(question);
  if (!own && finding.verdict == Verdict::unknown) {
    finding = judge_by_table(evidence, question.package_text(), question.branch_text());
  }
  return finding;
}

PairJudgement judge_pair(const CompatTable& table, CudaVersion cuda, std::uint32_t branch) {
  const std::string host = "R" + std::to_string(branch);
  if (const auto native = knowledge::cuda_of_branch(branch); native && *native >= cuda) {
    return *native == cuda
               ? PairJudgement{Verdict::not_needed,
                               host + " gives CUDA " + cuda.text() + " by itself"}
               : PairJudgement{Verdict::harmful, host + " gives CUDA " + native->text() +
                                                     " by itself; an older driver's libraries "
                                                     "would break CUDA (error 803)"};
  }
  Finding finding =
      judge_by_table(evidence_of(table, cuda, "", branch), "CUDA " + cuda.text(), host);
  return {finding.verdict, std::move(finding.reason)};
}

Finding judge_any_package(const Question& question) {
  sort_packages(question);
  const Judgement& out = question.out;
  if (!out.packages_accepted.empty()) {
    question.say("policy", "NVIDIA lists packages of CUDA " + host::listed(out.packages_accepted));
  }
  if (!out.packages_possible.empty()) {
    question.say("other sources", "compatible: CUDA " + host::listed(out.packages_possible));
  }
  say_table(question);
  const auto native = knowledge::cuda_of_branch(question.branch());
  const std::string floor =
      native ? floor_below(*question.host.driver.version, native->major) : std::string();
  if (!floor.empty()) {
    question.say("without one", runs_without(native->major, floor));
  }
  if (!out.packages_accepted.empty()) {
    question.advise("take a package of one of these: compatpack extract BUNDLE --out TREE");
    const auto& all = out.packages_accepted;
    return {Verdict::expected, "NVIDIA's table lists packages of CUDA " + all.front().text() +
                                   (all.size() > 1 ? " to " + all.back().text() : "") + " for " +
                                   question.branch_text()};
  }
  if (!out.packages_possible.empty()) {
    return {Verdict::possible, "NVIDIA lists no package for " + question.branch_text() +
                                   " today, but other sources do"};
  }
  return {Verdict::unknown, "no table lists a package for " + question.branch_text()};
}

void offer_minor_version(const Question& question) {
  if (!question.package->cuda) {
    return;
  }
  const std::uint32_t number = question.package->cuda->major;
  const std::string floor = floor_below(*question.host.driver.version, number);
  if (floor.empty()) {
    return;
  }
  question.say("without it", runs_without(number, floor));
  question.advise("try it without a package first, if the program is built for CUDA " +
                  std::to_string(number) + ".x");
}

}  // namespace compatpack::host
