// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads tar archives through libarchive's tar reader alone: ustar, pax, GNU and old tar, with long
// names, sizes in base 256, and sparse files.
//
// Requires LC_CTYPE to be a UTF-8 locale: libarchive converts the names of pax headers to the
// locale's character set, and in the C locale cannot.

#include <memory>

#include "compatpack/base/limits.hpp"
#include "compatpack/formats/entry_reader.hpp"

namespace compatpack::formats {

class ArchiveReader final : public EntryReader {
 public:
  /// Begins to read the archive in `source`, which must outlive the reader. What it uses of
  /// `limits` is added to `spent`, which others may have added to; null: it stands alone. Errors:
  /// as of next().
  static Result<std::unique_ptr<ArchiveReader>> open(io::Source& source, const Limits& limits,
                                                     Spent* spent = nullptr);
  ~ArchiveReader() override;

  /// An archive may end without its end marker, as for tar(1); what follows that marker is not
  /// looked at.
  ///
  /// Errors: corrupt for what is no tar, is damaged, or ends early, for headers that libarchive
  /// would pass over with a warning, and for an entry without a name; limit for one that is too
  /// large, or too many. An Error of `source` is passed on as it is. After an Error every call
  /// gives it again.
  Result<std::optional<Entry>> next() override;

  /// As many bytes as the entry's size says, or an Error. Holes read as zeros. What is no file has
  /// no content.
  Result<std::size_t> read(std::span<std::byte> into) override;

 private:
  struct State;
  explicit ArchiveReader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// The version of libarchive: "3.6.2".
std::string archive_library_version();

}  // namespace compatpack::formats
