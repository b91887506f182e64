// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads the payload of an .rpm, once decompressed, against the list of files in its header.
//
//   070701   newc: 13 numbers of 8 hexadecimal digits, a name, the content; name and content are
//   070702   each padded to a multiple of 4. 070702 has a sum of the content's bytes too
//   07070X   rpm's own: the file's index in the header's list, the content. Used where a file is of
//            4 GiB or more, and in packages of format 6 always
//   070701 with the name TRAILER!!! ends all of them
//
// rpm writes the content of hard links once, with the last name of the set. Here that one comes out
// first, as the file, and the names before it behind it, as hard links to it.
//
// Nothing comes out but what the header lists: a member that it does not list, that is there twice,
// or whose type, size or link target is another, is refused, and so is a payload that lacks a file
// which the header lists. rpm installs by the same rules, rpm2cpio and "rpm -K" have none of them.

#include <cstddef>
#include <memory>
#include <optional>
#include <span>

#include "compatpack/base/limits.hpp"
#include "compatpack/base/result.hpp"
#include "compatpack/formats/entry_reader.hpp"
#include "compatpack/formats/rpm.hpp"
#include "compatpack/io/source.hpp"

namespace compatpack::formats {

class CpioReader final : public EntryReader {
 public:
  /// `source`, the decompressed payload, and `files` must outlive the reader. `spent` as for
  /// ArchiveReader.
  CpioReader(io::Source& source, std::span<const RpmFile> files, const Limits& limits,
             Spent* spent = nullptr);

  ~CpioReader() override;

  /// The next entry, or nullopt at the end of the archive; then all of `source` has been read.
  /// Content of the entry before that was not read is skipped. Paths are those of `files`, and so
  /// are permission bits.
  ///
  /// Errors, with `at` in "the extracted archive": corrupt for what is no cpio archive, is damaged,
  /// ends early, or differs from `files`; unsupported for cpio's older formats; limit for a member
  /// that is too large, or too many. An Error of `source` is passed on as it is.
  Result<std::optional<Entry>> next() override;

  /// Reads content of the entry that next() gave, as Source::read() does.
  Result<std::size_t> read(std::span<std::byte> into) override;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace compatpack::formats
