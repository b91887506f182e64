// SPDX-License-Identifier: Apache-2.0

// The product in examples: which files and links come out of which driver, and what is said.

#include "compatpack/pipeline/planner.hpp"

#include <algorithm>
#include <utility>

#include <doctest/doctest.h>

#include "support/elf_file.hpp"
#include "support/staged.hpp"

using namespace compatpack;
using namespace compatpack::pipeline;
using compatpack::knowledge::Component;
using compatpack::test::ElfFile;
using compatpack::test::SampleDriverOptions;
using compatpack::test::SampleMember;

namespace {

using Members = std::vector<SampleMember>;
using Lines = std::vector<std::string>;

Members driver(const std::string& version, const std::string& arch = "x86_64") {
  return test::make_sample_driver({.version = version, .arch = arch, .filler = 200});
}

Result<Plan> try_plan(const Members& members, const SelectionRequest& selection,
                      const BundleInfo& bundle = test::sample_bundle_info("535.54.03")) {
  CP_TRY(const Gathered gathered, test::stage({{bundle, members}}, selection));
  return make_plan(gathered, {.selection = selection, .prefix = "/opt/compat"});
}

Plan plan_of(const Members& members, const SelectionRequest& selection = test::cuda_request(),
             const BundleInfo& bundle = test::sample_bundle_info("535.54.03")) {
  auto plan = try_plan(members, selection, bundle);
  if (!plan) {
    FAIL(render(plan.error()));
  }
  return *std::move(plan);
}

Plan plan_of_driver(const std::string& version, const std::string& arch = "x86_64") {
  return plan_of(driver(version, arch), test::cuda_request(arch),
                 test::sample_bundle_info(version, arch));
}

SampleMember library(std::string path, const std::string& soname,
                     test::ElfTarget target = test::kX86_64) {
  return {std::move(path), ElfFile(target).with_soname(soname).bytes(), 0755};
}

/// The two without which nothing works.
Members small_driver() {
  return {library("libcuda.so.535.54.03", "libcuda.so.1"),
          library("libnvidia-nvvm.so.535.54.03", "libnvidia-nvvm.so.4"),
          library("libnvidia-ptxjitcompiler.so.535.54.03", "libnvidia-ptxjitcompiler.so.1")};
}

Members with(Members members, const Members& more) {
  members.insert(members.end(), more.begin(), more.end());
  return members;
}

SampleMember manifest(const std::string& rows) {
  return {".manifest",
          "A driver\n535.54.03\n \nnvidia \n \n \n./kernel/\n./kernel/precompiled/\n" + rows, 0644};
}

Lines files_of(const Plan& plan) {
  Lines lines;
  for (const PlannedFile& file : plan.files) {
    lines.push_back(file.to.text());
  }
  return lines;
}

Lines links_of(const Plan& plan) {
  Lines lines;
  for (const PlannedLink& link : plan.links) {
    lines.push_back(link.at.text() + " -> " + link.target.text());
  }
  return lines;
}

const LeftOut* left_out(const Plan& plan, std::string_view path) {
  const auto found = std::find_if(plan.left_out.begin(), plan.left_out.end(),
                                  [path](const LeftOut& one) { return one.path == path; });
  return found == plan.left_out.end() ? nullptr : &*found;
}

/// The links of an archive itself, which a list of files does not hold.
Plan plan_with_links(const Members& members,
                     std::vector<std::pair<std::string, std::string>> links) {
  const SelectionRequest selection = test::cuda_request();
  auto gathered = test::stage({{test::sample_bundle_info("535.54.03"), members}}, selection);
  REQUIRE(gathered);
  for (auto& [path, target] : links) {
    gathered->contents.links.push_back({*RelPath::parse(path), std::move(target)});
  }
  auto plan = make_plan(*gathered, {.selection = selection, .prefix = "/opt/compat"});
  REQUIRE(plan);
  return *std::move(plan);
}

}  // namespace

