// SPDX-License-Identifier: Apache-2.0
#include "compatpack/host/judge.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "compatpack/base/text.hpp"
#include "compatpack/knowledge/driver_branches.hpp"
#include "compatpack/knowledge/gpu_names.hpp"

namespace compatpack::host {
namespace {

using knowledge::Basis;
using knowledge::CompatTable;
using knowledge::GpuClass;
using knowledge::PairRow;
using knowledge::PairStatus;

constexpr int kMismatch = 803;
constexpr int kNotOnThisDevice = 804;

/// What one question came to.
struct Finding {
  Verdict verdict;
  std::string reason;
};

std::string number(std::uint32_t value) { return std::to_string(value); }

bool is_of(const PairRow& row, CudaVersion cuda) {
  return row.cuda == cuda || (row.or_later && cuda > row.cuda);
}

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
    if (row.branch != branch || !is_of(row, cuda)) {
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
    out += (out.empty() ? "" : " ") + number(branch);
  }
  return out;
}

std::string listed(const std::vector<CudaVersion>& versions) {
  std::string out;
  for (const CudaVersion version : versions) {
    out += (out.empty() ? "" : " ") + version.text();
  }
  return out;
}

std::string dated(const std::string& as_of) { return as_of.empty() ? "" : ", as of " + as_of; }

class Judge {
 public:
  Judge(const HostFacts& host, const Package* package, const CompatTable& table,
        const std::string& today)
      : host_(host), package_(package), table_(table), today_(today) {}

  Judgement judge() {
    say_host();
    judge_gpus();
    say_package();
    for (const Hazard& hazard : host_.hazards) {
      out_.warnings.push_back(hazard.text + "; " + hazard.next);
    }
    const Finding finding = decide();
    out_.verdict = finding.verdict;
    out_.reason = finding.reason;
    if (package_ != nullptr) {
      warn_of_circulating_number();
      warn_of_missing_libraries();
    }
    return std::move(out_);
  }

 private:
  // --- what is there ---

  [[nodiscard]] bool has_branch() const {
    return host_.driver.version && host_.platform.kind == Platform::Kind::plain;
  }
  [[nodiscard]] std::uint32_t branch() const { return host_.driver.version->branch(); }

  void say(std::string label, std::string text) {
    out_.lines.push_back({std::move(label), std::move(text)});
  }

  void say_host() {
    const Platform& platform = host_.platform;
    if (platform.kind == Platform::Kind::wsl) {
      say("platform", "WSL2 (" + platform.evidence + ")");
    } else if (platform.kind == Platform::Kind::jetson) {
      say("platform", "Jetson" + (platform.jetpack.empty() ? "" : ", JetPack " + platform.jetpack) +
                          " (" + platform.evidence + ")");
    } else if (!platform.container.empty()) {
      say("platform", "in " + platform.container);
    }
    const KernelDriver& driver = host_.driver;
    if (!driver.version) {
      say("kernel driver",
          driver.problem.empty() ? "none seen" : "cannot be told: " + driver.problem);
      return;
    }
    std::string text = driver.version->text();
    if (driver.flavour == DriverFlavour::open) {
      text += ", open module";
    }
    say("kernel driver", text + " (" + driver.origin + ")");
    if (!has_branch()) {
      return;
    }
    const knowledge::BranchRow* const row = knowledge::find_branch(branch());
    if (row == nullptr) {
      say("host branch", "R" + number(branch()) + ", which compatpack's tables do not know");
      return;
    }
    std::string about = "R" + number(branch()) + ", CUDA " + row->cuda.text();
    if (const auto type = name_of(row->type); !type.empty()) {
      about += ", " + std::string(type);
    }
    if (!row->end_of_life.empty()) {
      const bool over = !today_.empty() && row->end_of_life < today_;
      about += (over ? ", end of life since " : ", end of life ") + std::string(row->end_of_life);
    }
    if (row->type == knowledge::BranchType::new_feature) {
      about += "; NVIDIA supports no package on such a branch";
    }
    say("host branch", about);
  }

