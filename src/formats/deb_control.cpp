// SPDX-License-Identifier: Apache-2.0
#include "compatpack/formats/deb_control.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "compatpack/base/digest_claim.hpp"
#include "compatpack/base/text.hpp"

namespace compatpack::formats {
namespace {

// A control file has a dozen fields, with every one that Debian's policy knows about forty.
constexpr std::size_t kFieldsMax = 200;

Error corrupt_control(std::string what, std::size_t at, std::string expected,
                      std::string_view found) {
  return Error{.code = Errc::corrupt,
               .what = std::move(what),
               .at = ByteOffset{at},
               .expected = std::move(expected),
               .found = std::string(found)};
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool same_name(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower(x) == lower(y); });
}

/// As Debian's policy has it: printable ASCII without blank and colon, not beginning with # or -.
bool is_field_name(std::string_view name) {
  return !name.empty() && name.front() != '-' && name.front() != '#' &&
         std::all_of(name.begin(), name.end(), [](char c) { return c > ' ' && c < '\x7f'; });
}

Result<std::string> required(const DebControl& control, std::string_view name, std::size_t end) {
  const DebField* const field = control.find(name);
  if (field == nullptr || field->value.empty()) {
    return corrupt_control("control file does not say what the package is",
                           field == nullptr ? end : static_cast<std::size_t>(field->at.value),
                           "a field " + std::string(name),
                           field == nullptr ? "none" : "an empty one");
  }
  return field->value;
}

/// Undoes what GNU md5sum does to a name with a line end or a backslash; nullopt if it did not.
std::optional<std::string> unescape(std::string_view name) {
  std::string out;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] != '\\') {
      out += name[i];
      continue;
    }
    ++i;
    const char c = i < name.size() ? name[i] : '\0';
    if (c != 'n' && c != 'r' && c != '\\') {
      return std::nullopt;
    }
    out += c == 'n' ? '\n' : c == 'r' ? '\r' : '\\';
  }
  return out;
}

Result<DebSum> parse_sum(std::string_view line, std::size_t at) {
  std::string_view rest = line;
  const bool escaped = rest.starts_with('\\');
  rest.remove_prefix(escaped ? 1 : 0);
  const std::size_t digits = hex_digits(DigestAlgorithm::md5);
  auto md5 = parse_hex(rest.substr(0, digits), digits);
  rest.remove_prefix(std::min(digits, rest.size()));
  // A star in place of the second blank says that the file was read as binary.
  const bool separated = rest.starts_with("  ") || rest.starts_with(" *");
  rest.remove_prefix(separated ? 2 : 0);
  const auto name = escaped ? unescape(rest) : std::optional(std::string(rest));
  if (!md5 || !separated || !name) {
    return corrupt_control("md5sums has a malformed line", at,
                           "32 hexadecimal digits, two blanks, a path", line);
  }
  auto path = RelPath::parse(*name);
  if (!path) {
    Error error = std::move(path).error();
    error.at = ByteOffset{at};
    return error;
  }
  return DebSum{*std::move(path), *std::move(md5)};
}

}  // namespace

std::string_view DebControl::upstream_version() const {
  std::string_view text = version;
  if (const std::size_t colon = text.find(':'); colon != std::string_view::npos) {
    text.remove_prefix(colon + 1);
  }
  return text.substr(0, text.rfind('-'));
}

const DebField* DebControl::find(std::string_view name) const {
  const auto it = std::find_if(fields.begin(), fields.end(), [name](const DebField& field) {
    return same_name(field.name, name);
  });
  return it == fields.end() ? nullptr : &*it;
}

Result<DebControl> parse_deb_control(std::string_view text) {
  if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos) {
    return corrupt_control("control file is no text", nul, "no NUL", "\\0");
  }
  DebControl control{.package = {}, .version = {}, .architecture = {}};
  bool ended = false;  // by an empty line
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t at = text.size() - rest.size();
    const std::string_view line = take_line(rest);
    if (line.starts_with('#')) {
      continue;
    }
    if (trim(line).empty()) {
      ended = !control.fields.empty();
      continue;
    }
    if (ended) {
      return corrupt_control("control file has a second paragraph", at, "one", line);
    }
    if (line.front() == ' ' || line.front() == '\t') {
      if (control.fields.empty()) {
        return corrupt_control("control file begins within a field", at, "a field's name", line);
      }
      control.fields.back().value += "\n" + std::string(trim(line));
      continue;
    }
    const std::size_t colon = line.find(':');
    const std::string_view name = line.substr(0, colon);
    if (colon == std::string_view::npos || !is_field_name(name)) {
      return corrupt_control("control file has a malformed line", at,
                             "a name, a colon, and a value", line);
    }
    if (control.find(name) != nullptr) {
      return corrupt_control("control file has a field twice", at, "one of each", name);
    }
    if (control.fields.size() == kFieldsMax) {
      return Error{.code = Errc::limit,
                   .what = "control file has too many fields",
                   .at = ByteOffset{at},
                   .expected = "at most " + std::to_string(kFieldsMax),
                   .found = std::string(name)};
    }
    control.fields.push_back(
        {std::string(name), std::string(trim(line.substr(colon + 1))), ByteOffset{at}});
  }
  CP_TRY(control.package, required(control, "Package", text.size()));
  CP_TRY(control.version, required(control, "Version", text.size()));
  CP_TRY(control.architecture, required(control, "Architecture", text.size()));
  const DebField* const source = control.find("Source");  // "nvidia-graphics-drivers (550.54.15-1)"
  control.source = source == nullptr ? control.package
                                     : source->value.substr(0, source->value.find_first_of(" \t("));
  return control;
}

Result<std::vector<DebSum>> parse_md5sums(std::string_view text) {
  std::vector<DebSum> sums;
  std::set<std::string> seen;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t at = text.size() - rest.size();
    const std::string_view line = take_line(rest);
    if (line.empty()) {
      continue;
    }
    CP_TRY(DebSum sum, parse_sum(line, at));
    if (!seen.insert(sum.path.text()).second) {
      return corrupt_control("md5sums has a path twice", at, "one line for each", sum.path.text());
    }
    sums.push_back(std::move(sum));
  }
  return sums;
}

}  // namespace compatpack::formats