TEST_CASE("planner: 535 gives the forward-compatibility set and its links") {
  const Plan plan = plan_of_driver("535.54.03");

  CHECK(plan.driver->text() == "535.54.03");
  CHECK(plan.cuda->text() == "12.2");
  CHECK(files_of(plan) ==
        Lines{"libcuda.so.535.54.03", "libcudadebugger.so.535.54.03", "libnvidia-nvvm.so.535.54.03",
              "libnvidia-pkcs11-openssl3.so.535.54.03", "libnvidia-pkcs11.so.535.54.03",
              "libnvidia-ptxjitcompiler.so.535.54.03"});
  CHECK(links_of(plan) == Lines{"libcuda.so -> libcuda.so.1",
                                "libcuda.so.1 -> libcuda.so.535.54.03",
                                "libcudadebugger.so.1 -> libcudadebugger.so.535.54.03",
                                "libnvidia-nvvm.so.4 -> libnvidia-nvvm.so.535.54.03",
                                "libnvidia-ptxjitcompiler.so -> libnvidia-ptxjitcompiler.so.1",
                                "libnvidia-ptxjitcompiler.so.1 -> "
                                "libnvidia-ptxjitcompiler.so.535.54.03"});
  CHECK(plan.warnings.empty());
  CHECK(plan.glibc_needed == "2.17");
  for (const PlannedFile& file : plan.files) {
    CHECK(file.is_program);
    CHECK(file.component == "cuda");
  }
}

TEST_CASE("planner: 470 has its nvvm under a version of its own") {
  const Plan plan = plan_of_driver("470.82.01");

  CHECK(plan.cuda->text() == "11.4");
  CHECK(files_of(plan) == Lines{"libcuda.so.470.82.01", "libnvidia-nvvm.so.4.0.0",
                                "libnvidia-ptxjitcompiler.so.470.82.01"});
  CHECK(links_of(plan)[2] == "libnvidia-nvvm.so.4 -> libnvidia-nvvm.so.4.0.0");
}

TEST_CASE(
    "planner: 470.63's nvvm names itself as the toolkit's library, and is linked as its own") {
  // Without the manifest too: the catalog knows the name.
  for (const bool with_manifest : {true, false}) {
    CAPTURE(with_manifest);
    const Plan plan =
        plan_of(test::make_sample_driver(
                    {.version = "470.63.01", .manifest = with_manifest, .filler = 200}),
                test::cuda_request(), test::sample_bundle_info("470.63.01"));

    const Lines links = links_of(plan);
    CHECK(std::count(links.begin(), links.end(),
                     "libnvidia-nvvm.so.4 -> libnvidia-nvvm.so.4.0.0") == 1);
    CHECK(std::none_of(links.begin(), links.end(),
                       [](const std::string& one) { return one.starts_with("libnvvm"); }));
    CHECK(plan.warnings ==
          Lines{"libnvidia-nvvm.so.4.0.0 names itself libnvvm.so.4, which is another library's "
                "name; no such link is made"});
  }
}

TEST_CASE("planner: 575's nvvm70 is its own soname, and no link leads to itself") {
  const Plan plan = plan_of_driver("575.57.08");

  const Lines files = files_of(plan);
  CHECK(std::count(files.begin(), files.end(), "libnvidia-nvvm70.so.4") == 1);
  for (const PlannedLink& link : plan.links) {
    CHECK(link.at != link.target);
    CHECK(link.at.text() != "libnvidia-nvvm70.so.4");
  }
  REQUIRE(plan.note);
  CHECK(*plan.note->branches == std::vector<std::uint32_t>{535, 550, 570});
  CHECK(plan.cuda->text() == "12.9");
}