  void say_package() {
    if (package_ == nullptr) {
      return;
    }
    std::string text = "driver " + (package_->driver ? package_->driver->text() : "unknown");
    if (package_->cuda) {
      text += ", CUDA " + package_->cuda->text();
    }
    if (!package_->arch.empty()) {
      text += ", " + package_->arch;
    }
    if (!package_->glibc_needed.empty()) {
      text += ", needs glibc " + package_->glibc_needed;
    }
    say("package", text);
  }

  // --- the GPUs ---

  /// Whether CUDA_VISIBLE_DEVICES lets a GPU be seen. An index counts in an order that only CUDA
  /// knows, unless CUDA_DEVICE_ORDER says otherwise.
  [[nodiscard]] bool is_visible(const Gpu& gpu, std::size_t index) const {
    if (!host_.visible_devices) {
      return true;
    }
    const std::string& list = *host_.visible_devices;
    for (const std::string_view word : split(list, ',')) {
      const std::string_view one = trim(word);
      if (const auto place = parse_decimal(one)) {
        if (!host_.is_pci_order || *place == index) {
          return true;
        }
      } else if (!one.empty() && one.starts_with("GPU-")) {
        if (gpu.uuid.empty() || gpu.uuid.starts_with(one)) {
          return true;
        }
      } else if (one.starts_with("MIG-")) {
        return true;
      } else {
        break;  // CUDA stops at the first word that it cannot read
      }
    }
    return false;
  }

  void judge_gpus() {
    for (std::size_t i = 0; i < host_.gpus.size(); ++i) {
      const Gpu& gpu = host_.gpus[i];
      const knowledge::GpuKind kind = knowledge::classify_gpu(gpu.name);
      Finding finding = judge_class(kind.gpu_class);
      const Finding by_age = judge_architecture(kind.architecture, gpu);
      if (by_age.verdict == Verdict::no ||
          (by_age.verdict == Verdict::unknown && finding.verdict != Verdict::no)) {
        finding = by_age;
      }
      const auto& row = row_of(kind.architecture);
      JudgedGpu judged{.gpu = gpu,
                       .gpu_class = std::string(name_of(kind.gpu_class)),
                       .architecture = std::string(row.name),
                       .is_visible = is_visible(gpu, i),
                       .verdict = finding.verdict,
                       .reason = finding.reason};
      std::string text = gpu.name.empty() ? "a GPU whose name cannot be told" : gpu.name;
      text += gpu.pci_id.empty() || !gpu.name.empty() ? "" : " (" + gpu.pci_id + ")";
      text += judged.architecture.empty() ? "" : ", " + judged.architecture;
      text += ": " + judged.reason;
      if (!judged.is_visible) {
        text += " (hidden by CUDA_VISIBLE_DEVICES)";
      }
      say(host_.gpus.size() > 1 ? "GPU " + std::to_string(i) : "GPU", text);
      out_.gpus.push_back(std::move(judged));
    }
    if (host_.gpus.empty() && host_.platform.kind == Platform::Kind::plain) {
      say("GPU", "none seen");
    }
  }

  static Finding judge_class(GpuClass gpu_class) {
    switch (gpu_class) {
      case GpuClass::data_center:
        return {Verdict::expected,
                "a data-center GPU by its name, which forward compatibility is for"};
      case GpuClass::workstation:
        return {Verdict::possible,
                "a workstation GPU by its name: libraries accept the class, NVIDIA supports some "
                "of it"};
      case GpuClass::geforce:
        return {Verdict::no, "forward compatibility refuses GeForce and Titan GPUs (error 804)"};
      case GpuClass::mining:
        return {Verdict::no, "forward compatibility is not for mining GPUs (error 804)"};
      case GpuClass::unclear:
        break;
    }
    return {Verdict::unknown, "its name does not tell whether forward compatibility is for it"};
  }

