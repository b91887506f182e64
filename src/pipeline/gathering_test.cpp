// SPDX-License-Identifier: Apache-2.0

// What is read for one tree: bundles of every kind, folders, and bundles inside bundles.

#include "compatpack/pipeline/gathering.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <doctest/doctest.h>

#include "support/compress.hpp"
#include "support/deb_file.hpp"
#include "support/elf_file.hpp"
#include "support/rpm_file.hpp"
#include "support/run_file.hpp"
#include "support/sample_driver.hpp"
#include "support/staged.hpp"
#include "support/tar_file.hpp"
#include "support/temp_dir.hpp"

using namespace compatpack;
using namespace compatpack::pipeline;
using compatpack::formats::Compression;
using compatpack::test::DebFile;
using compatpack::test::NvidiaRun;
using compatpack::test::RpmFile;
using compatpack::test::TarFile;
using compatpack::test::TempDir;

namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

constexpr const char* kCompat = "usr/local/cuda-12.4/compat/";

void write(const fs::path& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

std::string deb_of(const std::string& version, const TarFile& data,
                   const std::string& package = "cuda-compat-12-4") {
  const std::string control = "Package: " + package + "\nVersion: " + version +
                              "-1\nArchitecture: amd64\nMaintainer: nobody\nDescription: test\n";
  return DebFile()
      .member("debian-binary", "2.0\n")
      .member("control.tar", TarFile().file("./control", control).bytes())
      .member("data.tar", data.bytes())
      .bytes();
}

/// The libraries of a driver that `wanted` says yes to, below `folder`.
template <class Wanted>
TarFile libraries(const std::string& folder, const std::string& version, Wanted wanted) {
  TarFile tar;
  for (const auto& member : test::make_sample_driver({.version = version, .compat32 = false})) {
    if (member.path.find(".so.") != std::string::npos && wanted(member.path)) {
      tar.file("./" + folder + member.path, member.content, member.mode);
    }
  }
  return tar;
}

bool any(const std::string& /*path*/) { return true; }

std::string compat_deb(const std::string& version = "550.54.15") {
  return deb_of(version, libraries(kCompat, version, any));
}

std::string driver_run(const std::string& version = "550.54.15") {
  const auto members = test::make_sample_driver({.version = version, .compat32 = false});
  return NvidiaRun(test::compress(Compression::gzip, test::make_driver_tar(members)))
      .with_version(version)
      .build()
      .bytes;
}

/// Gathers from files in a folder of its own.
class Reading {
 public:
  explicit Reading(SelectionRequest request = test::cuda_request(), const Limits& limits = {})
      : limits_(limits),
        request_(std::move(request)),
        gatherer_(request_, limits_, nullptr, temp_.path().string()) {}

  Result<Done> read(const std::string& name, std::string_view bytes,
                    const std::string& member = "") {
    write(at(name), bytes);
    return read_path(at(name), member);
  }
  Result<Done> read_path(const fs::path& path, const std::string& member = "") {
    CP_TRY(const auto bundle, Bundle::open(path.string(), nullptr, limits_));
    return gatherer_.read(*bundle, {.limits = limits_}, member);
  }

  Result<Plan> plan() {
    gathered = gatherer_.release();
    return make_plan(gathered, {.selection = request_, .prefix = "/opt/compat"});
  }

  [[nodiscard]] fs::path at(const std::string& name) const { return temp_.path() / name; }
  /// Names of all bundles read, with the number of the one that holds each: "x.deb", "0/y.run".
  [[nodiscard]] Names bundles() const {
    Names names;
    for (const ReadBundle& one : gatherer_.bundles()) {
      names.push_back((one.inside ? std::to_string(*one.inside) + "/" : "") + one.info.name);
    }
    return names;
  }

  Gathered gathered;

 private:
  TempDir temp_;
  Limits limits_;
  SelectionRequest request_;
  Gatherer gatherer_;
};

bool has_file(const Plan& plan, const std::string& name) {
  return std::any_of(plan.files.begin(), plan.files.end(),
                     [&](const PlannedFile& file) { return file.to.text() == name; });
}

Error error_of(const Result<Done>& done) {
  REQUIRE_FALSE(done);
  return done.error();
}

}  // namespace