TEST_CASE("planner: libcuda's own word on its CUDA version goes before the table") {
  const SampleMember libcuda{
      "libcuda.so.535.54.03",
      ElfFile().with_soname("libcuda.so.1").with_note(R"({"CUDA version": "19.7"})").bytes(), 0755};

  const Plan plan = plan_of({libcuda});

  CHECK(plan.cuda->text() == "19.7");
}

TEST_CASE("planner: fatbinaryloader is in the set where an old driver needs it") {
  const Lines files = files_of(plan_of_driver("418.87.00"));

  CHECK(files == Lines{"libcuda.so.418.87.00", "libnvidia-fatbinaryloader.so.418.87.00",
                       "libnvidia-ptxjitcompiler.so.418.87.00"});
}

TEST_CASE("planner: other architectures' drivers are planned alike") {
  const Plan plan = plan_of_driver("570.86.15", "aarch64");

  CHECK(plan.arch == "aarch64");
  CHECK(files_of(plan).front() == "libcuda.so.570.86.15");
  CHECK(links_of(plan).front() == "libcuda.so -> libcuda.so.1");
}

TEST_CASE("planner: the 32-bit tree comes from 32/, with the links of that width") {
  const Plan plan = plan_of(driver("535.54.03"), test::cuda_request("i386"));

  CHECK(files_of(plan) == Lines{"libcuda.so.535.54.03", "libnvidia-nvvm.so.535.54.03",
                                "libnvidia-ptxjitcompiler.so.535.54.03"});
  for (const PlannedFile& file : plan.files) {
    CHECK(file.from == "32/" + file.to.text());
  }
  CHECK(links_of(plan) == Lines{"libcuda.so -> libcuda.so.1",
                                "libcuda.so.1 -> libcuda.so.535.54.03",
                                "libnvidia-nvvm.so.4 -> libnvidia-nvvm.so.535.54.03",
                                "libnvidia-ptxjitcompiler.so -> libnvidia-ptxjitcompiler.so.1",
                                "libnvidia-ptxjitcompiler.so.1 -> "
                                "libnvidia-ptxjitcompiler.so.535.54.03"});
}

TEST_CASE("planner: of a name that the manifest gives to both widths, the tree's own is taken") {
  const Members members = with(
      small_driver(), {manifest("libcuda.so.9 0000 CUDA_SYMLINK NATIVE / libcuda.so.535.54.03\n"
                                "libcuda.so.9 0000 CUDA_SYMLINK COMPAT32 / libcuda.so.1\n"
                                "libcuda.so.8 0000 CUDA_SYMLINK COMPAT32 / libcuda.so.1\n"),
                       library("32/libcuda.so.535.54.03", "libcuda.so.1", test::kI386)});

  const Lines wide = links_of(plan_of(members));
  CHECK(std::count(wide.begin(), wide.end(), "libcuda.so.9 -> libcuda.so.535.54.03") == 1);
  CHECK(std::none_of(wide.begin(), wide.end(),
                     [](const std::string& one) { return one.starts_with("libcuda.so.8"); }));

  const Lines narrow = links_of(plan_of(members, test::cuda_request("i386")));
  CHECK(std::count(narrow.begin(), narrow.end(), "libcuda.so.9 -> libcuda.so.1") == 1);
  CHECK(std::count(narrow.begin(), narrow.end(), "libcuda.so.8 -> libcuda.so.1") == 1);
}

TEST_CASE(
    "planner: a bundle of 32-bit libraries alone has them as native, whatever its header says") {
  const Members members = {
      library("libcuda.so.390.157", "libcuda.so.1", test::kI386),
      manifest("libcuda.so.9 0000 CUDA_SYMLINK NATIVE / libcuda.so.390.157\n")};

  for (const char* const arch : {"i386", ""}) {
    CAPTURE(arch);
    const Lines links = links_of(
        plan_of(members, test::cuda_request("i386"), test::sample_bundle_info("390.157", arch)));
    CHECK(std::count(links.begin(), links.end(), "libcuda.so.9 -> libcuda.so.390.157") == 1);
  }
}