  /// Whether the package's branch still drives the architecture, and the kernel driver does
  /// already.
  [[nodiscard]] Finding judge_architecture(knowledge::Architecture architecture,
                                           const Gpu& gpu) const {
    const auto& row = row_of(architecture);
    const std::string name(row.name);
    if (architecture == knowledge::Architecture::unknown) {
      return {Verdict::expected, ""};
    }
    const bool has_driver = package_ != nullptr && package_->driver;
    if (has_driver && row.last_branch != 0 && package_->driver->branch() > row.last_branch) {
      return {Verdict::no, "drivers newer than R" + number(row.last_branch) + " do not drive " +
                               name + " any more"};
    }
    const auto cuda = has_branch() ? knowledge::cuda_of_branch(branch()) : std::nullopt;
    if (cuda && *cuda < row.first_cuda) {
      std::string text = "the kernel driver, R" + number(branch()) + ", is older than " + name +
                         ", which came with CUDA " + row.first_cuda.text();
      return gpu.named_by_driver
                 ? Finding{Verdict::unknown, text + ", and yet it knows this GPU's name"}
                 : Finding{Verdict::no, text +
                                            ": no package helps where the kernel driver does not "
                                            "know the GPU"};
    }
    return {Verdict::expected, ""};
  }

  /// All visible GPUs together: one that is refused can sink the process for all.
  Finding gpus_together() {
    std::vector<const JudgedGpu*> good;
    std::vector<const JudgedGpu*> bad;
    const JudgedGpu* possible = nullptr;
    const JudgedGpu* unclear = nullptr;
    for (const JudgedGpu& one : out_.gpus) {
      if (!one.is_visible && one.verdict != Verdict::no) {
        continue;
      }
      if (one.verdict == Verdict::no) {
        if (one.is_visible) {
          bad.push_back(&one);
        }
        continue;
      }
      good.push_back(&one);
      possible = one.verdict == Verdict::possible ? &one : possible;
      unclear = one.verdict == Verdict::unknown ? &one : unclear;
    }
    if (!bad.empty()) {
      return bad_gpus(good, bad);
    }
    if (good.empty()) {
      const bool hidden = !out_.gpus.empty();
      if (!hidden) {
        out_.next.emplace_back(host_.driver.origin == "--driver"
                                   ? "name the GPU too: --gpu \"A100\""
                                   : "run this where the GPU is, or name it: --gpu \"A100\"");
      }
      return {Verdict::unknown, hidden ? "CUDA_VISIBLE_DEVICES hides all GPUs" : "no GPU was seen"};
    }
    if (unclear != nullptr) {
      out_.next.emplace_back("compatpack probe TREE, where the GPU is, settles it");
      return {Verdict::unknown,
              (unclear->gpu.name.empty() ? "the GPU" : unclear->gpu.name) + ": " + unclear->reason};
    }
    if (possible != nullptr) {
      return {Verdict::possible, possible->gpu.name + " is a workstation GPU"};
    }
    return {Verdict::expected, good.size() == 1 ? "the GPU is of the data-center class"
                                                : "all GPUs are of the data-center class"};
  }

  Finding bad_gpus(const std::vector<const JudgedGpu*>& good,
                   const std::vector<const JudgedGpu*>& bad) {
    if (bad.front()->reason.find("804") != std::string::npos) {
      out_.foretold = kNotOnThisDevice;
    }
    if (good.empty()) {
      out_.next.emplace_back(
          "use the host's own driver here, and programs built for its CUDA version or older");
      return {Verdict::no, bad.front()->gpu.name + ": " + bad.front()->reason};
    }
    std::string devices;
    bool complete = true;
    for (const JudgedGpu* const one : good) {
      devices += (devices.empty() ? "" : ",") + one->gpu.uuid;
      complete = complete && !one->gpu.uuid.empty();
    }
    out_.next.push_back(
        "hide what is refused: export CUDA_VISIBLE_DEVICES=" +
        (complete ? devices : "GPU-... of " + good.front()->gpu.name + " (nvidia-smi -L)"));
    return {Verdict::no,
            "a visible GPU is refused, which can fail the whole process: " + bad.front()->gpu.name};
  }

