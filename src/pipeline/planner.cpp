// SPDX-License-Identifier: Apache-2.0
#include "compatpack/pipeline/planner.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "compatpack/base/text.hpp"
#include "compatpack/formats/nv_manifest.hpp"
#include "compatpack/knowledge/catalog.hpp"
#include "compatpack/knowledge/driver_branches.hpp"
#include "compatpack/pipeline/activation.hpp"
#include "compatpack/pipeline/receipt.hpp"

namespace compatpack::pipeline {
namespace {

/// The driver version that a library's file name carries.
std::optional<DriverVersion> version_in_name(std::string_view file_name) {
  const auto name = knowledge::parse_library_name(file_name);
  return name ? knowledge::parse_driver(name->suffix) : std::nullopt;
}

std::string_view stem_of(std::string_view file_name) {
  const auto name = knowledge::parse_library_name(file_name);
  return name ? name->stem : std::string_view();
}

std::size_t depth(const RelPath& path) {
  return static_cast<std::size_t>(std::count(path.text().begin(), path.text().end(), '/'));
}

/// What a bundle without a libcuda is, from the names in it.
std::string describe_bundle(const BundleInfo& info, const Contents& contents) {
  const std::string what = info.kind == BundleKind::folder ? "a folder" : "an archive";
  const auto any = [&](auto test) {
    return std::any_of(contents.paths.begin(), contents.paths.end(), test);
  };
  if (any([](const std::string& path) { return path == "is_vgpu_host_package.txt"; })) {
    return "a vGPU host (hypervisor) package, which has no CUDA libraries";
  }
  if (any([](const std::string& path) {
        return path.starts_with("builds/") || path == "cuda-installer" ||
               path.starts_with("run_files/");
      })) {
    return "a CUDA toolkit installer; the driver is a .run file of its own inside it";
  }
  if (any([](const std::string& path) {
        return path.ends_with(".ko") || path.starts_with("kernel/");
      })) {
    return "a package of kernel modules";
  }
  const auto first = std::find_if(contents.paths.begin(), contents.paths.end(),
                                  [](const std::string& path) { return path != "."; });
  return what +
         (first == contents.paths.end() ? " with nothing in it" : " that begins with " + *first);
}

class Planner {
 public:
  Planner(const Gathered& gathered, const PlanRequest& request)
      : bundles_(gathered.bundles), contents_(gathered.contents), request_(request) {}

  Result<Plan> run() {
    plan_.arch = request_.selection.arch;
    plan_.left_out = contents_.left_out;
    plan_.warnings = contents_.warnings;
    CP_CHECK(check_architectures());
    CP_CHECK(require_libcuda());
    CP_CHECK(name_files());
    CP_CHECK(find_versions());
    find_links();
    CP_CHECK(add_texts());
    add_warnings();
    sort_all();
    return std::move(plan_);
  }

 private:
  /// A member's path, with its bundle where there are several.
  [[nodiscard]] std::string shown(std::size_t bundle, const std::string& path) const {
    return bundles_.size() == 1 ? path : bundles_[bundle].info.name + ": " + path;
  }
  [[nodiscard]] std::string shown(const StagedMember& member) const {
    return shown(member.bundle, member.path.text());
  }

  /// Packages that are named together are for one architecture. What a .run says of its own is
  /// not all that it has.
  Result<Done> check_architectures() const {
    const ReadBundle* first = nullptr;
    for (const ReadBundle& one : bundles_) {
      if (one.inside || one.info.arch.empty() || one.info.kind == BundleKind::run) {
        continue;
      }
      if (first != nullptr && one.info.arch != first->info.arch) {
        return Error{.code = Errc::unsupported,
                     .what = "bundles of two architectures",
                     .expected = "all for " + first->info.arch + ", as " + first->info.name,
                     .found = one.info.name + ", for " + one.info.arch};
      }
      first = &one;
    }
    return Done{};
  }