TEST_CASE("planner: rows of a manifest that are not read are told") {
  const Plan plan =
      plan_of(with(small_driver(), {manifest("../../etc/passwd 0644 CUDA_LIB NATIVE\n"
                                             "libcuda.so.535.54.03 what CUDA_LIB\n")}));

  CHECK(
      std::count(plan.warnings.begin(), plan.warnings.end(),
                 ".manifest: 2 rows are not read, the first of them line 9: the file's path leaves "
                 "the payload") == 1);
}

TEST_CASE("planner: without a manifest the libraries say enough") {
  const Plan plan = plan_of(small_driver());

  CHECK(links_of(plan) == Lines{"libcuda.so -> libcuda.so.1",
                                "libcuda.so.1 -> libcuda.so.535.54.03",
                                "libnvidia-nvvm.so.4 -> libnvidia-nvvm.so.535.54.03",
                                "libnvidia-ptxjitcompiler.so.1 -> "
                                "libnvidia-ptxjitcompiler.so.535.54.03"});
  CHECK(plan.warnings.empty());
}

TEST_CASE("planner: a manifest that cannot be read is a warning") {
  const Plan plan = plan_of(with(small_driver(), {{".manifest", "no manifest\n", 0644}}));

  REQUIRE(plan.warnings.size() == 1);
  CHECK(plan.warnings[0].starts_with(".manifest: "));
  CHECK(plan.warnings[0].ends_with("; links are made from the libraries alone"));
  CHECK(links_of(plan).size() == 4);
}

TEST_CASE("planner: a manifest cannot link out of the tree, over a file, or in a circle") {
  const Plan plan = plan_of(with(
      small_driver(), {manifest("libcuda.so.535.54.03 0000 CUDA_SYMLINK NATIVE / libcuda.so.1\n"
                                "libcuda.so.2 0000 CUDA_SYMLINK NATIVE / /etc/passwd\n"
                                "libcuda.so.3 0000 CUDA_SYMLINK NATIVE / ../libcuda.so.535.54.03\n"
                                "libcuda.so.4 0000 CUDA_SYMLINK NATIVE / libcuda.so.4\n"
                                "libcuda.so.5 0000 CUDA_SYMLINK NATIVE / libcuda.so.6\n"
                                "libcuda.so.6 0000 CUDA_SYMLINK NATIVE / libcuda.so.5\n"
                                "libcuda.so.7 0000 CUDA_SYMLINK NATIVE / libnvidia-ml.so.1\n"
                                "env.sh 0000 CUDA_SYMLINK NATIVE / libcuda.so.1\n")}));

  CHECK(links_of(plan).size() == 4);
  CHECK(links_of(plan)[1] == "libcuda.so.1 -> libcuda.so.535.54.03");
}

TEST_CASE("planner: links to links are made in whatever order a manifest has them") {
  // Each row leads to the next one's name, so that only the last can be made at first.
  constexpr int kRows = 40'000;
  std::string rows;
  for (int i = 0; i < kRows; ++i) {
    rows += "libx" + std::to_string(i) + ".so 0000 CUDA_SYMLINK NATIVE / " +
            (i + 1 == kRows ? "libcuda.so.1" : "libx" + std::to_string(i + 1) + ".so") + "\n";
  }
  // Two of one name: that counts which can be made first, and of two such the first.
  rows +=
      "libtwo.so 0000 CUDA_SYMLINK NATIVE / libx0.so\n"
      "libtwo.so 0000 CUDA_SYMLINK NATIVE / libcuda.so.1\n"
      "libtwo.so 0000 CUDA_SYMLINK NATIVE / libcuda.so.535.54.03\n";

  const Lines links = links_of(plan_of(with(small_driver(), {manifest(rows)})));

  const auto has = [&links](const std::string& link) {
    return std::find(links.begin(), links.end(), link) != links.end();
  };
  CHECK(has("libx0.so -> libx1.so"));
  CHECK(has("libx39999.so -> libcuda.so.1"));
  CHECK(has("libtwo.so -> libcuda.so.1"));
}