  // --- the decision ---

  Finding decide() {
    if (host_.platform.kind == Platform::Kind::wsl) {
      out_.next.emplace_back("update the driver in Windows: WSL2 uses that one");
      return {Verdict::no, "forward compatibility is not for WSL2, whose driver is Windows' own"};
    }
    if (host_.platform.kind == Platform::Kind::jetson) {
      return decide_jetson();
    }
    if (package_ != nullptr) {
      if (auto unfit = unfit_package()) {
        return *std::move(unfit);
      }
    }
    if (!host_.driver.version) {
      out_.next.emplace_back(
          "run this on the machine that has the GPU, or name its driver: "
          "--driver 535.129.03 --gpu \"A100\"");
      return {Verdict::unknown, host_.driver.problem.empty()
                                    ? "no NVIDIA kernel driver was seen here"
                                    : "the kernel driver's version cannot be read"};
    }
    if (package_ == nullptr) {
      return decide_any();
    }
    const auto& ours = *package_->driver;
    const auto& theirs = *host_.driver.version;
    if (ours == theirs) {
      return {Verdict::not_needed,
              "the host's driver is of the same version and gives all that the package does"};
    }
    if (ours < theirs) {
      out_.foretold = kMismatch;
      out_.next.emplace_back("do not use it here: the host's own driver is the newer");
      out_.next.emplace_back(
          "env.sh and `compatpack run` stand aside on such a host by themselves");
      return {Verdict::harmful, "driver " + ours.text() + " over the newer kernel driver " +
                                    theirs.text() + " would break CUDA (error 803)"};
    }
    offer_minor_version();
    Finding library = judge_library();
    if (library.verdict == Verdict::no) {
      out_.foretold = kMismatch;
      out_.next.emplace_back("see which packages this host takes: compatpack matrix --driver " +
                             theirs.text());
      return library;
    }
    return combined(library);
  }

  /// Both must hold; the weaker of the two is the verdict.
  Finding combined(const Finding& library) {
    if (const auto grave = std::find_if(host_.hazards.begin(), host_.hazards.end(),
                                        [](const Hazard& one) { return one.is_grave; });
        grave != host_.hazards.end()) {
      out_.next.push_back(grave->next);
      return {Verdict::no, grave->text};
    }
    Finding gpus = gpus_together();
    if (gpus.verdict == Verdict::no) {
      return gpus;
    }
    if (!host_.platform.has_device_files) {
      out_.next.emplace_back(host_.platform.container.empty()
                                 ? "ask why /dev/nvidiactl is missing (nvidia-modprobe makes it)"
                                 : "start the container with the GPU: docker run --gpus all, "
                                   "apptainer --nv");
      return {Verdict::unknown,
              "there is no /dev/nvidiactl: programs here reach no GPU (error 100)"};
    }
    if (library.verdict == Verdict::unknown) {
      out_.next.push_back("see which packages this host takes: compatpack matrix --driver " +
                          host_.driver.version->text());
      return library;
    }
    if (gpus.verdict == Verdict::unknown) {
      return gpus;
    }
    if (library.verdict == Verdict::possible || gpus.verdict == Verdict::possible) {
      out_.next.emplace_back("compatpack probe TREE, where the GPU is, settles it");
      return {Verdict::possible,
              library.verdict == Verdict::possible ? library.reason : gpus.reason};
    }
    out_.next.emplace_back("make sure where the GPU is: compatpack probe TREE");
    return {Verdict::expected, library.reason + ", and " + gpus.reason};
  }