TEST_CASE("gathering: the libraries of several packages make one plan") {
  const auto is_libcuda = [](const std::string& path) { return path.starts_with("libcuda.so"); };
  Reading reading;

  REQUIRE(reading.read("libcuda1.deb",
                       deb_of("550.54.15", libraries("usr/lib/", "550.54.15", is_libcuda))));
  REQUIRE(reading.read(
      "jit.deb", deb_of("550.54.15", libraries("usr/lib/", "550.54.15",
                                               [&](auto& path) { return !is_libcuda(path); }))));
  CHECK(reading.bundles() == Names{"libcuda1.deb", "jit.deb"});
  const auto plan = reading.plan();

  REQUIRE(plan);
  CHECK(plan->driver->text() == "550.54.15");
  CHECK(has_file(*plan, "libcuda.so.550.54.15"));
  CHECK(has_file(*plan, "libnvidia-ptxjitcompiler.so.550.54.15"));
  const auto jit = std::find_if(plan->files.begin(), plan->files.end(), [](const auto& file) {
    return file.component == "cuda" && file.bundle == 1;
  });
  CHECK(jit != plan->files.end());
}

TEST_CASE("gathering: packages of two drivers are refused, and both are named") {
  const auto is_libcuda = [](const std::string& path) { return path.starts_with("libcuda.so"); };
  Reading reading;
  REQUIRE(reading.read("a.deb", deb_of("550.54.15", libraries("", "550.54.15", is_libcuda))));
  REQUIRE(reading.read("b.deb", deb_of("535.54.03", libraries("", "535.54.03", [&](auto& path) {
                                         return !is_libcuda(path);
                                       }))));

  const auto plan = reading.plan();

  REQUIRE_FALSE(plan);
  CHECK(plan.error().code == Errc::unsupported);
  CHECK(plan.error().expected == "all of 550.54.15, as a.deb: libcuda.so.550.54.15");
  CHECK(plan.error().found.starts_with("b.deb: lib"));
  CHECK(plan.error().found.ends_with("535.54.03"));
}

TEST_CASE("gathering: packages of two architectures are refused, and both are named") {
  Reading reading;
  REQUIRE(reading.read("a.deb", compat_deb()));
  RpmFile rpm;
  rpm.header().text(1022, "aarch64");
  REQUIRE(reading.read(
      "b.rpm",
      rpm.file("/usr/lib64/libcuda.so.550.54.15", test::ElfFile(test::kAarch64).bytes()).bytes()));

  const auto plan = reading.plan();

  REQUIRE_FALSE(plan);
  CHECK(plan.error().code == Errc::unsupported);
  CHECK(plan.error().expected == "all for x86_64, as a.deb");
  CHECK(plan.error().found == "b.rpm, for aarch64");
}

TEST_CASE("gathering: the same file in two bundles is taken once, another of its name is refused") {
  Reading same;
  REQUIRE(same.read("a.deb", compat_deb()));
  REQUIRE(same.read("b.deb", compat_deb()));
  CHECK(same.plan());

  Reading other;
  REQUIRE(other.read("a.deb", compat_deb()));
  const std::string deeper = std::string(kCompat) + "deeper/libcuda.so.550.54.15";
  const std::string content = test::ElfFile().with_soname("libcuda.so.1").bytes();
  REQUIRE(other.read("b.deb", deb_of("550.54.15", TarFile().file("./" + deeper, content))));
  const auto plan = other.plan();
  REQUIRE_FALSE(plan);
  CHECK(plan.error().code == Errc::conflict);
  CHECK(plan.error().found ==
        std::string("a.deb: ") + kCompat + "libcuda.so.550.54.15 and b.deb: " + deeper);
}

