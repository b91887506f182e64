// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads what stands before the payload of an .rpm.
//
//   lead        96 bytes: ed ab ee db, version 3 or 4, binary or source; the rest is history
//   signature   a header, padded with zeros to a multiple of 8: sums and signatures
//   header      a header: what the package is, and each of its files
//   payload     one cpio archive, compressed, to the end of the file
//
// A header, all numbers big-endian (formats/rpm_index reads it):
//
//   8e ad e8 01, four bytes reserved, number of entries (4), size of the data (4)
//   entries     16 bytes each: tag, type, offset in the data, count
//   data        strings end in NUL; numbers are aligned to their size
//
// Its first entry may be a region (63, in the signature 62): it says that all that follows, up to a
// trailer at the end of the data, is as the packer wrote it.
//
//   tag of the signature          covers
//   1004 (MD5), 1000, 270 (size)  header and payload; none in packages of format 6
//   269 (SHA-1), 273 (SHA-256)    header
//   268 (RSA), 267 (DSA), 278     header; 278 is a list in base64, from rpm 4.20 on
//   1002, 1005, 1006              header and payload
//   tag of the header
//   5092 with 5093, 5121          payload as stored: SHA-256 mostly, SHA-512
//   5097                          payload decompressed
//   1035 with 5011                content of each file: MD5 where 5011 is missing
//
// Packages before 2001 have full names (1027) where later ones have folders and names (1118, 1117,
// 1116). Sizes of 4 GiB and more are in 5008 in place of 1028; format 6 has 5008 always.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compatpack/base/bytes.hpp"
#include "compatpack/base/digest_claim.hpp"
#include "compatpack/base/limits.hpp"
#include "compatpack/base/rel_path.hpp"
#include "compatpack/base/result.hpp"
#include "compatpack/formats/entry_reader.hpp"
#include "compatpack/formats/signature.hpp"

namespace compatpack::formats {

struct RpmDigest {
  DigestAlgorithm algorithm;
  std::string digest;  ///< lower-case hexadecimal

  friend bool operator==(const RpmDigest&, const RpmDigest&) = default;
};

/// A file as the header lists it.
struct RpmFile {
  RelPath path;             ///< without the "/" that it has in the header
  EntryType type;           ///< file, folder, symlink or special; of hard links each is a `file`
  ByteCount size;           ///< of a symlink: of its target
  std::uint32_t mode_bits;  ///< permission bits, with setuid, setgid and sticky
  std::optional<RpmDigest> digest = {};       ///< of a file; nullopt if there is none that is read
  std::string link_target = {};               ///< of a symlink
  bool is_ghost = false;                      ///< belongs to the package, and is not in the payload
  std::optional<std::size_t> last_link = {};  ///< of hard links: index of the set's last name
};

struct RpmHeader {
  std::string name = {};
  std::optional<std::uint32_t> epoch = {};
  std::string version = {};                ///< "550.54.15"
  std::string release = {};                ///< "1.el9"
  std::string arch = {};                   ///< "x86_64", "noarch"; empty if not said
  std::string compressor = {};             ///< "zstd"; a hint: the payload's magic number decides
  ByteRange header;                        ///< the main header in the file
  ByteRange payload;                       ///< to the end of the file
  std::vector<DigestClaim> claims = {};    ///< of ranges of the file
  std::optional<RpmDigest> unpacked = {};  ///< of the payload decompressed, all of it
  std::string unread_digests = {};  ///< "SHA-384": files have digests of an algorithm that is not
                                    ///< computed here; empty if they have not
  std::vector<Signature> signatures = {};  ///< one over the header alone is fit to be checked only
                                           ///< where digests in the header cover the payload
  std::vector<RpmFile> files = {};         ///< in the header's order; paths are unique
};

/// Whether `head`, the first bytes of a file, are those of an .rpm.
[[nodiscard]] bool is_rpm(std::span<const std::byte> head);

/// Parses what stands before the payload.
///
/// `head` is the file's first min(file_size, limits.header) bytes; nothing of it is kept. Does no
/// I/O: the claims are for who reads the payload to check, and the list of files for who unpacks
/// it.
///
/// Errors, with `at` set:
///   not_recognized  not the magic number of an .rpm
///   unsupported     lead of another version, a source package, a payload that is no cpio archive
///   corrupt         a header ends early, is not as rpm allows it, or contradicts itself; the file
///                   is longer or shorter than it says
///   limit           more entries, data, or files than allowed, or headers larger than `head`
///   unsafe_path     a file's path is not absolute, or is none that RelPath takes
Result<RpmHeader> parse_rpm_header(std::span<const std::byte> head, ByteCount file_size,
                                   const Limits& limits = {});

}  // namespace compatpack::formats