  std::optional<Finding> unfit_package() {
    const Platform& platform = host_.platform;
    if (!package_->driver) {
      return Finding{Verdict::unknown, "the package's driver version is not known"};
    }
    if (!platform.arch.empty() && !package_->arch.empty() && platform.arch != package_->arch) {
      out_.next.push_back("get the package for " + platform.arch);
      return Finding{Verdict::no,
                     "the package is for " + package_->arch + ", this host is " + platform.arch};
    }
    if (!platform.glibc.empty() && is_newer_version(package_->glibc_needed, platform.glibc)) {
      out_.next.emplace_back("run in a container whose glibc is newer");
      return Finding{Verdict::no, "the libraries need glibc " + package_->glibc_needed +
                                      ", this host has " + platform.glibc};
    }
    const bool is_orin = package_->note && !package_->note->branches;
    if (is_orin) {
      return Finding{Verdict::no, "the package is for Jetson Orin, as its note shows"};
    }
    return std::nullopt;
  }

  /// The library's own word first, then the table's; NVIDIA's policy as a line of its own.
  Finding judge_library() {
    const std::uint32_t host_branch = branch();
    const bool own = package_->driver->branch() == host_branch;
    const Evidence evidence =
        package_->cuda ? evidence_of(table_, *package_->cuda, package_->driver->text(), host_branch)
                       : Evidence{};
    Finding finding = own ? judge_own_branch() : judge_by_note();
    if (!own && finding.verdict == Verdict::unknown && evidence.exact != nullptr) {
      finding = {Verdict::expected,
                 "a note read from this very libcuda accepts R" + number(host_branch) + " hosts"};
    }
    say_policy(evidence, own);
    if (!own && finding.verdict == Verdict::unknown) {
      finding = judge_by_table(evidence);
    }
    return finding;
  }

  Finding judge_own_branch() {
    const auto& note = package_->note;
    const bool takes_own = note && note->branches &&
                           std::count(note->branches->begin(), note->branches->end(), branch()) > 0;
    say("library", takes_own ? "its note lists the host's own branch, for packages that are newer"
                             : "package and host are of one branch, R" + number(branch()));
    return {
        Verdict::possible,
        "the package is newer than the host's driver, but of the same branch: NVIDIA supports that "
        "on long-lived branches for some GPUs"};
  }

  Finding judge_by_note() {
    if (!package_->note || !package_->note->branches) {
      say("library", package_->has_note ? "its note of accepted hosts cannot be read"
                                        : "it carries no note of accepted hosts");
      return {Verdict::unknown, ""};
    }
    const auto& branches = *package_->note->branches;
    const bool accepted = std::find(branches.begin(), branches.end(), branch()) != branches.end();
    const std::string host = "R" + number(branch());
    say("library", "its note accepts hosts of " + listed(branches) +
                       (accepted ? ": this one is among them" : ": this one is not"));
    return accepted ? Finding{Verdict::expected, "the library's own note accepts " + host}
                    : Finding{Verdict::no, "the library's own note does not accept " + host +
                                               " hosts (error 803)"};
  }

  void say_policy(const Evidence& evidence, bool own) {
    const std::string pair = (package_->cuda ? "CUDA " + package_->cuda->text() : "this package") +
                             " on R" + number(branch());
    std::string text = "NVIDIA's" + dated(table_.as_of()) + ", ";
    if (evidence.page == nullptr) {
      text += "does not list " + pair + (own ? "" : ": not supported today");
    } else if (evidence.page->status == PairStatus::refused) {
      text += "says that " + pair + " is not compatible";
    } else if (evidence.page->status == PairStatus::accepted) {
      text += "lists " + pair + " as compatible";
    } else {
      text += "says that " + pair + " needs no package";
    }
    say("table", text);
    if (evidence.page == nullptr && !own &&
        !(evidence.older_for.empty() && evidence.older_against.empty())) {
      std::string older;
      if (!evidence.older_for.empty()) {
        older = "listed by " + sources_of(evidence.older_for);
      }
      if (!evidence.older_against.empty()) {
        older += (older.empty() ? "" : "; ") + std::string("not by ") +
                 sources_of(evidence.older_against);
      }
      say("older sources", older);
    }
  }

