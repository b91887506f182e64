// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads the shell header of a makeself bundle (.run) without running it.
//
//   "#!" script, with `name=value` lines near its top
//   [ embedded program ]       NVIDIA from 319 on: a decompressor; binary, yet counted in lines
//   payload                    one compressed tar; makeself 2.1 to 2.4.0: one or several
//   [ anything ]               makeself up to 2.4.2 only
//
// Two families write that header. They share their field names and differ in what a number means:
//
//                nvidia (and makeself 1.x)                 upstream 2.1 to 2.7
//   values       bare: skip=1022                           quoted: skip="666"
//   payload      from line N on (skip=N)                   after N lines: skip="N" from 2.4.2 on,
//                                                          before that offset=`head -n N "$1" ...
//   CRCsum, MD5  from a line of the header to the end of   each chunk, in the order of filesizes=
//                the file: line 6 where skip= is line 2
//                (layout A), line 4 where CRCsum= is
//                (layout B, from 319.12 on); the stub says
//                which: tail -n +N $0 | cksum
//   SHA          none                                      SHA-256 of each chunk, from 2.4.0 on
//   "none" is    zeros                                     zeros
//
// The fields tell the families apart (filesizes= is upstream's). The banner comment does not: that
// of makeself 2.4.4 says 2.4.3, and a repacked file may have none.

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compatpack/base/bytes.hpp"
#include "compatpack/base/digest_claim.hpp"
#include "compatpack/base/result.hpp"

namespace compatpack::formats {

enum class MakeselfFamily { nvidia, upstream };

struct MakeselfHeader {
  MakeselfFamily family;
  std::string generator = {};    ///< "1.6.0-nv4", "2.4.5", from the banner; empty if there is none
  std::string label = {};        ///< for people; empty if absent
  std::string version = {};      ///< version_string=; "0" in repacked files; empty for `upstream`
  std::string target_arch = {};  ///< TARGET_ARCH=: "x86_64"; empty if absent
  std::optional<ByteRange> embedded_program = {};  ///< between script and payload
  std::vector<ByteRange> chunks = {};  ///< the payloads, in order; at least one, inside the file
  unsigned checksums_from_line =
      0;  ///< nvidia only: 4 or 6, or what its stub says; 0 for `upstream`
  std::vector<DigestClaim> claims = {};  ///< inside the file; empty if it makes none
  bool is_signed = false;                ///< carries a GPG signature, which is not checked
  bool is_base64 = false;  ///< decrypt_cmd= says so; older headers do not say, and are sniffed
};

/// Parses the header at the start of a bundle.
///
/// `head` is the file's first min(file_size, Limits::header) bytes; nothing of it is kept. Does no
/// I/O and no decompression: that the payload is what the header promises is for the decoder to
/// find out.
///
/// Errors, with `at` set where there is a place:
///   not_recognized: no "#!", or not the fields of a makeself header.
///   unsupported: makeself 2.0, which does not say where its payload starts; an encrypted payload.
///   corrupt: a number, size or digest is malformed; the file is shorter or, from makeself 2.4.3
///     on, longer than it says; its line ends were converted.
///   limit: the payload starts behind `head`, and the file goes on; too many chunks.
Result<MakeselfHeader> parse_makeself_header(std::span<const std::byte> head, ByteCount file_size);

}  // namespace compatpack::formats
