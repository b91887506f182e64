// SPDX-License-Identifier: Apache-2.0
#include "compatpack/pipeline/target.hpp"

#include <doctest/doctest.h>

using namespace compatpack;
using namespace compatpack::pipeline;

TEST_CASE("target: the system's library folders, and all below them, are refused") {
  for (const char* const path :
       {"/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/lib/x86_64-linux-gnu", "/lib/compat",
        "/usr/lib32/x", "/usr/local/lib", "/usr/local/lib64/compat", "/run/opengl-driver/lib"}) {
    CAPTURE(path);
    const auto checked = check_tree_path(path);
    REQUIRE_FALSE(checked);
    CHECK(checked.error().code == Errc::conflict);
    CHECK(checked.error().subject == path);
  }
}

TEST_CASE("target: folders whose names only begin like those are fine") {
  for (const char* const path :
       {"/usr/local/cuda/compat", "/opt/compat", "/libs", "/usr/library", "/usr/lib64x",
        "/home/user/usr/lib", "/usr/local/libcuda", "/a b", "/a\nb", "/\xff"}) {
    CAPTURE(path);
    CHECK(check_tree_path(path));
  }
}

TEST_CASE("target: a path that LD_LIBRARY_PATH cannot carry is refused with the letter") {
  struct Case {
    const char* path;
    const char* letter;
  };
  for (const Case& c :
       {Case{"/a:b", ":"}, Case{"/a;b", ";"}, Case{"/$ORIGIN", "$"}, Case{"/usr/lib:x", ":"}}) {
    CAPTURE(c.path);
    const auto checked = check_tree_path(c.path);
    REQUIRE_FALSE(checked);
    CHECK(checked.error().code == Errc::usage);
    CHECK(checked.error().found == c.letter);
  }
}

TEST_CASE("target: a relative path is refused") {
  CHECK(check_tree_path("compat").error().code == Errc::usage);
  CHECK(check_tree_path("compat").error().subject == "compat");
  CHECK(check_tree_path("").error().subject == "--prefix");
}
