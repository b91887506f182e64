// SPDX-License-Identifier: Apache-2.0
// Any text: the parser must return; every row is an entry or was put aside; every entry's words are
// in the text; and a manifest written out of the entries gives the same entries.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "compatpack/base/bytes.hpp"
#include "compatpack/formats/nv_manifest.hpp"

using namespace compatpack;
using formats::ManifestEntry;
using formats::ManifestWidth;

namespace {

void require(bool holds) {
  if (!holds) {
    std::abort();
  }
}

std::string octal(unsigned mode) {
  std::string digits;
  for (unsigned shift = 15; shift <= 15; shift -= 3) {
    digits += static_cast<char>('0' + (mode >> shift & 7U));
  }
  return digits.substr(1);  // five of them
}

std::string row_of(const ManifestEntry& entry) {
  std::string row = entry.file.text() + " " + octal(entry.mode) + " " + entry.type;
  if (entry.width != ManifestWidth::none) {
    row += entry.width == ManifestWidth::native ? " NATIVE" : " COMPAT32";
  }
  for (const std::string& word : {entry.folder, entry.target.value_or("")}) {
    row += word.empty() ? "" : " " + word;
  }
  return row + (entry.module.empty() ? "" : " MODULE:" + entry.module) + "\n";
}

bool same(const ManifestEntry& a, const ManifestEntry& b) {
  return a.file == b.file && a.mode == b.mode && a.type == b.type && a.width == b.width &&
         a.folder == b.folder && a.target == b.target && a.module == b.module;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = as_text(std::as_bytes(std::span(data, size)));
  const auto manifest = formats::parse_nv_manifest(text);
  if (!manifest) {
    require(manifest.error().at && manifest.error().at->value <= size);
    static_cast<void>(render(manifest.error()));
    return 0;
  }
  const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + 1;
  require(8 + manifest->entries.size() + manifest->ignored_count <= lines);
  require(manifest->ignored.size() ==
          std::min(manifest->ignored_count, formats::kManifestIgnoredMax));
  std::string again = "a\n1\n \n \n \n \n \n \n";
  for (const ManifestEntry& entry : manifest->entries) {
    require(text.find(entry.file.text()) != std::string_view::npos);
    require(!entry.target || entry.is_link());
    again += row_of(entry);
  }
  const auto second = formats::parse_nv_manifest(again);
  require(second && second->entries.size() == manifest->entries.size());
  for (std::size_t i = 0; i < second->entries.size(); ++i) {
    require(same(second->entries[i], manifest->entries[i]));
  }
  return 0;
}
