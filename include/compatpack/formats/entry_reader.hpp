// SPDX-License-Identifier: Apache-2.0
#pragma once

// What archives have in common, whatever their format: entries, one after the other, each with its
// content behind it. What is read is only said, nothing is written: names and link targets come out
// as the bytes that stand in the archive.

#include <cstdint>
#include <optional>
#include <string>

#include "compatpack/base/result.hpp"
#include "compatpack/io/source.hpp"

namespace compatpack::formats {

enum class EntryType {
  file,
  folder,
  symlink,
  hardlink,  ///< another name for an earlier entry; has no content of its own
  special,   ///< device, FIFO or socket
};

/// The type that a mode says, as cpio archives and rpm headers hold it; never `hardlink`.
[[nodiscard]] constexpr EntryType type_of_mode(std::uint64_t mode) {
  switch (mode & 0170000U) {
    case 0100000:
      return EntryType::file;
    case 0040000:
      return EntryType::folder;
    case 0120000:
      return EntryType::symlink;
    default:
      return EntryType::special;
  }
}

/// One archive member, as it is written down; nothing of it is believed yet.
struct Entry {
  std::string path;  ///< bytes; may be absolute or hold ".."
  EntryType type;
  ByteCount size;                ///< of the content; 0 unless `file`
  std::uint32_t mode_bits;       ///< permission bits, with setuid, setgid and sticky
  std::string link_target = {};  ///< of a symlink or hardlink
  std::int64_t owner = 0;        ///< number of the user, in a tar archive
  std::int64_t group = 0;
};

class EntryReader {
 public:
  EntryReader() = default;
  EntryReader(const EntryReader&) = delete;
  EntryReader& operator=(const EntryReader&) = delete;
  virtual ~EntryReader() = default;

  /// The next entry, or nullopt at the end of the archive. Content of the entry before that was not
  /// read is skipped. Errors have `at` in "the extracted archive".
  virtual Result<std::optional<Entry>> next() = 0;

  /// Reads content of the entry that next() gave, as Source::read() does.
  virtual Result<std::size_t> read(std::span<std::byte> into) = 0;
};

/// The content of the current entry of a reader, which must outlive this.
class EntryContent final : public io::Source {
 public:
  explicit EntryContent(EntryReader& reader) : reader_(reader) {}
  Result<std::size_t> read(std::span<std::byte> into) override { return reader_.read(into); }

 private:
  EntryReader& reader_;
};

}  // namespace compatpack::formats
