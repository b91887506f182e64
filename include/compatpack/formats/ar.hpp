// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds the members of a .deb, which is an ar archive with rules of its own.
//
//   "!<arch>\n"
//   member          header of 60 bytes: name 16, time 12, owner 6, group 6, mode 8, size 10, "`\n"
//                   content
//                   one byte of padding if the content's size is odd; the last may lack it
//
//   .deb            debian-binary     "2.0\n", first
//                   [ _anything ]     may stand anywhere behind it, and is ignored
//                   control.tar[.X]   exactly one
//                   data.tar[.X]      exactly one, behind it
//                   [ anything ]      ignored
//
// A member that debsigs adds, named _gpg and who has signed, holds an OpenPGP signature over the
// contents of debian-binary, control.tar and data.tar, one behind the other. dpkg-sig's, of the
// same names, hold a clear-signed text with digests of the members, and are not read.
//
// X is gz, xz, zst, bz2 or lzma, and the two members choose theirs independently (CPack writes
// control.tar.gz beside data.tar.zst). A name is padded with blanks. GNU ar writes "name/", and
// "//" and "/123" for a table of long names and a place in it; BSD ar "#1/20" for a name in the
// first 20 bytes of the content. No packer of .debs needs either.

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "compatpack/base/bytes.hpp"
#include "compatpack/base/result.hpp"
#include "compatpack/formats/signature.hpp"

namespace compatpack::formats {

inline constexpr std::size_t kArMagicSize = 8;
inline constexpr std::size_t kArHeaderSize = 60;

/// A .deb has three members, and four when it is signed.
inline constexpr std::size_t kArMembersMax = 64;

/// Longest BSD name that is looked at, in bytes. dpkg's own names are of 16 at most.
inline constexpr std::size_t kArLongNameMax = 256;

struct ArMember {
  std::string name;   ///< without blanks or a slash at its end; of GNU's table of names "/"
  ByteRange content;  ///< inside the file; without a BSD name at its front
  ByteOffset next;    ///< of the next header, or the end of the file
};

/// Whether `head`, the first bytes of a file, are those of an ar archive.
[[nodiscard]] bool is_ar(std::span<const std::byte> head);

/// Parses the header at `at` of a file of `file_size` bytes.
///
/// `bytes` are those at `at`: kArHeaderSize, and for BSD's long names up to kArLongNameMax more;
/// fewer where the file ends.
///
/// Errors, with `at` set:
///   corrupt      the file ends within the header or the content, a size is no number of decimal
///                digits (a negative one is not), the two bytes at the header's end are others, or
///                a name is empty
///   unsupported  a name that lies in GNU's table
///   limit        a BSD name of more than kArLongNameMax bytes
Result<ArMember> parse_ar_header(std::span<const std::byte> bytes, ByteOffset at,
                                 ByteCount file_size);

/// Reads up to `into.size()` bytes of a file at `at` into the front of `into` and returns how many:
/// fewer only where the file ends. `into` is never empty, and `at` lies in the file.
using ReadAt = std::function<Result<std::size_t>(ByteOffset at, std::span<std::byte> into)>;

/// Where the parts of a .deb lie.
struct DebLayout {
  std::string format = {};            ///< "2.0"
  ArMember control;                   ///< control.tar[.X]
  ArMember data;                      ///< data.tar[.X]
  std::vector<ArMember> others = {};  ///< all but these and debian-binary, in order
  std::vector<Signature> signatures = {};
};

/// Finds the parts of the .deb of `file_size` bytes that `read_at` reads: the headers of its
/// members, the few bytes of debian-binary, and signatures. Its rules are dpkg's, and one more: a
/// second control or data member is refused, wherever it stands, since no two programs agree on
/// which counts.
///
/// Errors, with `at` set, besides those of `read_at` and parse_ar_header():
///   not_recognized  no ar archive, or one whose first member is not debian-binary
///   unsupported     a format that is not 2.x, or a control or data member of another compression
///   corrupt         debian-binary is no version, a member is missing, is there twice, or stands
///                   where it must not
///   limit           more than kArMembersMax members
Result<DebLayout> plan_deb(ByteCount file_size, const ReadAt& read_at);

}  // namespace compatpack::formats
