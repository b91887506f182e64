// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads what a shared object says of itself: what it was built for, its soname, what it needs, and
// the note by which NVIDIA's libcuda names the drivers it works with.
//
//   ELF header          bits, byte order, machine; where the next two are
//   program headers     PT_LOAD     which addresses are which bytes of the file
//                       PT_DYNAMIC  soname, needed libraries, versions, as addresses
//                       PT_NOTE     notes
//   section headers     used for one thing, to find a note by its section's name; a file may lack
//                       them, and a loader never looks at them
//
// Addresses are not offsets: both are mapped through PT_LOAD, as a loader does.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compatpack/base/result.hpp"

namespace compatpack::formats {

/// How much of a file parse_elf_head() needs.
inline constexpr std::size_t kElfHeadSize = 20;

// What a hostile file may ask for. libcuda has some 10 segments, 30 dynamic entries, 6 needed
// libraries, 15 versions, and a note of 100 bytes.
inline constexpr std::size_t kElfSegmentsMax = 4'096;
inline constexpr std::size_t kElfDynamicEntriesMax = 65'536;
inline constexpr std::size_t kElfNeededMax = 1'024;
inline constexpr std::size_t kElfVersionsMax = 4'096;
inline constexpr std::size_t kElfStringMax = 4'096;     ///< bytes of a name, as of a path
inline constexpr std::size_t kElfNotesMax = 1'024;      ///< notes looked at, in all segments
inline constexpr std::size_t kElfNoteTextMax = 65'536;  ///< bytes of NVIDIA's note

enum class ByteOrder { little, big };

/// What a file was built for.
struct ElfHead {
  int bits;  ///< 32 or 64
  ByteOrder order;
  std::uint16_t machine;  ///< e_machine: 62 is x86_64
  std::uint16_t type;     ///< e_type: 2 is an executable, 3 a shared object

  friend bool operator==(const ElfHead&, const ElfHead&) = default;
};

/// "x86_64", "i386", "aarch64", "ppc64le"; "other" for all that NVIDIA's drivers are not built for
/// today, such as the big-endian ppc64 and x32.
[[nodiscard]] std::string_view name_of(const ElfHead& head);

struct ElfIdentity {
  ElfHead head;
  std::string soname = {};               ///< empty if none
  std::vector<std::string> needed = {};  ///< in the file's order
  std::string rpath = {};  ///< DT_RPATH, as it stands: where the loader looks first; empty if none
  std::string runpath = {};  ///< DT_RUNPATH, where it looks after LD_LIBRARY_PATH; empty if none
  std::string glibc_needed = {};  ///< "2.17": the highest GLIBC_ version; empty if none
  /// The JSON text of .note.cuda.fwd_compatibility, as it stands: it may not be JSON at all.
  std::optional<std::string> forward_compat_note = {};
};

/// Reads the header at the front of a file.
///
/// `first` is the file's beginning: kElfHeadSize bytes, or all of a shorter file.
///
/// Errors, with `at` set:
///   not_recognized  it does not begin with "\x7F" "ELF"
///   corrupt         cut short, or a class or byte order that does not exist
Result<ElfHead> parse_elf_head(std::span<const std::byte> first);

/// Reads a whole file. Keeps nothing of `file`. Time is linear in its size, whatever its tables
/// say.
///
/// Either byte order and any machine are read: whether a file is wanted is for the caller. A file
/// without PT_DYNAMIC has no soname and needs nothing. Section headers that make no sense are
/// passed over, and so is a note that cannot be read; all else that lies outside of the file is an
/// error.
///
/// Errors, with `at` set: those of parse_elf_head(), and
///   corrupt  a table, segment or name that leaves the file, so also a file that was cut short
///   limit    more of something than the constants above allow
Result<ElfIdentity> parse_elf(std::span<const std::byte> file);

}  // namespace compatpack::formats