TEST_CASE("gathering: licences of several bundles are all kept, the same one once") {
  const auto with_licence = [](const std::string& package, const std::string& text) {
    return deb_of("550.54.15", libraries(package + "/", "550.54.15", [&](const std::string& path) {
                                 return (package == "a") == path.starts_with("libcuda.");
                               }).file("./usr/share/doc/" + package + "/copyright", text));
  };
  const auto licence_of = [&](const std::string& second) {
    Reading reading;
    REQUIRE(reading.read("a.deb", with_licence("a", "one\n")));
    REQUIRE(reading.read("b.deb", with_licence("b", second)));
    const auto plan = reading.plan();
    REQUIRE(plan);
    for (const PlannedText& text : plan->texts) {
      if (text.at.text() == "LICENSE") {
        return text.content;
      }
    }
    return std::string();
  };

  CHECK(licence_of("one\n") == "one\n");
  CHECK(licence_of("two\n") == "==== a.deb ====\none\n\n==== b.deb ====\ntwo\n");
}

TEST_CASE("gathering: a package inside a repository package is found and read") {
  Reading reading;

  REQUIRE(reading.read(
      "repo.deb",
      deb_of("1.0", TarFile()
                        .file("./var/repo/Packages", "text")
                        .file("./var/repo/cuda-toolkit-12-4_12.4.1-1_amd64.deb", "not looked at")
                        .file("./var/repo/cuda-compat-12-4_550.54.15-1_amd64.deb", compat_deb()))));
  const auto plan = reading.plan();

  REQUIRE(plan);
  CHECK(reading.gathered.bundles.size() == 2);
  CHECK(reading.gathered.bundles[1].info.name == "var/repo/cuda-compat-12-4_550.54.15-1_amd64.deb");
  CHECK(reading.gathered.bundles[1].info.path ==
        reading.at("repo.deb").string() + ": var/repo/cuda-compat-12-4_550.54.15-1_amd64.deb");
  CHECK(reading.gathered.bundles[1].inside == 0);
  CHECK(plan->driver->text() == "550.54.15");
  CHECK(plan->files.front().bundle == 1);
}

TEST_CASE("gathering: a driver inside a toolkit's installer is found, in a tar archive too") {
  Reading reading;

  REQUIRE(reading.read(
      "cuda_12.4.1_550.54.15_linux.run",
      NvidiaRun(test::compress(Compression::gzip,
                               TarFile()
                                   .file("./builds/cuda_cudart/lib/stubs/libcuda.so", "a stub")
                                   .file("./builds/NVIDIA-Linux-x86_64-550.54.15.run", driver_run())
                                   .file("./builds/other.run", "not looked at")
                                   .bytes()))
          .build()
          .bytes));
  CHECK(reading.bundles() ==
        Names{"cuda_12.4.1_550.54.15_linux.run", "0/builds/NVIDIA-Linux-x86_64-550.54.15.run"});

  const auto plan = reading.plan();
  REQUIRE(plan);
  CHECK(plan->warnings.empty());
  CHECK(has_file(*plan, "libcuda.so.550.54.15"));
}

TEST_CASE("gathering: members of a bundle and of the one inside it count together") {
  TarFile inside;
  TarFile outside;
  for (int i = 0; i < 6; ++i) {
    inside.file("./text-" + std::to_string(i), "text");
    outside.file("./text-" + std::to_string(i), "text");
  }
  outside.file("./cuda-compat-12-4_550.54.15-1_amd64.deb", deb_of("550.54.15", inside));
  const auto read = [&](std::uint64_t members_max) {
    Reading reading(test::cuda_request(), {.members = members_max});
    return reading.read("repo.deb", deb_of("1.0", outside));
  };

  CHECK(read(7 + 6));
  CHECK(error_of(read(7 + 5)).code == Errc::limit);
}

