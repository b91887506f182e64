// SPDX-License-Identifier: Apache-2.0
#include "compatpack/base/arch.hpp"

#include <set>

#include <doctest/doctest.h>

using namespace compatpack;

TEST_CASE("arch: what others call an architecture is one of our names") {
  for (const ArchRow& row : archs()) {
    CAPTURE(row.name);
    CHECK(our_arch(row.name) == row.name);
    CHECK(our_arch(row.debian) == row.name);
  }
  for (const char* const name : {"i386", "i486", "i586", "i686", "x86"}) {
    CAPTURE(name);
    CHECK(our_arch(name) == "i386");
  }
}

TEST_CASE("arch: what says none is none, and what is not known stays") {
  CHECK(our_arch("all").empty());
  CHECK(our_arch("noarch").empty());
  CHECK(our_arch("").empty());
  for (const char* const name : {"riscv64", "amd", "i86", "x86-64", "arm64e"}) {
    CAPTURE(name);
    CHECK(our_arch(name) == name);
  }
}

TEST_CASE("arch: no two have a name or an ELF machine in common") {
  std::set<std::string_view> names;
  std::set<unsigned> machines;
  for (const ArchRow& row : archs()) {
    CHECK(names.insert(row.name).second);
    CHECK(machines.insert(row.machine).second);
  }
}