  [[nodiscard]] Finding judge_by_table(const Evidence& evidence) const {
    const std::string host = "R" + number(branch());
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
            "no table says that " +
                (package_ != nullptr && package_->cuda ? "CUDA " + package_->cuda->text()
                                                       : "a package") +
                " works on " + host +
                (evidence.older_against.empty() ? "" : ", and older ones say that it does not")};
  }

  void offer_minor_version() {
    if (!package_->cuda) {
      return;
    }
    const auto floor = knowledge::minor_version_floor(package_->cuda->major);
    const auto lowest = floor ? DriverVersion::parse(*floor) : std::nullopt;
    if (!lowest || *host_.driver.version < *lowest) {
      return;
    }
    const std::string major = std::to_string(package_->cuda->major);
    say("without it", "programs built for CUDA " + major + ".x run on this driver as it is (" +
                          std::string(*floor) +
                          " or newer), unless they compile PTX at run time or call what is new");
    out_.next.push_back("try it without a package first, if the program is built for CUDA " +
                        major + ".x");
  }

  // --- Jetson ---

  Finding decide_jetson() {
    const Platform& platform = host_.platform;
    if (package_ == nullptr) {
      say_jetson_packages();
      out_.next.emplace_back("name a package, or see compatpack matrix");
      return {Verdict::unknown, "on a Jetson it depends on JetPack and the package"};
    }
    // Thor, from JetPack 7 on, takes the packages of servers; Orin has its own.
    const bool is_orin_package = package_->note && !package_->note->branches;
    const bool is_orin_host = platform.jetpack == "5.x" || platform.jetpack == "6.x";
    if (is_orin_host && !is_orin_package) {
      out_.next.emplace_back("use NVIDIA's cuda-compat-orin package for this JetPack");
      return {Verdict::no, "the package is for discrete GPUs: never put it on an Orin"};
    }
    if (platform.jetpack.empty() || !package_->cuda) {
      return {Verdict::unknown, "the JetPack release, or the package's CUDA version, is not known"};
    }
    for (const PairRow& row : table_.rows) {
      if (row.jetpack != platform.jetpack || !is_of(row, *package_->cuda)) {
        continue;
      }
      const std::string pair = "CUDA " + package_->cuda->text() + " on JetPack " + platform.jetpack;
      say("table", "NVIDIA's for Jetson" + dated(row.as_of) + ", has a row for " + pair);
      switch (row.status) {
        case PairStatus::accepted:
          return {Verdict::expected, "NVIDIA's table for Jetson lists " + pair};
        case PairStatus::own_branch:
          return {Verdict::not_needed, "JetPack " + platform.jetpack + " comes with that CUDA"};
        default:
          return {Verdict::no, "NVIDIA's table for Jetson says not: " + pair};
      }
    }
    return {Verdict::unknown, "NVIDIA's table for Jetson does not list this pair"};
  }

  void say_jetson_packages() {
    std::vector<CudaVersion> accepted;
    for (const PairRow& row : table_.rows) {
      if (!row.jetpack.empty() && row.jetpack == host_.platform.jetpack &&
          row.status == PairStatus::accepted) {
        accepted.push_back(row.cuda);
      }
    }
    out_.packages_accepted = accepted;
    if (!accepted.empty()) {
      say("packages", "NVIDIA's table for Jetson lists CUDA " + listed(accepted));
    }
  }

  // --- no package ---

