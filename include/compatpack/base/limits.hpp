// SPDX-License-Identifier: Apache-2.0
#pragma once

// Every cap on what a bundle may ask for, with its unit and the reason for its size. The largest
// driver measured is 610.57.04: 463,025,450 bytes, a header of 160,635, and a tar of 1,808,865,280
// with 1,189 members. Each cap leaves room to grow several times over that.

#include <cstddef>
#include <cstdint>

#include "compatpack/base/bytes.hpp"

namespace compatpack {

struct Limits {
  ByteCount header{4U << 20U};       ///< script and embedded program before the payload
  std::uint64_t members = 20'000;    ///< entries of one bundle, and of those found in it
  ByteCount member{2ULL << 30U};     ///< one member, unpacked
  ByteCount unpacked{16ULL << 30U};  ///< all members together, unpacked
  std::uint64_t ratio = 500;  ///< unpacked to packed; drivers come to 5, zstd of zeros to 30,000
  ByteCount ratio_from{256U << 20U};  ///< unpacked; what is smaller takes a moment and no memory
  ByteCount holes{256U << 20U};       ///< of all sparse members together; a driver's tar has none
  ByteCount decoder_memory{256U << 20U};  ///< a decoder; zstd's own default window cap is 128 MiB
  ByteCount kept_text{4U << 20U};  ///< a text kept in memory: .manifest (150 KB), LICENSE (20 KB)
};

/// What a job has used so far of its Limits: the payloads of a bundle, and the bundles found in it,
/// count into one of these, so that many small ones come to no more than one large one.
struct Spent {
  std::uint64_t members = 0;
  ByteCount unpacked = {};  ///< sizes of the members, as their headers say
  ByteCount archives = {};  ///< bytes of archives that were read
  ByteCount content = {};   ///< bytes of members that were read; what is more than those are holes
  ByteCount packed = {};    ///< bytes that decoders took
  ByteCount decompressed = {};  ///< bytes that came out of them
};

}  // namespace compatpack
