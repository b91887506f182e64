// SPDX-License-Identifier: Apache-2.0
#include "compatpack/formats/nv_manifest.hpp"

#include <algorithm>
#include <utility>

#include "compatpack/base/text.hpp"

namespace compatpack::formats {
namespace {

constexpr std::size_t kHeaderLines = 8;
constexpr std::size_t kShownMax = 200;  // bytes of a row in a message

using Words = std::vector<std::string_view>;

/// Four or five octal digits.
std::optional<unsigned> parse_mode(std::string_view text) {
  if (text.size() < 4 || text.size() > 5) {
    return std::nullopt;
  }
  unsigned mode = 0;
  for (const char c : text) {
    if (c < '0' || c > '7') {
      return std::nullopt;
    }
    mode = mode << 3U | static_cast<unsigned>(c - '0');
  }
  return mode;
}

bool is_type(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

/// Words that say which variant of a library a row is of, or how an install path comes about.
/// Nothing here needs them.
bool is_variant(std::string_view word) {
  return word == "CLASSIC" || word == "NEW" || word == "GLVND" || word == "NON_GLVND" ||
         word.starts_with("INHERIT_PATH_DEPTH:");
}

/// Sorts the words behind the type; those that are none of the known ones come back in order.
Words take_known(ManifestEntry& entry, const Words& words) {
  constexpr std::string_view kModule = "MODULE:";
  Words rest;
  for (const std::string_view word : words) {
    if (word == "NATIVE") {
      entry.width = ManifestWidth::native;
    } else if (word == "COMPAT32") {
      entry.width = ManifestWidth::compat32;
    } else if (word.starts_with(kModule)) {
      entry.module = word.substr(kModule.size());
    } else if (!is_variant(word)) {
      rest.push_back(word);
    }
  }
  return rest;
}

Result<ManifestEntry> parse_row(std::string_view line) {
  const auto bad = [line](const char* why) {
    return Error{.code = Errc::corrupt, .what = why, .found = std::string(line)};
  };
  const Words words = split_words(line);
  if (words.size() < 3) {
    return bad("fewer than three words");
  }
  auto file = RelPath::parse(words[0]);
  if (!file || file->text() == ".") {
    return bad(file ? "the file is the payload itself" : "the file's path leaves the payload");
  }
  const auto mode = parse_mode(words[1]);
  if (!mode) {
    return bad("the mode is not four or five octal digits");
  }
  if (!is_type(words[2])) {
    return bad("the type is not a word in capitals");
  }
  ManifestEntry entry{.file = *std::move(file), .mode = *mode, .type = std::string(words[2])};
  const Words rest = take_known(entry, Words(words.begin() + 3, words.end()));
  // Only links have two of these; of one alone, the slash at its end tells a folder.
  const bool one_is_target = entry.is_link() && rest.size() == 1 && !rest[0].ends_with('/');
  if (!rest.empty() && !one_is_target) {
    entry.folder = rest[0];
  }
  if (one_is_target || (entry.is_link() && rest.size() > 1)) {
    entry.target = rest[one_is_target ? 0 : 1];
  }
  return entry;
}

}  // namespace

bool ManifestEntry::is_link() const {
  return type.ends_with("_SYMLINK") || type == "XMODULE_NEWSYM";
}

Result<NvManifest> parse_nv_manifest(std::string_view text) {
  std::string_view rest = text;
  const auto offset = [&] { return ByteOffset{text.size() - rest.size()}; };

  Words header;
  while (header.size() < kHeaderLines && !rest.empty()) {
    header.push_back(take_line(rest));
  }
  if (header.size() < kHeaderLines) {
    return Error{.code = Errc::corrupt,
                 .what = ".manifest ends in its header",
                 .at = offset(),
                 .expected = std::to_string(kHeaderLines) + " lines",
                 .found = std::to_string(header.size()) + " lines"};
  }
  NvManifest manifest{.description = std::string(header[0]),
                      .version = std::string(trim(header[1]))};
  if (manifest.version.empty()) {
    return Error{.code = Errc::corrupt,
                 .what = ".manifest names no version",
                 .at = ByteOffset{header[0].size() + 1},
                 .expected = "a version, in line 2",
                 .found = "a blank line"};
  }
  for (std::size_t line = kHeaderLines + 1; !rest.empty(); ++line) {
    const ByteOffset at = offset();
    const std::string_view row = take_line(rest);
    if (row.empty()) {
      break;
    }
    if (row.size() > kManifestRowMax || line > kHeaderLines + kManifestRowsMax) {
      const bool long_row = row.size() > kManifestRowMax;
      return Error{
          .code = Errc::limit,
          .what = long_row ? ".manifest has a row that is too long" : ".manifest has too many rows",
          .at = at,
          .expected = long_row ? "at most " + std::to_string(kManifestRowMax) + " bytes"
                               : "at most " + std::to_string(kManifestRowsMax) + " rows"};
    }
    auto entry = parse_row(row);
    if (entry) {
      manifest.entries.push_back(*std::move(entry));
    } else if (++manifest.ignored_count <= kManifestIgnoredMax) {
      manifest.ignored.push_back({line, entry.error().what, std::string(row.substr(0, kShownMax))});
    }
  }
  return manifest;
}

}  // namespace compatpack::formats