  Result<Done> require_libcuda() {
    const auto& archs = contents_.libcuda_archs;
    const bool there = std::find(archs.begin(), archs.end(), plan_.arch) != archs.end();
    if (!request_.selection.include.empty()) {
      if (contents_.members.empty()) {
        return Error{.code = Errc::not_recognized,
                     .what = "nothing in the bundle matches --include",
                     .hint = "`compatpack list` shows what it holds"};
      }
      return Done{};
    }
    if (there) {
      return contents_.members.empty() ? Result<Done>(nothing_chosen()) : Result<Done>(Done{});
    }
    std::vector<std::string> others = archs;
    std::sort(others.begin(), others.end());
    others.erase(std::unique(others.begin(), others.end()), others.end());
    return Error{.code = Errc::not_recognized,
                 .what = (bundles_.size() == 1 ? "bundle has no libcuda for "
                                               : "none of the bundles has a libcuda for ") +
                         plan_.arch,
                 .expected = "a driver with libcuda.so.VERSION",
                 .found = others.empty() ? describe_bundle(bundles_.front().info, contents_)
                                         : "libcuda for " + joined(others, ", "),
                 .hint = others.empty() ? "--include GLOB takes other files out of it"
                                        : "--arch " + others.front()};
  }

  static Error nothing_chosen() {
    return Error{.code = Errc::not_recognized,
                 .what = "bundle has nothing of the components that were asked for",
                 .hint = "`compatpack list` shows what it holds"};
  }

  /// A flat folder: the last component is the name. Of several with one name, the one nearest the
  /// root is the driver's (tls/ held variants until 410).
  Result<Done> name_files() {
    std::map<std::string, std::vector<std::size_t>> by_name;
    for (const auto& [number, member] : contents_.members) {
      by_name[std::string(member.path.name())].push_back(number);
    }
    for (auto& [name, numbers] : by_name) {
      std::sort(numbers.begin(), numbers.end(), [this](std::size_t a, std::size_t b) {
        const StagedMember& one = contents_.members.at(a);
        const StagedMember& other = contents_.members.at(b);
        return std::tuple(one.bundle, depth(one.path), one.path) <
               std::tuple(other.bundle, depth(other.path), other.path);
      });
      const StagedMember& member = contents_.members.at(numbers.front());
      for (std::size_t i = 1; i < numbers.size(); ++i) {
        CP_CHECK(leave_out_namesake(contents_.members.at(numbers[i]), member));
      }
      CP_TRY(FileName to, FileName::parse(name));
      plan_.files.push_back({std::move(to), numbers.front(), member.bundle, member.path.text(),
                             member.size, member.sha256, member.component,
                             member.elf ? member.elf->soname : "", member.is_program});
      names_.insert(name);
      folders_.emplace(member.path.folder());
    }
    return Done{};
  }

  Result<Done> leave_out_namesake(const StagedMember& member, const StagedMember& taken) {
    const bool same = member.sha256 == taken.sha256;
    const bool is_nearer = member.bundle == taken.bundle && depth(member.path) > depth(taken.path);
    if (!is_nearer && !same) {
      return Error{.code = Errc::conflict,
                   .what = "two members would have one name in the tree",
                   .expected = "one file " + std::string(member.path.name()),
                   .found = shown(taken) + " and " + shown(member),
                   .hint = "leave one out: --exclude '" + member.path.text() + "'"};
    }
    plan_.left_out.push_back(
        {member.bundle, member.path.text(), member.component,
         (same ? "the same file stands at " : "the tree takes its namesake ") + shown(taken)});
    return Done{};
  }

