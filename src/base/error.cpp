// SPDX-License-Identifier: Apache-2.0
#include "compatpack/base/error.hpp"

#include <system_error>
#include <utility>

#include "compatpack/base/text.hpp"

namespace compatpack {
namespace {

// A part quoted from input is cut here, so that one message stays one screen.
constexpr std::size_t kPartMax = 400;

std::string shown(std::string_view part) {
  if (part.size() <= kPartMax) {
    return printable(part);
  }
  return printable(part.substr(0, kPartMax)) + "...";
}

void add_detail(std::string& out, std::string_view name, std::string_view value) {
  if (value.empty()) {
    return;
  }
  constexpr std::size_t kColumn = 10;  // "expected: "
  std::string label = std::string(name) + ":";
  label.resize(kColumn, ' ');
  out += "  " + label + shown(value) + "\n";
}

}  // namespace

std::string render(const Error& error) {
  std::string out;
  if (!error.subject.empty()) {
    out += shown(error.subject) + ": ";
  }
  out += shown(error.what) + "\n";
  if (error.at) {
    const std::string of = error.stream.empty() ? "" : " of " + error.stream;
    add_detail(out, "at", "byte " + std::to_string(error.at->value) + of);
  }
  add_detail(out, "expected", error.expected);
  add_detail(out, "found", error.found);
  add_detail(out, "hint", error.hint);
  return out;
}

Error io_error(std::string what, std::string subject, int error_number) {
  return Error{.code = Errc::io,
               .what = std::move(what),
               .subject = std::move(subject),
               .found = std::generic_category().message(error_number)};
}

int exit_status(Errc code) {
  switch (code) {
    case Errc::conflict:
    case Errc::io:
    case Errc::interrupted:
      return 1;
    case Errc::usage:
      return 2;
    case Errc::not_recognized:
    case Errc::corrupt:
    case Errc::unsupported:
    case Errc::limit:
    case Errc::unsafe_path:
      return 3;
    case Errc::mismatch:
      return 4;
  }
  return 70;
}

}  // namespace compatpack