TEST_CASE("planner: a soname goes before the manifest where the two differ") {
  const Plan plan = plan_of(with(
      small_driver(), {manifest("libcuda.so.1 0000 CUDA_SYMLINK NATIVE / libnvidia-nvvm.so.4\n")}));

  CHECK(links_of(plan)[1] == "libcuda.so.1 -> libcuda.so.535.54.03");
}

TEST_CASE("planner: an archive's own links are kept where they stay beside the tree's files") {
  const Plan plan = plan_with_links(
      small_driver(), {{"libcuda.so.11", "libcuda.so.12"},  // to a link that comes later
                       {"libcuda.so.12", "libcuda.so.535.54.03"},
                       {"32/libcuda.so.13", "libcuda.so.535.54.03"},
                       {"libcuda.so.14", "/usr/lib/libcuda.so.1"},
                       {"libcuda.so.15", "libcuda.so.16"},
                       {"libcuda.so.16", "libcuda.so.15"},
                       {"README", "libcuda.so.1"}});

  CHECK(links_of(plan) ==
        Lines{"libcuda.so -> libcuda.so.1", "libcuda.so.1 -> libcuda.so.535.54.03",
              "libcuda.so.11 -> libcuda.so.12", "libcuda.so.12 -> libcuda.so.535.54.03",
              "libnvidia-nvvm.so.4 -> libnvidia-nvvm.so.535.54.03",
              "libnvidia-ptxjitcompiler.so.1 -> "
              "libnvidia-ptxjitcompiler.so.535.54.03"});
}

TEST_CASE("planner: libraries of two driver versions are refused with both names") {
  const auto plan = try_plan(
      with(small_driver(), {library("libcudadebugger.so.550.54.15", "libcudadebugger.so.1")}),
      test::cuda_request());

  REQUIRE_FALSE(plan);
  CHECK(plan.error().code == Errc::unsupported);
  CHECK(plan.error().what == "libraries of two driver versions");
  CHECK(plan.error().expected == "all of 535.54.03, as libcuda.so.535.54.03");
  CHECK(plan.error().found == "libcudadebugger.so.550.54.15");
}

TEST_CASE("planner: versions that are no driver's do not count") {
  SelectionRequest selection = test::cuda_request();
  selection.all = true;

  const Plan plan =
      plan_of(with(small_driver(),
                   {library("libnvidia-egl-wayland.so.1.1.13", "libnvidia-egl-wayland.so.1"),
                    library("libOpenCL.so.1.0.0", "libOpenCL.so.1")}),
              selection);

  CHECK(plan.driver->text() == "535.54.03");
}

TEST_CASE("planner: a header that says another version is a warning") {
  const Plan plan =
      plan_of(small_driver(), test::cuda_request(), test::sample_bundle_info("570.86.15"));

  CHECK(plan.driver->text() == "535.54.03");
  CHECK(plan.warnings == Lines{"the header says driver 570.86.15, the libraries are of 535.54.03"});
}

TEST_CASE("planner: a header without a version is made up for by the libraries") {
  const Plan plan = plan_of(small_driver(), test::cuda_request(), test::sample_bundle_info("0"));

  CHECK(plan.driver->text() == "535.54.03");
  CHECK(plan.warnings.empty());
}

