// SPDX-License-Identifier: Apache-2.0
#include "compatpack/pipeline/staging.hpp"

#include <doctest/doctest.h>

#include "support/elf_file.hpp"
#include "support/run_file.hpp"
#include "support/staged.hpp"

using namespace compatpack;
using namespace compatpack::pipeline;
using compatpack::formats::EntryType;
using compatpack::test::ElfFile;

namespace {

/// A stager that keeps nothing on disk, and what to show it.
class Staging {
 public:
  explicit Staging(SelectionRequest request = test::cuda_request(), Limits limits = {})
      : request_(std::move(request)), limits_(limits), stager_(request_, limits_, nullptr) {}

  Result<Done> file(const char* path, std::string_view content, std::uint32_t mode_bits = 0644) {
    test::SampleContent source(content);
    return stager_.visit({*RelPath::parse(path), EntryType::file, {content.size()}, mode_bits, ""},
                         source);
  }
  Result<Done> link(EntryType type, const char* path, const char* target) {
    test::SampleContent nothing("");
    return stager_.visit({*RelPath::parse(path), type, {0}, 0777, target}, nothing);
  }
  const Contents& contents() { return stager_.contents(); }

 private:
  SelectionRequest request_;
  Limits limits_;
  Stager stager_;
};

std::string libcuda(test::ElfTarget target = test::kX86_64) {
  return ElfFile(target).with_soname("libcuda.so.1").with_filler(1'000).bytes();
}

/// Member paths, with the number of each.
std::string members_of(const Contents& contents) {
  std::string out;
  for (const auto& [number, member] : contents.members) {
    out += std::to_string(number) + " " + member.path.text() + "\n";
  }
  return out;
}

std::string left_out_of(const Contents& contents) {
  std::string out;
  for (const LeftOut& one : contents.left_out) {
    out += one.path + " [" + one.component + "] " + one.reason + "\n";
  }
  return out;
}

}  // namespace

TEST_CASE("staging: a wanted library is taken with its size, SHA-256 and identity") {
  Staging staging;
  const std::string bytes = libcuda();

  REQUIRE(staging.file("libcuda.so.535.54.03", bytes));

  REQUIRE(staging.contents().members.size() == 1);
  const StagedMember& member = staging.contents().members.at(0);
  CHECK(member.path.text() == "libcuda.so.535.54.03");
  CHECK(member.size == ByteCount{bytes.size()});
  CHECK(member.sha256 == test::reference_sha256(bytes));
  CHECK(member.is_program);
  CHECK(member.component == "cuda");
  REQUIRE(member.elf);
  CHECK(member.elf->soname == "libcuda.so.1");
  CHECK(staging.contents().libcuda_archs == std::vector<std::string>{"x86_64"});
}

TEST_CASE("staging: content of more than a block is taken whole") {
  Staging staging;
  const std::string bytes = ElfFile().with_soname("libcuda.so.1").with_filler(700'000).bytes();

  REQUIRE(staging.file("libcuda.so.535.54.03", bytes));

  CHECK(staging.contents().members.at(0).size == ByteCount{bytes.size()});
  CHECK(staging.contents().members.at(0).sha256 == test::reference_sha256(bytes));
}

TEST_CASE("staging: libraries that are left out are named with their reason, and other files not") {
  Staging staging;

  REQUIRE(staging.file("32/libcuda.so.535.54.03", libcuda(test::kI386)));
  REQUIRE(staging.file("libnvidia-ml.so.535.54.03", "x"));
  REQUIRE(staging.file("libnvidia-new.so.535.54.03", "x"));
  REQUIRE(staging.file("libcuda.so.1", "no library"));
  REQUIRE(staging.file("nvidia-smi", "x"));

  CHECK(staging.contents().members.empty());
  CHECK(left_out_of(staging.contents()) ==
        "32/libcuda.so.535.54.03 [cuda] built for i386\n"
        "libnvidia-ml.so.535.54.03 [nvml] component nvml was not asked for\n"
        "libnvidia-new.so.535.54.03 [] no component knows it; --include takes it\n"
        "libcuda.so.1 [cuda] not a shared library in its content\n");
}

TEST_CASE("staging: the architectures of all libcudas are known, taken or not") {
  SelectionRequest request = test::cuda_request();
  request.exclude = {"lib64/*"};
  Staging staging(request);

  REQUIRE(staging.file("32/libcuda.so.535.54.03", libcuda(test::kI386)));
  REQUIRE(staging.file("lib64/libcuda.so.535.54.03", libcuda()));
  REQUIRE(staging.file("stubs/libcuda.so", libcuda(test::kAarch64)));

  CHECK(staging.contents().libcuda_archs == std::vector<std::string>{"i386", "x86_64"});
  CHECK(left_out_of(staging.contents()) ==
        "32/libcuda.so.535.54.03 [cuda] built for i386\n"
        "lib64/libcuda.so.535.54.03 [] --exclude names it\n"
        "stubs/libcuda.so [] a look-alike for tests or linking, not for use\n");
}

TEST_CASE("staging: manifest and licence are kept as text, and one that is too large is refused") {
  Limits limits;
  limits.kept_text = {10};
  Staging staging(test::cuda_request(), limits);

  REQUIRE(staging.file(".manifest", "rows\n"));
  REQUIRE(staging.file("LICENSE", "licence\n"));
  CHECK(staging.contents().manifests.at(0) == "rows\n");
  CHECK(staging.contents().licences.at(0) == "licence\n");

  const auto large = staging.file("LICENSE", "eleven byte");
  REQUIRE_FALSE(large);
  CHECK(large.error().code == Errc::limit);
  CHECK(large.error().subject == "LICENSE");
}

TEST_CASE("staging: execute bits make a program of what include takes") {
  SelectionRequest request = test::cuda_request();
  request.include = {"nvidia-smi", "nvidia.icd"};
  Staging staging(request);

  REQUIRE(staging.file("nvidia-smi", "#!/bin/sh\n", 0100));
  REQUIRE(staging.file("nvidia.icd", "libnvidia-opencl.so.1\n", 0644));

  CHECK(staging.contents().members.at(0).is_program);
  CHECK_FALSE(staging.contents().members.at(1).is_program);
  CHECK_FALSE(staging.contents().members.at(0).elf);
}

TEST_CASE("staging: of two members of one path the later is taken, and a warning says so") {
  Staging staging;
  const std::string later = ElfFile().with_soname("libcuda.so.1").with_filler(2'000).bytes();

  REQUIRE(staging.file("libcuda.so.535.54.03", libcuda()));
  REQUIRE(staging.file("libcuda.so.535.54.03", later));

  CHECK(members_of(staging.contents()) == "1 libcuda.so.535.54.03\n");
  CHECK(staging.contents().members.at(1).sha256 == test::reference_sha256(later));
  CHECK(staging.contents().warnings ==
        std::vector<std::string>{
            "libcuda.so.535.54.03 stands in the bundle twice; the later one is taken"});
}

TEST_CASE("staging: a library whose ELF tables are damaged is refused by its name") {
  Staging staging;
  const std::string bytes =
      ElfFile().with_soname("libcuda.so.1").with(test::ElfField::dynamic_offset, 1U << 30U).bytes();

  const auto visited = staging.file("libcuda.so.535.54.03", bytes);

  REQUIRE_FALSE(visited);
  CHECK(visited.error().code == Errc::corrupt);
  CHECK(visited.error().subject == "libcuda.so.535.54.03");
}

TEST_CASE("staging: a hard link to itself changes nothing") {
  Staging staging;

  REQUIRE(staging.file("libcuda.so.535.54.03", libcuda()));
  REQUIRE(staging.link(EntryType::hardlink, "libcuda.so.535.54.03", "libcuda.so.535.54.03"));

  CHECK(members_of(staging.contents()) == "0 libcuda.so.535.54.03\n");
  CHECK(staging.contents().warnings.empty());
}

TEST_CASE("staging: a hard link to a library that is taken is a copy of it") {
  Staging staging;

  REQUIRE(staging.file("libcuda.so.535.54.03", libcuda()));
  REQUIRE(staging.link(EntryType::hardlink, "libcuda.so.535", "libcuda.so.535.54.03"));

  CHECK(members_of(staging.contents()) == "0 libcuda.so.535.54.03\n1 libcuda.so.535\n");
  CHECK(staging.contents().members.at(1).sha256 == staging.contents().members.at(0).sha256);
}

TEST_CASE("staging: a hard link that is not wanted is left out") {
  Staging staging;

  REQUIRE(staging.file("libcuda.so.535.54.03", libcuda()));
  REQUIRE(staging.link(EntryType::hardlink, "libnvidia-ml.so.535.54.03", "libcuda.so.535.54.03"));

  CHECK(members_of(staging.contents()) == "0 libcuda.so.535.54.03\n");
}

TEST_CASE("staging: a hard link to what is of another architecture is left out with it") {
  Staging staging;

  REQUIRE(staging.file("32/libcuda.so.535.54.03", libcuda(test::kI386)));
  REQUIRE(staging.link(EntryType::hardlink, "32/libcuda.so.535", "32/libcuda.so.535.54.03"));

  CHECK(left_out_of(staging.contents()) ==
        "32/libcuda.so.535.54.03 [cuda] built for i386\n"
        "32/libcuda.so.535 [cuda] built for i386\n");
}

TEST_CASE("staging: a wanted hard link to a member that was not asked for says what to do") {
  Staging staging;

  REQUIRE(staging.file("blob", libcuda()));
  const auto visited = staging.link(EntryType::hardlink, "libcuda.so.535.54.03", "blob");

  REQUIRE_FALSE(visited);
  CHECK(visited.error().code == Errc::unsupported);
  CHECK(visited.error().subject == "libcuda.so.535.54.03");
  CHECK(visited.error().hint == "take both: --include 'blob'");
}

TEST_CASE("staging: symbolic links are remembered as they stand") {
  Staging staging;

  REQUIRE(staging.link(EntryType::symlink, "lib/libcuda.so.1", "/etc/passwd"));

  REQUIRE(staging.contents().links.size() == 1);
  CHECK(staging.contents().links[0].path.text() == "lib/libcuda.so.1");
  CHECK(staging.contents().links[0].target == "/etc/passwd");
  CHECK(staging.contents().paths == std::vector<std::string>{"lib/libcuda.so.1"});
}
