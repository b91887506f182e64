// SPDX-License-Identifier: Apache-2.0
#pragma once

// Writes tar archives of which nothing depends on the machine or the day: plain ustar, owners
// without names, 0:0 but for folders that say otherwise, one time for all entries, modes as given,
// and two blocks of zeros as the end.

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "compatpack/base/bytes.hpp"
#include "compatpack/base/rel_path.hpp"
#include "compatpack/base/result.hpp"
#include "compatpack/io/source.hpp"

namespace compatpack::formats {

/// The last second, from 1970 on, that ustar's field of 11 octal digits holds: in the year 2242.
inline constexpr std::uint64_t kTarTimeMax = (1ULL << 33U) - 1;

/// What is said of a folder.
struct TarFolder {
  std::uint32_t mode = 0755;  ///< permission bits, with setuid, setgid and sticky
  std::int64_t owner = 0;     ///< number of the user
  std::int64_t group = 0;

  friend bool operator==(const TarFolder&, const TarFolder&) = default;
};

class TarWriter {
 public:
  /// `sink` takes the archive's bytes in order, and must be callable as long as this lives.
  /// `time_s` is at most kTarTimeMax.
  TarWriter(io::Sink sink, std::uint64_t time_s);
  TarWriter(const TarWriter&) = delete;
  TarWriter& operator=(const TarWriter&) = delete;
  ~TarWriter();

  /// Adds a folder.
  ///
  /// Errors of this and the functions below: those of the sink; unsupported, with `subject`, for a
  /// name that ustar cannot hold: 100 bytes behind a slash, 155 before it, 100 of a link's target;
  /// and for owners over 2,097,151.
  Result<Done> add_folder(const RelPath& path, const TarFolder& folder = {});

  Result<Done> add_link(const RelPath& path, const std::string& target);

  /// Begins a file, whose content is what write() is given until the next entry.
  Result<Done> begin_file(const RelPath& path, ByteCount size, unsigned mode);

  /// Content of the file that was begun. Error corrupt for more of it than was said.
  Result<Done> write(std::span<const std::byte> bytes);

  /// Ends the archive. Requires: called once, after all else.
  Result<Done> finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace compatpack::formats