  /// One driver version in a tree: libcuda opens others by their full name, so that a mix of point
  /// releases breaks without a word.
  Result<Done> find_versions() {
    const PlannedFile* first = nullptr;
    for (const PlannedFile& file : plan_.files) {
      const auto version = version_in_name(file.to.text());
      if (!version) {
        continue;
      }
      if (plan_.driver && *version != *plan_.driver) {
        return Error{.code = Errc::unsupported,
                     .what = "libraries of two driver versions",
                     .expected = "all of " + plan_.driver->text() + ", as " +
                                 shown(first->bundle, first->from),
                     .found = shown(file.bundle, file.from),
                     .hint = bundles_.size() == 1 ? "" : "take all bundles from one driver"};
      }
      first = plan_.driver ? first : &file;
      plan_.driver = version;
      if (stem_of(file.to.text()) == "libcuda") {
        const auto& elf = contents_.members.at(file.member).elf;
        if (elf && elf->forward_compat_note) {
          plan_.note = formats::parse_fwd_compat_note(*elf->forward_compat_note);
        }
      }
    }
    take_drivers_of_headers();
    find_cuda();
    return Done{};
  }

  /// By libcuda's own word, by its driver's branch, or by the name of its package.
  void find_cuda() {
    if (plan_.note && plan_.note->cuda) {
      plan_.cuda = plan_.note->cuda;
    } else if (plan_.driver) {
      plan_.cuda = knowledge::cuda_of_branch(plan_.driver->branch());
    }
    for (const PlannedFile& file : plan_.files) {
      if (!plan_.cuda && stem_of(file.to.text()) == "libcuda") {
        plan_.cuda = bundles_[file.bundle].info.cuda;
      }
    }
  }

  /// The word of the headers, of bundles that something was taken from: used where no library has
  /// a version in its name, and compared where one has.
  void take_drivers_of_headers() {
    std::set<std::size_t> used;
    for (const PlannedFile& file : plan_.files) {
      used.insert(file.bundle);
    }
    for (const std::size_t number : used) {
      const BundleInfo& info = bundles_[number].info;
      if (!plan_.driver) {
        plan_.driver = info.driver;
      }
      if (info.driver && *plan_.driver != *info.driver) {
        plan_.warnings.push_back(
            (bundles_.size() == 1 ? "the header" : info.name + ": its header") + " says driver " +
            info.driver->text() + ", the libraries are of " + plan_.driver->text());
      }
    }
  }

  struct LinkClaim {
    std::string at;
    std::string target;
  };

  /// The union of what the libraries, the .manifest and the archive say; the first named wins.
  void find_links() {
    for (const PlannedFile& file : plan_.files) {
      add_soname_link(file);
    }
    std::vector<LinkClaim> claims = manifest_links();
    for (const ArchiveLink& link : contents_.links) {
      // A link beside libraries of another width is not for these.
      if (folders_.contains(link.path.folder())) {
        claims.push_back({std::string(link.path.name()), link.target});
      }
    }
    claims.push_back({"libcuda.so", "libcuda.so.1"});
    add_links(claims);
  }

  /// Links to links are usual, in any order: as if all were gone through again and again until
  /// nothing is added. Each is looked at only when its target is there, since a hostile list has
  /// tens of thousands in the worst order.
  void add_links(const std::vector<LinkClaim>& claims) {
    std::map<std::string_view, std::vector<std::size_t>> by_target;  // numbers of claims
    std::set<std::pair<std::size_t, std::size_t>> due;               // round, number
    for (std::size_t i = 0; i < claims.size(); ++i) {
      by_target[claims[i].target].push_back(i);
      if (names_.contains(claims[i].target)) {
        due.emplace(0, i);
      }
    }
    while (!due.empty()) {
      const auto [round, number] = *due.begin();
      due.erase(due.begin());
      const LinkClaim& claim = claims[number];
      if (!add_link(claim.at, claim.target)) {
        continue;
      }
      for (const std::size_t next : by_target[claim.at]) {
        due.emplace(next > number ? round : round + 1, next);
      }
    }
  }