TEST_CASE("gathering: of several packages inside, --member says which") {
  const TarFile data =
      TarFile()
          .file("./cuda-compat-12-2_535.54.03-1_amd64.deb", compat_deb("535.54.03"))
          .file("./cuda-compat-12-4_550.54.15-1_amd64.deb", compat_deb())
          .file("./cuda-compat-12-4_550.54.15-1_arm64.deb", "not this machine's");
  Reading none;
  const Error several = error_of(none.read("repo.deb", deb_of("1.0", data)));
  CHECK(several.code == Errc::usage);
  CHECK(several.found ==
        "cuda-compat-12-2_535.54.03-1_amd64.deb, cuda-compat-12-4_550.54.15-1_amd64.deb");
  CHECK(several.subject == none.at("repo.deb"));

  Reading wrong;
  const Error unknown = error_of(wrong.read("repo.deb", deb_of("1.0", data), "*13-0*"));
  CHECK(unknown.code == Errc::not_recognized);
  CHECK(unknown.found.find("cuda-compat-12-2_535.54.03-1_amd64.deb") == 0);

  Reading right;
  REQUIRE(right.read("repo.deb", deb_of("1.0", data), "*12-4*amd64*"));
  const auto plan = right.plan();
  REQUIRE(plan);
  CHECK(plan->driver->text() == "550.54.15");
}

TEST_CASE("gathering: with --member nothing else of the outer bundle is taken") {
  Reading reading;

  REQUIRE(reading.read("both.deb",
                       deb_of("550.54.15", libraries(kCompat, "550.54.15", any)
                                               .file("./cuda-compat.deb", compat_deb("535.54.03"))),
                       "cuda-compat.deb"));

  const auto plan = reading.plan();
  REQUIRE(plan);
  CHECK(plan->driver->text() == "535.54.03");
}

TEST_CASE("gathering: where the outer bundle has a libcuda, nothing inside it is opened") {
  Reading reading;

  REQUIRE(reading.read("both.deb", deb_of("550.54.15", libraries(kCompat, "550.54.15", any)
                                                           .file("./cuda-compat-1.deb", "junk"))));

  CHECK(reading.bundles() == Names{"both.deb"});
  CHECK(reading.plan());
}

TEST_CASE("gathering: damage inside a bundle inside is found, and the chain is named") {
  std::string run = driver_run();
  run.back() = static_cast<char>(run.back() ^ 1);
  Reading reading;

  const Error error = error_of(
      reading.read("toolkit.deb", deb_of("1.0", TarFile().file("./NVIDIA-Linux-1.run", run))));

  CHECK(error.code == Errc::mismatch);
  CHECK(error.subject == reading.at("toolkit.deb").string() + ": NVIDIA-Linux-1.run");
}

TEST_CASE("gathering: bundles in bundles without end are refused") {
  std::string bundle = compat_deb();
  for (int i = 0; i < 5; ++i) {
    bundle = deb_of("1.0", TarFile().file("./a.deb", bundle));
  }
  Reading reading;

  CHECK(error_of(reading.read("a.deb", bundle)).code == Errc::limit);
}

TEST_CASE("gathering: an rpm's files are its members, and a ghost is none") {
  const auto members = test::make_sample_driver({.version = "550.54.15", .compat32 = false});
  RpmFile rpm;
  rpm.header().text(1001, "550.54.15");
  rpm.folder("/opt");
  for (const auto& member : members) {
    if (member.path.find(".so.") != std::string::npos) {
      rpm.file("/opt/" + member.path, member.content, 0100000U | member.mode);
    }
  }
  rpm.ghost("/opt/libcuda.so.1");
  Reading reading;

  REQUIRE(reading.read("x.rpm", rpm.bytes()));
  const auto plan = reading.plan();

  REQUIRE(plan);
  CHECK(has_file(*plan, "libcuda.so.550.54.15"));
  const Verification& verification = reading.gathered.bundles[0].verification;
  CHECK(verification.members_checked == plan->files.size());
  CHECK_FALSE(verification.claims.empty());
}