TEST_CASE("planner: a bundle without a libcuda is refused with what it is instead") {
  struct Case {
    Members members;
    const char* found;
  };
  for (const Case& c :
       {Case{{{"is_vgpu_host_package.txt", "", 0644},
              library("libnvidia-vgpu.so.550.144.02", "libnvidia-vgpu.so.550.144.02")},
             "a vGPU host (hypervisor) package, which has no CUDA libraries"},
        Case{{{"cuda-installer", "", 0755}, {"builds/x.run", "", 0755}},
             "a CUDA toolkit installer; the driver is a .run file of its own inside it"},
        Case{{{"kernel/nvidia.ko", "", 0644}}, "a package of kernel modules"},
        Case{{{"README", "", 0644}}, "an archive that begins with README"},
        Case{{}, "an archive with nothing in it"}}) {
    CAPTURE(c.found);
    const auto plan = try_plan(c.members, test::cuda_request());
    REQUIRE_FALSE(plan);
    CHECK(plan.error().code == Errc::not_recognized);
    CHECK(plan.error().what == "bundle has no libcuda for x86_64");
    CHECK(plan.error().found == c.found);
    CHECK(plan.error().hint == "--include GLOB takes other files out of it");
  }
}

TEST_CASE("planner: a driver of another architecture says which") {
  const auto plan = try_plan(driver("570.86.15", "aarch64"), test::cuda_request());

  REQUIRE_FALSE(plan);
  CHECK(plan.error().found == "libcuda for aarch64");
  CHECK(plan.error().hint == "--arch aarch64");
}

TEST_CASE("planner: include takes files out of a bundle that has no libcuda") {
  SelectionRequest selection = test::cuda_request();
  selection.include = {"README"};

  const Plan plan = plan_of({{"README", "text", 0644}}, selection, test::sample_bundle_info(""));

  CHECK(files_of(plan) == Lines{"README"});
  CHECK_FALSE(plan.files[0].is_program);
  CHECK_FALSE(plan.driver);
  CHECK(plan.texts.empty());
  CHECK(plan.warnings.empty());
}

TEST_CASE(
    "planner: an include that matches nothing, and components that are not there, are refused") {
  SelectionRequest nothing = test::cuda_request();
  nothing.include = {"no-such-file"};
  const auto unmatched = try_plan({{"README", "", 0644}}, nothing);
  REQUIRE_FALSE(unmatched);
  CHECK(unmatched.error().what == "nothing in the bundle matches --include");

  SelectionRequest optix{.components = {Component::optix}, .arch = "x86_64"};
  const auto empty = try_plan(small_driver(), optix);
  REQUIRE_FALSE(empty);
  CHECK(empty.error().what == "bundle has nothing of the components that were asked for");
}

TEST_CASE("planner: of two members of one name the one nearer the root is taken, in any order") {
  const SampleMember root = library("libcuda.so.535.54.03", "libcuda.so.1");
  const SampleMember tls{"tls/libcuda.so.535.54.03",
                         ElfFile().with_soname("libcuda.so.1").with_filler(9).bytes(), 0755};
  for (const Members& members : {Members{root, tls}, Members{tls, root}}) {
    const Plan plan = plan_of(members);
    CHECK(files_of(plan) == Lines{"libcuda.so.535.54.03"});
    CHECK(plan.files[0].from == "libcuda.so.535.54.03");
    REQUIRE(left_out(plan, "tls/libcuda.so.535.54.03") != nullptr);
    CHECK(left_out(plan, "tls/libcuda.so.535.54.03")->reason ==
          "the tree takes its namesake libcuda.so.535.54.03");
  }
}

TEST_CASE("planner: two members of one name, equally near the root, are a conflict unless equal") {
  const SampleMember a = library("a/libcuda.so.535.54.03", "libcuda.so.1");
  SampleMember b = a;
  b.path = "b/libcuda.so.535.54.03";

  const Plan plan = plan_of({b, a});
  CHECK(plan.files[0].from == "a/libcuda.so.535.54.03");
  CHECK(left_out(plan, b.path)->reason == "the same file stands at a/libcuda.so.535.54.03");

  b.content += "more";
  const auto refused = try_plan({b, a}, test::cuda_request());
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == Errc::conflict);
  CHECK(refused.error().found == "a/libcuda.so.535.54.03 and b/libcuda.so.535.54.03");

  // Neither matters where a third stands nearer the root, whichever comes first.
  const SampleMember root = library("libcuda.so.535.54.03", "libcuda.so.1");
  CHECK(plan_of({b, a, root}).files[0].from == root.path);
  CHECK(plan_of({root, b, a}).files[0].from == root.path);
}