  Finding decide_any() {
    std::set<CudaVersion> versions;
    for (const PairRow& row : table_.rows) {
      if (row.branch && !row.or_later) {
        versions.insert(row.cuda);
      }
    }
    const auto native = knowledge::cuda_of_branch(branch());
    for (const CudaVersion cuda : versions) {
      if (native && cuda <= *native) {
        continue;
      }
      const Verdict verdict = judge_by_table(evidence_of(table_, cuda, "", branch())).verdict;
      if (verdict == Verdict::expected) {
        out_.packages_accepted.push_back(cuda);
      } else if (verdict == Verdict::possible) {
        out_.packages_possible.push_back(cuda);
      }
    }
    const std::string where = "NVIDIA's table" + dated(table_.as_of());
    if (!out_.packages_accepted.empty()) {
      say("packages", where + ", lists CUDA " + listed(out_.packages_accepted));
    }
    if (!out_.packages_possible.empty()) {
      say("older sources", "list CUDA " + listed(out_.packages_possible));
    }
    if (native) {
      const auto floor = knowledge::minor_version_floor(native->major);
      const auto lowest = floor ? DriverVersion::parse(*floor) : std::nullopt;
      if (lowest && *host_.driver.version >= *lowest) {
        say("without one",
            "programs built for CUDA " + std::to_string(native->major) +
                ".x run on this driver as it is, unless they compile PTX at run time "
                "or call what is new");
      }
    }
    if (!out_.packages_accepted.empty()) {
      return combined({Verdict::expected, "NVIDIA's table lists packages for this host"});
    }
    if (!out_.packages_possible.empty()) {
      return combined({Verdict::possible, "NVIDIA lists no package for R" + number(branch()) +
                                              " any more, but older sources do"});
    }
    return combined({Verdict::unknown, "no table lists a package for R" + number(branch())});
  }

  // --- remarks ---

  void warn_of_circulating_number() {
    if (!package_->cuda || !has_branch()) {
      return;
    }
    const auto* const one = knowledge::circulating_number(*package_->cuda, branch());
    if (one != nullptr) {
      out_.warnings.push_back(std::string(one->driver) +
                              " circulates as the minimum driver for CUDA " + one->cuda.text() +
                              " packages; it is " + std::string(one->truth) +
                              ". Packages go by branch");
    }
  }

  void warn_of_missing_libraries() {
    if (package_->libraries.empty() || !package_->cuda) {
      return;
    }
    struct Row {
      const char* stem;
      CudaVersion since;
      const char* without;
    };
    constexpr auto kRows = std::to_array<Row>({
        {"libnvidia-ptxjitcompiler", {0, 0}, "PTX cannot be compiled (error 221)"},
        {"libnvidia-nvvm", {11, 5}, "some code cannot be compiled at run time"},
        {"libcudadebugger", {11, 8}, "cuda-gdb will not work"},
        {"libnvidia-gpucomp", {13, 1}, "some code cannot be compiled at run time"},
    });
    for (const Row& row : kRows) {
      const auto& all = package_->libraries;
      if (*package_->cuda >= row.since &&
          std::find(all.begin(), all.end(), row.stem) == all.end()) {
        out_.warnings.push_back(std::string("the package lacks ") + row.stem + ": " + row.without);
      }
    }
  }

  const HostFacts& host_;
  const Package* package_;
  const CompatTable& table_;
  const std::string& today_;
  Judgement out_;
};

}  // namespace

std::string_view words_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::expected:
      return "expected to work";
    case Verdict::possible:
      return "unsupported, but the library may accept it";
    case Verdict::not_needed:
      return "not needed";
    case Verdict::harmful:
      return "no, harmful";
    case Verdict::no:
      return "no";
    case Verdict::unknown:
      break;
  }
  return "unknown";
}

std::string_view name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::expected:
      return "expected";
    case Verdict::possible:
      return "possible";
    case Verdict::not_needed:
      return "not needed";
    case Verdict::harmful:
      return "harmful";
    case Verdict::no:
      return "no";
    case Verdict::unknown:
      break;
  }
  return "unknown";
}

int exit_status(Verdict verdict) {
  constexpr int kNo = 5;
  constexpr int kUnknown = 6;
  switch (verdict) {
    case Verdict::expected:
      return 0;
    case Verdict::not_needed:
    case Verdict::harmful:
    case Verdict::no:
      return kNo;
    case Verdict::possible:
    case Verdict::unknown:
      break;
  }
  return kUnknown;
}

Judgement judge(const HostFacts& host, const Package* package, const knowledge::CompatTable& table,
                const std::string& today) {
  return Judge(host, package, table, today).judge();
}

}  // namespace compatpack::host
