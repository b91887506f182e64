// SPDX-License-Identifier: Apache-2.0
#include "shell_assignments.hpp"

#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

using namespace compatpack;
using namespace compatpack::formats;

namespace {

/// "name=value" for each assignment, one a line; line ends within values as "\n".
std::string shown(std::string_view script) {
  std::string out;
  for (const ShellAssignment& one : scan_shell_assignments(script)) {
    out += (out.empty() ? "" : "\n") + std::string(one.name) + "=" + one.value;
  }
  return out;
}

}  // namespace

// Each value is what dash 0.5.12 and bash 5.2 give the variable, but for $ and `, which stay.
TEST_CASE("shell_assignments: a value is one word, as the shell reads it") {
  struct Case {
    const char* script;
    const char* shown;
  };
  const Case cases[] = {
      {"skip=1022\n", "skip=1022"},
      {"skip=1022", "skip=1022"},
      {"skip=\n", "skip="},
      {"skip=\"666\"\n", "skip=666"},
      {"a='b c'\n", "a=b c"},
      {"a=\"b 'c'\"\n", "a=b 'c'"},
      {"a='b \"c\" \\n'\n", "a=b \"c\" \\n"},
      {"label=\"A \"quoted\" label\"\n", "label=A quoted label"},
      {"label=\"A \"two words\" label\"\nb=1\n", "label=A two\nb=1"},
      {"a=\"\\\"b\\\\ \\`c\\` \\$d \\e\"\n", "a=\"b\\ `c` $d \\e"},
      {"a=b\\ c\\\"d\n", "a=b c\"d"},
      {"a=\"b\\\nc\"\n", "a=bc"},
      {"a=b\\\nc\n", "a=bc"},
      {"a='b\\\n'\n", "a=b\\\n"},
      {"TMPROOT=${TMPDIR:=/tmp}\n", "TMPROOT=${TMPDIR:=/tmp}"},
      {"d=`dirname \"$0\"`\nb=1\n", "d=`dirname \"$0\"`\nb=1"},
      {"a=1; b=2\nc=3&\nd=4|e\nf=5 g=6\n", "a=1\nc=3\nd=4\nf=5"},
      {"a=1 # not a value\n", "a=1"},
      {"MD5=abc\r\nb=1\r\n", "MD5=abc\nb=1"},
      {"a==b\n", "a==b"},
      {"a=\"\"\n", "a="},
  };
  for (const Case& c : cases) {
    CAPTURE(c.script);
    CHECK(shown(c.script) == c.shown);
  }
}

TEST_CASE("shell_assignments: only a name at the start of a line is assigned to") {
  for (const char* const script :
       {"", "\n\n", " a=1\n", "\ta=1\n", "export a=1\n", "#a=1\n", "=1\n", "1a=1\n", "a-b=1\n",
        "a\n=1\n", "a =1\n", "a", "if test a=1\n", "echo \"a\"=1\n", "\xc3\xa4=1\n"}) {
    CAPTURE(script);
    CHECK(shown(script).empty());
  }
  CHECK(shown("_a9Z=1\n") == "_a9Z=1");
}

TEST_CASE("shell_assignments: what stands within a value assigns nothing") {
  CHECK(shown("licensetxt=\"You may\nskip=5\nsay \\\"no\\\"\nskip=6\n\"\nskip=\"666\"\n") ==
        "licensetxt=You may\nskip=5\nsay \"no\"\nskip=6\n\nskip=666");
  CHECK(shown("helpheader='\nskip=5\n'\nb=1\n") == "helpheader=\nskip=5\n\nb=1");
  CHECK(shown("a=`echo\nskip=5\n`\nb=1\n") == "a=`echo\nskip=5\n`\nb=1");
}

TEST_CASE("shell_assignments: what a value leaves of its line is not looked at") {
  CHECK(shown("a=1 b=2\nc=3\n") == "a=1\nc=3");
  CHECK(shown("a=\"1\n2\" b=2\nc=3\n") == "a=1\n2\nc=3");
}

TEST_CASE("shell_assignments: places are those of the name and behind the value") {
  const std::string_view script = "#!/bin/sh\na=\"b\nc\"\nd=e";

  const auto all = scan_shell_assignments(script);

  REQUIRE(all.size() == 2);
  CHECK(all[0].at == ByteOffset{10});
  CHECK(script.substr(all[0].at.value, all[0].end.value - all[0].at.value) == "a=\"b\nc\"");
  CHECK(all[1].at == ByteOffset{18});
  CHECK(all[1].end == ByteOffset{script.size()});
  CHECK(all[1].name.data() == script.data() + 18);
}

TEST_CASE("shell_assignments: a quote that is never closed ends with the script") {
  for (const char* const script :
       {"a=\"b\nc=1\n", "a='b\nc=1\n", "a=`b\nc=1\n", "a=\"", "a=\"\\"}) {
    CAPTURE(script);
    const auto all = scan_shell_assignments(script);

    REQUIRE(all.size() == 1);
    CHECK(all[0].end == ByteOffset{std::string_view(script).size()});
  }
}

TEST_CASE("shell_assignments: what it keeps has a limit, however much there is") {
  std::string script;
  for (std::size_t i = 0; i < kShellAssignmentsMax + 5; ++i) {
    script += "a=\n";
  }
  CHECK(scan_shell_assignments(script).size() == kShellAssignmentsMax);
}

TEST_CASE("shell_assignments: a value as long as a licence can be is read whole") {
  const std::string licence(std::size_t{200} << 10U, 'x');

  const auto all = scan_shell_assignments("a=\"" + licence + "\"\nb=1\n");

  REQUIRE(all.size() == 2);
  CHECK((all[0].value == licence));
  CHECK(all[1].value == "1");
}
