// SPDX-License-Identifier: Apache-2.0
#include "compatpack/formats/deb_control.hpp"

#include <vector>

#include <doctest/doctest.h>

using namespace compatpack;
using namespace compatpack::formats;

namespace {

constexpr const char* kControl =
    "Package: cuda-compat-12-4\n"
    "Version: 550.54.15-1\n"
    "Architecture: amd64\n";

constexpr const char* kSum = "d41d8cd98f00b204e9800998ecf8427e";

std::string line(const std::string& rest) { return kSum + rest + "\n"; }

}  // namespace

TEST_CASE("deb_control: a package says what it is") {
  const auto control = parse_deb_control(
      "# made by hand\n"
      "Package: libcuda1\n"
      "Source: nvidia-graphics-drivers (535.1-1)\n"
      "VERSION:1:535.54.03-1~deb12u1 \n"
      "Architecture:\tamd64\n"
      "Description: one line\n"
      " and another\n"
      "\t.\n"
      "# within\n"
      " last: not a field\n"
      "\n \n");

  REQUIRE(control);
  CHECK(control->package == "libcuda1");
  CHECK(control->version == "1:535.54.03-1~deb12u1");
  CHECK(control->upstream_version() == "535.54.03");
  CHECK(control->architecture == "amd64");
  CHECK(control->source == "nvidia-graphics-drivers");
  REQUIRE(control->fields.size() == 5);
  CHECK(control->find("description")->value == "one line\nand another\n.\nlast: not a field");
  CHECK(control->find("version")->at.value == 75);
  CHECK(control->find("last") == nullptr);
}

TEST_CASE("deb_control: a binary package without Source is named after it") {
  const auto control = parse_deb_control(kControl);

  REQUIRE(control);
  CHECK(control->source == "cuda-compat-12-4");
}

TEST_CASE("deb_control: the upstream version is between epoch and last revision") {
  const auto upstream = [](const char* version) {
    return std::string(
        DebControl{.package = {}, .version = version, .architecture = {}}.upstream_version());
  };

  CHECK(upstream("550.54.15") == "550.54.15");
  CHECK(upstream("550.54.15-0ubuntu1") == "550.54.15");
  CHECK(upstream("2:1.0-rc1-3") == "1.0-rc1");
  CHECK(upstream("1:2") == "2");
  CHECK(upstream("").empty());
}

TEST_CASE("deb_control: what is wrong with a control file is in the error") {
  struct Case {
    const char* name;
    std::string text;
    std::uint64_t at;
    const char* found;
  };
  const std::string control = kControl;
  const std::uint64_t end = control.size();
  const std::vector<Case> cases = {
      {"nothing", "", 0, "none"},
      {"only a comment", "# x\n", 4, "none"},
      {"no package", "Version: 1\nArchitecture: all\n", 29, "none"},
      {"no version", "Package: a\nArchitecture: all\n", 29, "none"},
      {"no architecture", "Package: a\nVersion: 1\n", 22, "none"},
      {"empty version", "Package: a\nVersion: \nArchitecture: all\n", 11, "an empty one"},
      {"field twice", control + "PACKAGE: b\n", end, "PACKAGE"},
      {"no field", control + "no colon\n", end, "no colon"},
      {"no name", control + ": x\n", end, ": x"},
      {"name with a blank", control + "A b: x\n", end, "A b: x"},
      {"name with a dash", control + "-a: x\n", end, "-a: x"},
      {"name of other letters", control + "\xc3\xa9: x\n", end, "\xc3\xa9: x"},
      {"goes on from nothing", " x\n" + control, 0, " x"},
      {"second paragraph", control + "\nPackage: b\n", end + 1, "Package: b"},
      {"goes on behind the end", control + "\n x\n", end + 1, " x"},
      {"NUL", control + std::string("X: \0\n", 5), end + 3, "\\0"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);

    const auto parsed = parse_deb_control(c.text);

    REQUIRE_FALSE(parsed);
    CHECK(parsed.error().code == Errc::corrupt);
    CHECK(parsed.error().found == c.found);
    REQUIRE(parsed.error().at);
    CHECK(parsed.error().at->value == c.at);
  }
}

TEST_CASE("deb_control: a control file has a limited number of fields") {
  std::string text = kControl;
  for (int i = 3; i < 200; ++i) {
    text += "Field-" + std::to_string(i) + ": x\n";
  }
  CHECK(parse_deb_control(text));

  const auto parsed = parse_deb_control(text + "One-More: x\n");

  REQUIRE_FALSE(parsed);
  CHECK(parsed.error().code == Errc::limit);
}

TEST_CASE("deb_control: md5sums come out in order, escapes undone, ./ and * taken off") {
  const auto sums =
      parse_md5sums(line("  usr/lib/libcuda.so.1") + "\n" + line("  ./usr/share/a b") +
                    line(" *usr/lib/binary") + "\\" + line("  usr/a\\\\b\\nc\\rd") +
                    line("  usr/a\\b") + "D41D8CD98F00B204E9800998ECF8427E  usr/upper");

  REQUIRE(sums);
  REQUIRE(sums->size() == 6);
  CHECK((*sums)[0].path.text() == "usr/lib/libcuda.so.1");
  CHECK((*sums)[0].md5 == kSum);
  CHECK((*sums)[1].path.text() == "usr/share/a b");
  CHECK((*sums)[2].path.text() == "usr/lib/binary");
  CHECK((*sums)[3].path.text() == "usr/a\\b\nc\rd");
  CHECK((*sums)[4].path.text() == "usr/a\\b");
  CHECK((*sums)[5].md5 == kSum);
}

TEST_CASE("deb_control: what is wrong with md5sums is in the error") {
  struct Case {
    const char* name;
    std::string text;
    Errc code;
    std::uint64_t at;
  };
  const std::vector<Case> cases = {
      {"short", "d41d8cd9  x\n", Errc::corrupt, 0},
      {"not hexadecimal", std::string(32, 'g') + "  x\n", Errc::corrupt, 0},
      {"SHA-1", std::string(40, 'a') + "  x\n", Errc::corrupt, 0},
      {"one blank", line(" x"), Errc::corrupt, 0},
      {"tab", line("\tx"), Errc::corrupt, 0},
      {"digits alone", kSum, Errc::corrupt, 0},
      {"no path", line("  "), Errc::unsafe_path, 0},
      {"absolute", line("  /etc/passwd"), Errc::unsafe_path, 0},
      {"leaves", line("  a") + line("  ../x"), Errc::unsafe_path, 36},
      {"escaped line end", "\\" + line("  a\\"), Errc::corrupt, 0},
      {"unknown escape", "\\" + line("  a\\t"), Errc::corrupt, 0},
      {"twice", line("  a") + line("  ./a"), Errc::corrupt, 36},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);

    const auto sums = parse_md5sums(c.text);

    REQUIRE_FALSE(sums);
    CHECK(sums.error().code == c.code);
    REQUIRE(sums.error().at);
    CHECK(sums.error().at->value == c.at);
  }
}
