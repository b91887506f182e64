// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads tar archives entry by entry, through libarchive's tar reader alone: ustar, pax, GNU and old
// tar, with long names, sizes in base 256, and sparse files. What is read here is only said,
// nothing is written: names and link targets come out as the bytes that stand in the archive.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "compatpack/base/limits.hpp"
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

/// One archive member, as it is written down; nothing of it is believed yet.
struct Entry {
  std::string path;  ///< bytes; may be absolute or hold ".."
  EntryType type;
  ByteCount size;                ///< of the content; 0 unless `file`
  std::uint32_t mode_bits;       ///< permission bits, with setuid, setgid and sticky
  std::string link_target = {};  ///< of a symlink or hardlink
};

class ArchiveReader {
 public:
  /// Begins to read the archive in `source`, which must outlive the reader. Names are read whole
  /// only where the locale's LC_CTYPE is UTF-8. Errors: as of next().
  static Result<std::unique_ptr<ArchiveReader>> open(io::Source& source, const Limits& limits);

  ArchiveReader(const ArchiveReader&) = delete;
  ArchiveReader& operator=(const ArchiveReader&) = delete;
  ~ArchiveReader();

  /// The next entry, or nullopt at the end of the archive. Content of the entry before that was not
  /// read is skipped.
  ///
  /// An archive may end without its end marker, as for tar(1); what follows that marker is not
  /// looked at.
  ///
  /// Errors, with `at` in "the extracted archive": corrupt for what is no tar, is damaged, or ends
  /// early, for headers that libarchive would pass over with a warning, and for an entry without a
  /// name; limit for one that is too large or too many. An Error of `source` is passed on as it is.
  /// After an Error every call gives it again.
  Result<std::optional<Entry>> next();

  /// Reads content of the entry that next() gave, as Source::read() does: as many bytes as its size
  /// says, or an Error. Holes read as zeros. What is no file has no content.
  Result<std::size_t> read(std::span<std::byte> into);

 private:
  struct State;
  explicit ArchiveReader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// The content of the current entry of a reader, which must outlive this.
class EntryContent final : public io::Source {
 public:
  explicit EntryContent(ArchiveReader& reader) : reader_(reader) {}
  Result<std::size_t> read(std::span<std::byte> into) override { return reader_.read(into); }

 private:
  ArchiveReader& reader_;
};

}  // namespace compatpack::formats