TEST_CASE("planner: a member cannot take the name of one of the tree's own files") {
  for (const char* const own :
       {"env.sh", "env.fish", "env.csh", "compatpack.json", "bin/LICENSE"}) {
    CAPTURE(own);
    SelectionRequest selection = test::cuda_request();
    selection.include = {own};
    const auto plan = try_plan(with(small_driver(), {{own, "x", 0644}}), selection);
    REQUIRE_FALSE(plan);
    CHECK(plan.error().code == Errc::conflict);
    CHECK(std::string(own).ends_with(plan.error().found));
  }
}

TEST_CASE("planner: a tree without its compilers is warned of") {
  const Plan plan = plan_of({library("libcuda.so.535.54.03", "libcuda.so.1")});

  REQUIRE(plan.warnings.size() == 2);
  CHECK(plan.warnings[0].starts_with("no libnvidia-ptxjitcompiler in the tree"));
  CHECK(plan.warnings[1].starts_with("no libnvidia-nvvm in the tree"));
  // Packages have no nvvm before CUDA 11.5.
  CHECK(plan_of({library("libcuda.so.460.73.01", "libcuda.so.1")}, test::cuda_request(),
                test::sample_bundle_info("460.73.01"))
            .warnings.size() == 1);
}

TEST_CASE("planner: a library that no component knows is warned of, and left out") {
  const Plan plan =
      plan_of(with(small_driver(), {library("libnvidia-new.so.535.54.03", "libnvidia-new.so.1")}));

  CHECK(plan.warnings ==
        Lines{"libnvidia-new.so.535.54.03: no component knows this library; it may "
              "be new in this driver, and --include takes it"});
  CHECK(left_out(plan, "libnvidia-new.so.535.54.03") != nullptr);
}

TEST_CASE("planner: a component that was asked for says what it may break") {
  SelectionRequest selection = test::cuda_request();
  selection.components.insert(Component::nvml);

  const Plan plan = plan_of(
      with(small_driver(), {library("libnvidia-ml.so.535.54.03", "libnvidia-ml.so.1")}), selection);

  REQUIRE(plan.warnings.size() == 1);
  CHECK(plan.warnings[0].starts_with(
      "component nvml: NVML must have the kernel driver's own version"));
}

TEST_CASE("planner: texts are the activation scripts and the licence") {
  const Plan plan = plan_of(with(small_driver(), {{"LICENSE", "licence\n", 0644}}));

  REQUIRE(plan.texts.size() == 4);
  CHECK(plan.texts[0].at.text() == "LICENSE");
  CHECK(plan.texts[0].content == "licence\n");
  CHECK(plan.texts[1].at.text() == "env.csh");
  CHECK(plan.texts[2].at.text() == "env.fish");
  CHECK(plan.texts[3].at.text() == "env.sh");
  CHECK(plan.texts[3].content.find("/opt/compat") != std::string::npos);
}

TEST_CASE("planner: the order of the members does not show in the plan") {
  Members members = driver("575.57.08");
  const Plan plan = plan_of(members);
  std::reverse(members.begin(), members.end());

  const Plan again = plan_of(members);

  CHECK(files_of(again) == files_of(plan));
  CHECK(links_of(again) == links_of(plan));
  CHECK(again.warnings == plan.warnings);
  REQUIRE(again.left_out.size() == plan.left_out.size());
  for (std::size_t i = 0; i < plan.left_out.size(); ++i) {
    CHECK(again.left_out[i].path == plan.left_out[i].path);
  }
}
