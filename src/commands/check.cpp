// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <system_error>

#include "compatpack/commands/commands.hpp"
#include "compatpack/io/absolute_path.hpp"
#include "compatpack/io/folder_walk.hpp"
#include "compatpack/knowledge/driver_branches.hpp"
#include "compatpack/pipeline/staging.hpp"

#include "bundle_steps.hpp"
#include "host_steps.hpp"
#include "rows.hpp"

namespace compatpack::commands {
namespace {

using host::Judgement;
using host::Verdict;

/// What is checked.
struct Subject {
  std::optional<host::Package> package;  ///< nullopt: the host alone
  std::string tree;                      ///< absolute path, of a folder; else ""
};

Result<host::Package> package_of_bundle(const CheckOptions& options, const Env& env,
                                        Console& console) {
  CP_TRY(OpenBundle open, open_bundle(options.bundle, env, console));
  open.read.may_stop = true;
  CP_TRY(const DeepLook deep, look_deep(open, options.bundle, env, console));
  return package_of(deep.plan);
}

Result<Subject> look_at_subject(const CheckOptions& options, const Env& env, Console& console) {
  const std::string& path = options.bundle.path;
  Subject subject;
  if (path.empty()) {
    CP_CHECK(refuse_bundle_options(options.bundle));
    return subject;
  }
  if (io::is_folder(path)) {
    CP_CHECK(refuse_bundle_options(options.bundle));
    CP_TRY(subject.package, package_of_folder(path));
    CP_TRY(subject.tree, io::absolute_folder(path));
  } else {
    CP_TRY(subject.package, package_of_bundle(options, env, console));
  }
  return subject;
}

/// "12.2", the driver API that a libcuda gives, by its driver's branch; "" if not known.
std::string api_of(const std::optional<DriverVersion>& driver) {
  const auto cuda = driver ? knowledge::cuda_of_branch(driver->branch()) : std::nullopt;
  return cuda ? cuda->text() : "";
}

/// The host's own libcuda: the first that the loader finds which is no stub.
const host::FoundLibrary* host_libcuda(const HostLook& look) {
  for (const host::FoundLibrary& found : look.loader.libcudas) {
    if (!found.is_stub) {
      return &found;
    }
  }
  return nullptr;
}

std::string described(const host::FoundLibrary& found) {
  if (found.is_stub) {
    return found.path + ", a stub for linking";
  }
  return found.path + (found.driver ? ", driver " + found.driver->text() : "");
}

/// The two versions that people take for the kernel driver's, and where each is from.
void print_other_versions(const HostLook& look, Rows& rows) {
  if (const host::FoundLibrary* const own = host_libcuda(look)) {
    const std::string api = api_of(own->driver);
    rows.fact("driver API", (api.empty() ? "not known" : "CUDA " + api) +
                                ", as nvidia-smi prints: " + described(*own) + " (" + own->how +
                                ")");
  }
  std::string runtimes;
  for (const host::Runtime& one : look.runtimes) {
    runtimes += (runtimes.empty() ? "" : "; ") + one.version + " (" + one.path + ")";
  }
  if (!runtimes.empty()) {
    rows.fact("CUDA runtime", runtimes);
  }
}

std::vector<host::Line> application_lines(const host::Application& app) {
  std::vector<host::Line> lines;
  const auto say = [&](const host::DriverNeed& need) {
    std::string text =
        need.library + (need.by_dlopen ? ", opened by " : ", needed by ") + need.asker + ": ";
    text += need.takes ? "takes " + described(*need.takes) + " (" + need.takes->how + ")"
                       : "is nowhere to be found";
    lines.push_back({"application", text});
  };
  std::for_each(app.needs.begin(), app.needs.end(), say);
  if (app.needs.empty()) {
    lines.push_back({"application", app.path +
                                        ": asks for no driver library itself; what it loads later "
                                        "(Python modules, plugins) may"});
  }
  for (const std::string& name : app.missing) {
    lines.push_back({"application", name + " is nowhere to be found"});
  }
  return lines;
}

void print(const HostLook& look, const Judgement& judgement, const Env& env, Console& console) {
  Rows rows(env, console);
  rows.verdict(words_of(judgement.verdict), judgement.reason, judgement.next);
  for (const host::Line& line : judgement.lines) {
    rows.fact(line.label, line.text);
    if (line.label == "kernel driver") {
      print_other_versions(look, rows);
    }
  }
  if (console.verbose()) {
    rows.fact("three versions",
              "the kernel driver's; the driver API's, which libcuda gives and a tree replaces; and "
              "the CUDA runtime's, which must not be newer than the driver API's");
  }
  if (look.loader.application) {
    for (const host::Line& line : application_lines(*look.loader.application)) {
      rows.fact(line.label, line.text);
    }
  }
  const bool may_work =
      judgement.verdict == Verdict::expected || judgement.verdict == Verdict::possible;
  if (may_work) {
    rows.fact("limits",
              "CUDA only: no OpenGL or Vulkan interop; NVML, OpenCL and the fabric manager "
              "stay the host's; IPC and MPS peers must use the same tree");
  }
  for (const std::string& warning : judgement.warnings) {
    rows.fact("beware", warning);
  }
}

template <class Version>
Json version_or_null(const std::optional<Version>& version) {
  return version ? Json(version->text()) : Json();
}

Json json_of(const host::FoundLibrary& found) {
  return {{"path", found.path},
          {"real_path", found.real_path},
          {"found_through", found.how},
          {"driver_version", version_or_null(found.driver)},
          {"stub", found.is_stub}};
}

Json json_of(const host::Application& app) {
  Json needs = Json::array();
  for (const host::DriverNeed& need : app.needs) {
    needs.push_back({{"library", need.library},
                     {"asked_by", need.asker},
                     {"by_dlopen", need.by_dlopen},
                     {"takes", need.takes ? json_of(*need.takes) : Json()}});
  }
  return {{"path", app.path},
          {"arch", app.arch},
          {"setuid", app.ignores_environment},
          {"driver_libraries", std::move(needs)},
          {"missing", app.missing}};
}

Json json_of(const host::KernelDriver& driver) {
  Json json = {{"version", version_or_null(driver.version)},
               {"read_from", text_or_null(driver.origin)},
               {"problem", text_or_null(driver.problem)}};
  const auto* const row =
      driver.version ? knowledge::find_branch(driver.version->branch()) : nullptr;
  json["cuda_version"] = row != nullptr ? Json(row->cuda.text()) : Json();
  json["branch"] = driver.version ? Json(driver.version->branch()) : Json();
  json["branch_type"] = row != nullptr ? text_or_null(std::string(name_of(row->type))) : Json();
  json["end_of_life"] = row != nullptr ? text_or_null(std::string(row->end_of_life)) : Json();
  return json;
}

Json json_of(const host::JudgedGpu& one) {
  return {{"name", text_or_null(one.gpu.name)},
          {"read_from", one.gpu.origin},
          {"address", text_or_null(one.gpu.address)},
          {"uuid", text_or_null(one.gpu.uuid)},
          {"pci_id", text_or_null(one.gpu.pci_id)},
          {"class", one.gpu_class},
          {"architecture", text_or_null(one.architecture)},
          {"visible", one.is_visible},
          {"verdict", name_of(one.verdict)},
          {"reason", one.reason}};
}

Json json_of(const host::Package& package) {
  const bool has_branches = package.note && package.note->branches;
  return {{"driver_version", version_or_null(package.driver)},
          {"cuda_version", version_or_null(package.cuda)},
          {"arch", text_or_null(package.arch)},
          {"glibc_needed", text_or_null(package.glibc_needed)},
          {"has_note", package.has_note},
          {"host_branches", has_branches ? Json(*package.note->branches) : Json()}};
}

Json json_of(const host::Platform& platform) {
  using Kind = host::Platform::Kind;
  return {{"kind", platform.kind == Kind::wsl      ? "wsl"
                   : platform.kind == Kind::jetson ? "jetson"
                                                   : "plain"},
          {"jetpack", text_or_null(platform.jetpack)},
          {"container", text_or_null(platform.container)},
          {"arch", text_or_null(platform.arch)},
          {"glibc", text_or_null(platform.glibc)},
          {"mps", text_or_null(platform.mps)}};
}

Json versions(const std::vector<CudaVersion>& list) {
  Json json = Json::array();
  for (const CudaVersion version : list) {
    json.push_back(version.text());
  }
  return json;
}

Json document(const HostLook& look, const Subject& subject, const Judgement& judgement) {
  Json gpus = Json::array();
  for (const host::JudgedGpu& one : judgement.gpus) {
    gpus.push_back(json_of(one));
  }
  Json libcudas = Json::array();
  for (const host::FoundLibrary& found : look.loader.libcudas) {
    libcudas.push_back(json_of(found));
  }
  Json runtimes = Json::array();
  for (const host::Runtime& one : look.runtimes) {
    runtimes.push_back({{"version", one.version}, {"read_from", one.path}});
  }
  Json lines = Json::array();
  for (const host::Line& line : judgement.lines) {
    lines.push_back({{"about", line.label}, {"text", line.text}});
  }
  Json json = {
      {"verdict", name_of(judgement.verdict)},
      {"reason", judgement.reason},
      {"cuda_error", judgement.foretold ? Json(*judgement.foretold) : Json()},
      {"next", judgement.next},
      {"warnings", judgement.warnings},
      {"package", subject.package ? json_of(*subject.package) : Json()},
      {"kernel_driver", json_of(look.facts.driver)},
      {"gpus", std::move(gpus)},
      {"platform", json_of(look.facts.platform)},
      {"libcudas", std::move(libcudas)},
      {"runtimes", std::move(runtimes)},
      {"application", look.loader.application ? json_of(*look.loader.application) : Json()},
      {"findings", std::move(lines)},
      {"table", {{"name", look.table.name}, {"as_of", look.table.as_of()}}}};
  if (!subject.package) {
    json["packages_listed"] = versions(judgement.packages_accepted);
    json["packages_possible"] = versions(judgement.packages_possible);
  }
  return json;
}

}  // namespace

Result<int> run_check(const CheckOptions& options, const Env& env, Console& console) {
  CP_TRY(const Subject subject, look_at_subject(options, env, console));
  std::string application;
  if (!options.application.empty()) {
    std::error_code fault;
    application = std::filesystem::absolute(options.application, fault).string();
    if (fault) {
      return io_error("cannot look at", options.application, fault.value());
    }
  }
  CP_TRY(const HostLook look, look_at_host(options.host, env, subject.tree, application));
  const Judgement judgement =
      host::judge(look.facts, subject.package ? &*subject.package : nullptr, look.table, env.today);
  if (console.json()) {
    console.document(rendered(document(look, subject, judgement)));
  } else {
    print(look, judgement, env, console);
  }
  return exit_status(judgement.verdict);
}

}  // namespace compatpack::commands
