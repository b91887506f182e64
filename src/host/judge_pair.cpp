// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
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
  std::vector<const PairRow*> older_for;
  std::vector<const PairRow*> older_against;
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
      evidence.older_for.push_back(&row);
    } else if (row.status == PairStatus::refused) {
      evidence.older_against.push_back(&row);
    }
  }
  return evidence;
}

std::string sources_of(const std::vector<const PairRow*>& rows) {
  std::string out;
  std::set<Basis> told;
  for (const PairRow* const row : rows) {
    if (told.insert(row->basis).second) {
      out += (out.empty() ? "" : ", ") + std::string(name_of(row->basis));
    }
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
  question.say("library", accepts(*question.package, question.branch())
                              ? "its note lists the host's own branch, for packages that are newer"
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
    question.say("library", package.has_note ? "its note of accepted hosts cannot be read"
                                             : "it carries no note of accepted hosts");
    return {Verdict::unknown, ""};
  }
  const bool accepted = accepts(package, question.branch());
  question.say("library", "its note accepts hosts of " + listed(*package.note->branches) +
                              (accepted ? ": this one is among them" : ": this one is not"));
  return accepted ? Finding{Verdict::expected,
                            "the library's own note accepts " + question.branch_text()}
                  : Finding{Verdict::no, "the library's own note does not accept " +
                                             question.branch_text() + " hosts (error 803)"};
}

void say_policy(const Question& question, const Evidence& evidence, bool own) {
  const std::string pair = question.package_text() + " on " + question.branch_text();
  std::string text = "NVIDIA's" + dated(question.table.as_of()) + ", ";
  if (evidence.page == nullptr) {
    text += "does not list " + pair + (own ? "" : ": not supported today");
  } else if (evidence.page->status == PairStatus::refused) {
    text += "says that " + pair + " is not compatible";
  } else if (evidence.page->status == PairStatus::accepted) {
    text += "lists " + pair + " as compatible";
  } else {
    text += "says that " + pair + " needs no package";
  }
  question.say("table", text);
  if (evidence.page != nullptr || own) {
    return;
  }
  std::string older;
  if (!evidence.older_for.empty()) {
    older = "listed by " + sources_of(evidence.older_for);
  }
  if (!evidence.older_against.empty()) {
    older +=
        (older.empty() ? "" : "; ") + std::string("not by ") + sources_of(evidence.older_against);
  }
  if (!older.empty()) {
    question.say("older sources", older);
  }
}

Finding judge_by_table(const Evidence& evidence, const std::string& package,
                       const std::string& host) {
  if (evidence.page != nullptr && evidence.page->status == PairStatus::accepted) {
    return {Verdict::expected, "NVIDIA's table lists this package on " + host};
  }
  if (evidence.page != nullptr && evidence.page->status == PairStatus::refused) {
    return {Verdict::no,
            "NVIDIA's table says that this package does not work on " + host + " (error 803)"};
  }
  if (!evidence.older_for.empty()) {
    return {Verdict::possible,
            evidence.older_against.empty()
                ? "NVIDIA lists this pair no more, but older sources do"
                : "older sources disagree about this pair, and NVIDIA lists it no more"};
  }
  return {Verdict::unknown,
          "no table says that " + package + " works on " + host +
              (evidence.older_against.empty() ? "" : ", and older ones say that it does not")};
}

/// The oldest driver on which programs of `cuda_major` run without a package, if this one is not
/// older; else "".
std::string floor_below(const DriverVersion& driver, std::uint32_t cuda_major) {
  const auto floor = knowledge::minor_version_floor(cuda_major);
  const auto lowest = floor ? DriverVersion::parse(*floor) : std::nullopt;
  return lowest && driver >= *lowest ? std::string(*floor) : "";
}

/// Sorts the packages that are newer than the host's own CUDA by what is to be expected of them.
void sort_packages(const Question& question) {
  std::set<CudaVersion> versions;
  for (const PairRow& row : question.table.rows) {
    if (row.branch && !row.or_later) {
      versions.insert(row.cuda);
    }
  }
  const auto native = knowledge::cuda_of_branch(question.branch());
  for (const CudaVersion cuda : versions) {
    if (native && cuda <= *native) {
      continue;
    }
    const Evidence evidence = evidence_of(question.table, cuda, "", question.branch());
    const Verdict verdict = judge_by_table(evidence, "", "").verdict;
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
  if (!own && finding.verdict == Verdict::unknown) {
    finding = judge_by_table(evidence, question.package_text(), question.branch_text());
  }
  return finding;
}

Finding judge_any_package(const Question& question) {
  sort_packages(question);
  const Judgement& out = question.out;
  if (!out.packages_accepted.empty()) {
    question.say("packages", "NVIDIA's table" + dated(question.table.as_of()) + ", lists CUDA " +
                                 host::listed(out.packages_accepted));
  }
  if (!out.packages_possible.empty()) {
    question.say("older sources", "list CUDA " + host::listed(out.packages_possible));
  }
  const auto native = knowledge::cuda_of_branch(question.branch());
  if (native && !floor_below(*question.host.driver.version, native->major).empty()) {
    question.say("without one",
                 "programs built for CUDA " + std::to_string(native->major) +
                     ".x run on this driver as it is, unless they compile PTX at run time "
                     "or call what is new");
  }
  if (!out.packages_accepted.empty()) {
    return {Verdict::expected, "NVIDIA's table lists packages for this host"};
  }
  if (!out.packages_possible.empty()) {
    return {Verdict::possible, "NVIDIA lists no package for " + question.branch_text() +
                                   " any more, but older sources do"};
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
  const std::string major = std::to_string(number);
  question.say("without it", "programs built for CUDA " + major +
                                 ".x run on this driver as it is (" + floor +
                                 " or newer), unless they compile PTX at run time or call what is "
                                 "new");
  question.advise("try it without a package first, if the program is built for CUDA " + major +
                  ".x");
}

}  // namespace compatpack::host