TEST_CASE("gathering: Jetson's package has a CUDA version, and a driver that nobody knows") {
  const auto library = [](const std::string& soname) {
    return test::ElfFile(test::kAarch64).with_soname(soname).bytes();
  };
  const std::string compat = "./usr/local/cuda-13.2/compat_orin/";
  const TarFile data =
      TarFile()
          .file(compat + "libcuda.so.1.1", library("libcuda.so.1"))
          .symlink(compat + "libcuda.so.1", "libcuda.so.1.1")
          .file(compat + "libnvidia-nvvm.so.4.0.0", library("libnvidia-nvvm.so.4"))
          .file(compat + "libnvidia-ptxjitcompiler.so", library("libnvidia-ptxjitcompiler.so.1"));
  Reading reading(test::cuda_request("aarch64"));

  REQUIRE(reading.read("orin.deb", deb_of("13.2.44290101", data, "cuda-compat-orin-13-2")));
  const auto plan = reading.plan();

  REQUIRE(plan);
  CHECK_FALSE(plan->driver);
  REQUIRE(plan->cuda);
  CHECK(plan->cuda->text() == "13.2");
  Names links;
  for (const PlannedLink& link : plan->links) {
    links.push_back(link.at.text() + " -> " + link.target.text());
  }
  CHECK(links == Names{"libcuda.so -> libcuda.so.1", "libcuda.so.1 -> libcuda.so.1.1",
                       "libnvidia-nvvm.so.4 -> libnvidia-nvvm.so.4.0.0",
                       "libnvidia-ptxjitcompiler.so.1 -> libnvidia-ptxjitcompiler.so"});
  CHECK(std::count_if(plan->texts.begin(), plan->texts.end(),
                      [](const auto& text) { return text.at.text().starts_with("env."); }) == 3);
  CHECK(plan->warnings.empty());
}

TEST_CASE("gathering: of several bundles one that gives nothing is warned of, with the reason") {
  Reading reading;
  REQUIRE(reading.read("a.deb", compat_deb()));
  REQUIRE(reading.read("ml.deb",
                       deb_of("550.54.15", TarFile().file("./usr/lib/libnvidia-ml.so.550.54.15",
                                                          test::ElfFile().bytes()))));

  const auto plan = reading.plan();

  REQUIRE(plan);
  REQUIRE_FALSE(plan->warnings.empty());
  CHECK(plan->warnings.back() ==
        "ml.deb: nothing of it is in the tree: component nvml was not asked for");
}

TEST_CASE("gathering: a redistributable archive is a tar like any other, and has no claims") {
  Reading reading;

  REQUIRE(reading.read(
      "nvidia_driver.tar.xz",
      test::compress(Compression::xz, libraries("nvidia_driver-archive/lib/", "550.54.15", any)
                                          .file("./nvidia_driver-archive/LICENSE", "licence\n")
                                          .bytes())));
  const auto plan = reading.plan();

  REQUIRE(plan);
  CHECK(plan->driver->text() == "550.54.15");
  CHECK(reading.gathered.bundles[0].info.kind == BundleKind::tar);
  CHECK(reading.gathered.bundles[0].verification.claims.empty());
  CHECK(std::any_of(plan->texts.begin(), plan->texts.end(),
                    [](const auto& text) { return text.at.text() == "LICENSE"; }));
}

TEST_CASE("gathering: a folder with an unpacked driver is read where it lies") {
  Reading reading;
  const fs::path folder = reading.at("NVIDIA-Linux-x86_64-550.54.15");
  for (const auto& member : test::make_sample_driver({.version = "550.54.15"})) {
    if (member.path.ends_with('/')) {
      fs::create_directories(folder / member.path);
      continue;
    }
    fs::create_directories((folder / member.path).parent_path());
    write(folder / member.path, member.content);
  }
  fs::create_symlink("/etc/shadow", folder / "libnvidia-nvvm.so.4");

  REQUIRE(reading.read_path(folder));
  const auto plan = reading.plan();

  REQUIRE(plan);
  CHECK(plan->driver->text() == "550.54.15");
  CHECK(has_file(*plan, "libcuda.so.550.54.15"));
  const ReadBundle& read = reading.gathered.bundles[0];
  CHECK(read.info.kind == BundleKind::folder);
  CHECK(read.info.name == "NVIDIA-Linux-x86_64-550.54.15");
  CHECK(read.verification.sha256.empty());
}