  /// The links of the .manifest that are of the tree's width. Its names are without folders: one of
  /// an x86_64 bundle holds each twice.
  std::vector<LinkClaim> manifest_links() {
    std::vector<LinkClaim> claims;
    for (const auto& [bundle, text] : contents_.manifests) {
      const auto manifest = formats::parse_nv_manifest(text);
      if (!manifest) {
        plan_.warnings.push_back(shown(bundle, ".manifest") + ": " + manifest.error().what +
                                 "; links are made from the libraries alone");
        continue;
      }
      if (!manifest->ignored.empty()) {
        const auto& first = manifest->ignored.front();
        plan_.warnings.push_back(shown(bundle, ".manifest") + ": " +
                                 std::to_string(manifest->ignored_count) +
                                 " rows are not read, the first of them line " +
                                 std::to_string(first.line) + ": " + first.reason);
      }
      const auto width = width_in(*manifest, plan_.arch);
      for (const auto& entry : manifest->entries) {
        if (entry.is_link() && entry.target && entry.width == width) {
          claims.push_back({std::string(entry.file.name()), *entry.target});
        }
      }
    }
    return claims;
  }

  void add_soname_link(const PlannedFile& file) {
    const std::string& name = file.to.text();
    const std::string_view stem = stem_of(name);
    if (stem.empty()) {
      return;
    }
    const bool own = !file.soname.empty() && stem_of(file.soname) == stem;
    if (own) {
      add_link(file.soname, name);
    }
    // A soname with another stem would take another library's place. What programs ask for is in
    // the catalog too, for libraries that have no soname or a wrong one.
    for (const auto& row : knowledge::library_rows(stem)) {
      if (!row.soname_suffix.empty()) {
        add_link(std::string(stem) + std::string(row.soname_suffix), name);
      }
    }
    if (!own && !file.soname.empty()) {
      plan_.warnings.push_back(name + " names itself " + file.soname +
                               ", which is another library's name; no such link is made");
    }
  }

  /// Adds a link if its target is in the tree and its own name is free.
  bool add_link(const std::string& at, const std::string& target) {
    auto at_name = FileName::parse(at);
    auto target_name = FileName::parse(target);
    if (!at_name || !target_name || names_.contains(at) || !names_.contains(target) ||
        !knowledge::parse_library_name(at)) {
      return false;
    }
    names_.insert(at);
    plan_.links.push_back({*std::move(at_name), *std::move(target_name)});
    return true;
  }

  Result<Done> add_texts() {
    std::map<std::string, std::string> texts;
    if (plan_.driver || stems().contains("libcuda")) {
      texts = make_scripts({plan_.driver, request_.prefix});
    }
    if (std::string text = licence(); !text.empty()) {
      texts["LICENSE"] = std::move(text);
    }
    for (auto& [name, content] : texts) {
      CP_TRY(FileName at, FileName::parse(name));
      plan_.texts.push_back({std::move(at), std::move(content)});
    }
    std::vector<std::string> owns(kScriptNames.begin(), kScriptNames.end());
    owns.insert(owns.end(), {"LICENSE", std::string(kReceiptName)});
    for (const std::string& own : owns) {
      if (names_.contains(own)) {
        return Error{.code = Errc::conflict,
                     .what = "a member would have the name of one of the tree's own files",
                     .found = own,
                     .hint = "leave it out: --exclude '" + own + "'"};
      }
    }
    return Done{};
  }

  /// Whether something of the bundle is in the tree.
  [[nodiscard]] bool is_used(std::size_t bundle) const {
    return std::any_of(plan_.files.begin(), plan_.files.end(),
                       [bundle](const PlannedFile& file) { return file.bundle == bundle; });
  }

