// SPDX-License-Identifier: Apache-2.0
#include "rows.hpp"

#include <algorithm>
#include <array>
#include <sstream>

#include <doctest/doctest.h>

using namespace compatpack::commands;

namespace {

/// A terminal of `width` columns, and what was written to it.
struct Screen {
  explicit Screen(int width)
      : env{.out = out,
            .err = err,
            .err_is_terminal = false,
            .width = width,
            .no_color = true,
            .host_arch = "x86_64",
            .host_glibc = "2.36",
            .interrupted = [] { return false; },
            .now = &std::chrono::steady_clock::now},
        console(env, {}) {}

  std::ostringstream out;
  std::ostringstream err;
  Env env;
  Console console;
};

}  // namespace

TEST_CASE("rows: the verdict comes first, then what to do, then facts behind a blank line") {
  Screen screen(80);
  const auto next = std::to_array<std::string>({"do this", "or that"});
  Rows rows(screen.env, screen.console);

  rows.verdict("no", "it is so", next);
  rows.fact("GPU", "none seen");
  rows.fact("kernel driver", "535.129.03");

  CHECK(screen.out.str() ==
        "no: it is so\n  next: do this\n  next: or that\n\n"
        "GPU            none seen\nkernel driver  535.129.03\n");
}

TEST_CASE("rows: without facts there is no blank line, and bytes of a host are made printable") {
  Screen screen(80);

  Rows(screen.env, screen.console).verdict("no", "a \x1b[31mname", {});

  CHECK(screen.out.str() == "no: a \\x1b[31mname\n");
}

TEST_CASE("rows: lines stay within 100 columns however wide the terminal, and use 60 at least") {
  for (const int width : {1, 80, 1000}) {
    CAPTURE(width);
    Screen screen(width);
    std::string text = "word";
    for (int i = 0; i < 99; ++i) {
      text += " word";
    }

    Rows(screen.env, screen.console).fact("label", text);

    const std::string shown = screen.out.str();
    const auto longest = shown.find('\n');
    CHECK(longest <= static_cast<std::size_t>(std::clamp(width, 60, 100)));
    CHECK(longest > static_cast<std::size_t>(std::clamp(width, 60, 100)) - 5);
    CHECK(shown.substr(longest, 17) == "\n               w");
  }
}
