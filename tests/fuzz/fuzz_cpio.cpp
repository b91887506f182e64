// SPDX-License-Identifier: Apache-2.0
// Any bytes as a payload of a list that has something of each kind: what comes out is what the list
// has, once each, with as many bytes as it says; hard links lead to a file that came before.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "compatpack/formats/cpio.hpp"

using namespace compatpack;
using formats::EntryType;
using formats::RpmFile;

namespace {

void require(bool holds) {
  if (!holds) {
    std::abort();
  }
}

RpmFile listed(const char* path, EntryType type, std::uint64_t size) {
  return {.path = *RelPath::parse(path), .type = type, .size = {size}, .mode_bits = 0644};
}

std::vector<RpmFile> list() {
  std::vector<RpmFile> files{
      listed("d", EntryType::folder, 0),  listed("d/a", EntryType::file, 3),
      listed("l", EntryType::symlink, 1), listed("h1", EntryType::file, 2),
      listed("h2", EntryType::file, 2),   listed("h3", EntryType::file, 2),
      listed("e1", EntryType::file, 0),   listed("e2", EntryType::file, 0),
      listed("g", EntryType::file, 9),    listed("big", EntryType::file, 5'000'000'000)};
  files[2].link_target = "d";
  files[3].last_link = files[4].last_link = files[5].last_link = 5;
  files[6].last_link = files[7].last_link = 7;
  files[8].is_ghost = files[9].is_ghost = true;
  return files;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::vector<RpmFile> kFiles = list();
  io::MemorySource source(std::as_bytes(std::span(data, size)));
  formats::CpioReader reader(source, kFiles, {});
  std::set<std::string> seen;
  for (bool read_it = true;; read_it = !read_it) {
    const auto entry = reader.next();
    if (!entry) {
      require(entry.error().at && entry.error().at->value <= size);
      static_cast<void>(render(entry.error()));
      require(!reader.next());
      return 0;
    }
    if (!*entry) {
      require(seen.size() >= 8);
      return 0;
    }
    const auto listed = std::find_if(kFiles.begin(), kFiles.end(), [&](const RpmFile& one) {
      return one.path.text() == (*entry)->path;
    });
    require(listed != kFiles.end());
    const RpmFile& file = *listed;
    if ((*entry)->type == EntryType::hardlink) {
      require(file.last_link && seen.contains((*entry)->link_target));
    } else {
      require((*entry)->type == file.type);
    }
    require(seen.insert((*entry)->path).second);
    std::uint64_t total = 0;
    std::array<std::byte, 2> block{};
    while (read_it) {
      const auto count = reader.read(block);
      if (!count) {
        static_cast<void>(render(count.error()));
        return 0;
      }
      if (*count == 0) {
        require(total == (*entry)->size.value);
        break;
      }
      total += *count;
    }
  }
}