  /// The licences of all bundles that something was taken from, each text once.
  [[nodiscard]] std::string licence() const {
    std::vector<std::size_t> distinct;  // numbers of bundles
    for (const auto& one : contents_.licences) {
      const bool is_known = std::any_of(distinct.begin(), distinct.end(), [&](std::size_t bundle) {
        return contents_.licences.at(bundle) == one.second;
      });
      if (is_used(one.first) && !is_known) {
        distinct.push_back(one.first);
      }
    }
    std::string out;
    for (const std::size_t bundle : distinct) {
      if (distinct.size() > 1) {
        out.append(out.empty() ? "==== " : "\n==== ");
        out.append(bundles_[bundle].info.name).append(" ====\n");
      }
      out.append(contents_.licences.at(bundle));
    }
    return out;
  }

  /// Of all files in the tree.
  [[nodiscard]] std::set<std::string, std::less<>> stems() const {
    std::set<std::string, std::less<>> all;
    for (const PlannedFile& file : plan_.files) {
      all.emplace(stem_of(file.to.text()));
    }
    return all;
  }

  void add_warnings() {
    auto& warnings = plan_.warnings;
    const auto all = stems();
    if (all.contains("libcuda")) {
      for (const auto& lack : knowledge::find_lacks(all, plan_.cuda, plan_.arch)) {
        if (lack.breaks_programs) {
          warnings.push_back("no " + lack.stems + " in the tree: " + std::string(lack.without));
        }
      }
    }
    std::set<std::string> components;
    for (const PlannedFile& file : plan_.files) {
      components.insert(file.component);
      const auto& elf = contents_.members.at(file.member).elf;
      if (elf && is_newer_version(elf->glibc_needed, plan_.glibc_needed)) {
        plan_.glibc_needed = elf->glibc_needed;
      }
    }
    for (const auto& row : knowledge::components()) {
      if (components.contains(std::string(row.name)) && !row.warning.empty()) {
        warnings.push_back("component " + std::string(row.name) + ": " + std::string(row.warning));
      }
    }
    warn_of_unused_bundles();
    for (const LeftOut& one : plan_.left_out) {
      if (one.is_unknown) {
        warnings.push_back(shown(one.bundle, one.path) +
                           ": no component knows this library; it may be new in this "
                           "driver, and --include takes it");
      }
    }
  }

  /// Whoever names several bundles wants something of each.
  void warn_of_unused_bundles() {
    for (std::size_t i = 0; i < bundles_.size(); ++i) {
      const bool used =
          is_used(i) || std::any_of(bundles_.begin(), bundles_.end(),
                                    [i](const ReadBundle& one) { return one.inside == i; });
      if (used) {
        continue;
      }
      const auto why = std::find_if(plan_.left_out.begin(), plan_.left_out.end(),
                                    [i](const LeftOut& one) { return one.bundle == i; });
      plan_.warnings.push_back(bundles_[i].info.name + ": nothing of it is in the tree" +
                               (why == plan_.left_out.end() ? "" : ": " + why->reason));
    }
  }

  void sort_all() {
    const auto by_at = [](const auto& a, const auto& b) { return a.at < b.at; };
    std::sort(plan_.links.begin(), plan_.links.end(), by_at);
    std::sort(plan_.texts.begin(), plan_.texts.end(), by_at);
    std::sort(plan_.left_out.begin(), plan_.left_out.end(), [](const LeftOut& a, const LeftOut& b) {
      return std::tie(a.bundle, a.path) < std::tie(b.bundle, b.path);
    });
  }

  const std::vector<ReadBundle>& bundles_;
  const Contents& contents_;
  const PlanRequest& request_;
  Plan plan_;
  std::set<std::string> names_;                 // of files and links so far
  std::set<std::string, std::less<>> folders_;  // of the bundle, that the tree's files are from
};

}  // namespace

Result<Plan> make_plan(const Gathered& gathered, const PlanRequest& request) {
  auto plan = Planner(gathered, request).run();
  if (!plan && gathered.bundles.size() == 1) {
    plan.error().subject = gathered.bundles.front().info.path;
  }
  return plan;
}

}  // namespace compatpack::pipeline
