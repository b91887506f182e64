// SPDX-License-Identifier: Apache-2.0
#pragma once

// Composes rpm packages: lead, signature, header, payload. The sums in them hold; a bad package is
// a good one with one thing changed.
//
//   RpmFile().file("/usr/lib64/libcuda.so.1", "bytes").bytes()
//
// RpmTable writes one header structure alone, with any tags and with entries that can be poked.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compatpack/base/digest_claim.hpp"

#include "support/compress.hpp"
#include "support/cpio_file.hpp"

namespace compatpack::test {

/// Fields of an entry by their places.
enum class RpmField { tag, type, offset, count };

class RpmTable {
 public:
  /// `region_tag` is 63 for a header, 62 for a signature; 0 leaves the region out.
  explicit RpmTable(std::uint32_t region_tag) : region_tag_(region_tag) {}

  // Each sets the value of `tag`, in place of one that was set before.

  RpmTable& text(std::uint32_t tag, std::string_view value);
  RpmTable& texts(std::uint32_t tag, const std::vector<std::string>& values);
  RpmTable& int16s(std::uint32_t tag, const std::vector<std::uint64_t>& values);
  RpmTable& int32s(std::uint32_t tag, const std::vector<std::uint64_t>& values);
  RpmTable& int64s(std::uint32_t tag, const std::vector<std::uint64_t>& values);
  RpmTable& binary(std::uint32_t tag, std::string_view value);

  /// There will be no entry of `tag`, whoever sets one.
  RpmTable& without(std::uint32_t tag);
  RpmTable& without_region();
  /// Overwrites a field of the entry of `tag`, whatever it was. The region's tag is 62 or 63.
  RpmTable& poke(std::uint32_t tag, RpmField field, std::uint32_t value);
  RpmTable& poke_trailer(RpmField field, std::uint32_t value);
  /// What the first 16 bytes say, whatever there is.
  RpmTable& with_magic(std::string magic);
  RpmTable& with_count(std::uint32_t count);
  RpmTable& with_data_size(std::uint32_t size);

  /// The entries of `defaults` too, where this has none of their tags.
  [[nodiscard]] RpmTable over(const RpmTable& defaults) const;

  /// Entries in the order of their tags, as rpm writes them.
  [[nodiscard]] std::string bytes() const;

 private:
  struct Entry {
    std::uint32_t type;
    std::uint32_t count;
    std::string value;
    std::size_t alignment;
  };
  struct Poke {
    std::uint32_t tag;
    RpmField field;
    std::uint32_t value;
  };
  RpmTable& numbers(std::uint32_t tag, std::uint32_t type, std::size_t width,
                    const std::vector<std::uint64_t>& values);

  std::uint32_t region_tag_;
  std::map<std::uint32_t, Entry> entries_;
  std::set<std::uint32_t> removed_;
  std::vector<Poke> pokes_;
  std::vector<std::pair<RpmField, std::uint32_t>> trailer_pokes_;
  std::string magic_{"\x8e\xad\xe8\x01\0\0\0\0", 8};
  std::optional<std::uint32_t> count_;
  std::optional<std::uint32_t> data_size_;
};

/// What a packer of its time writes.
enum class RpmEra {
  v3,       ///< full names, MD5 alone, no region: before 2001
  v4,       ///< folders and names, SHA-256
  format6,  ///< sizes of 64 bits, the stripped payload, no size and no MD5 in the signature
};

class RpmFile {
 public:
  explicit RpmFile(RpmEra era = RpmEra::v4) : era_(era) {}

  RpmFile& file(std::string path, std::string content, std::uint32_t mode = 0100644);
  RpmFile& folder(std::string path);
  RpmFile& symlink(std::string path, std::string target);
  /// Listed, and not in the payload.
  RpmFile& ghost(std::string path);
  /// Another name for the last file. The content stands in the payload with the last of its names.
  RpmFile& hardlink(std::string path);

  /// Digests of the files; SHA-256 unless set, MD5 in v3.
  RpmFile& with_file_digests(DigestAlgorithm algorithm);
  /// How the payload is compressed; not at all unless set.
  RpmFile& with_compression(formats::Compression compression);
  /// The payload, decompressed, in place of the one that fits the list.
  RpmFile& with_payload(const CpioFile& payload);

  /// Entries set here stand in place of what the package would say; sums are computed behind them.
  [[nodiscard]] RpmTable& header() { return header_; }
  [[nodiscard]] RpmTable& signature() { return signature_; }

  RpmFile& with_lead_byte(std::size_t at, char value);
  /// Bytes behind the payload, which no sum covers.
  RpmFile& with_trailing(std::string bytes);

  [[nodiscard]] std::string bytes() const;

 private:
  struct Member {
    std::string path;
    std::string content = {};
    std::uint32_t mode;
    std::uint32_t inode;
    bool ghost = false;
  };
  RpmFile& add(std::string path, std::string content, std::uint32_t mode);
  [[nodiscard]] bool has_content(std::size_t index) const;
  [[nodiscard]] std::string make_payload() const;
  [[nodiscard]] RpmTable default_header(const std::string& unpacked,
                                        const std::string& stored) const;
  [[nodiscard]] RpmTable default_signature(const std::string& header,
                                           const std::string& stored) const;
  void list_names(RpmTable& table) const;

  RpmEra era_;
  std::vector<Member> members_;
  DigestAlgorithm file_digests_ = DigestAlgorithm::sha256;
  formats::Compression compression_ = formats::Compression::none;
  std::optional<std::string> payload_;
  RpmTable header_{63};
  RpmTable signature_{62};
  std::vector<std::pair<std::size_t, char>> lead_;
  std::string trailing_;
};

/// Digest of `bytes`, in hexadecimal.
[[nodiscard]] std::string digest_of(DigestAlgorithm algorithm, std::string_view bytes);

}  // namespace compatpack::test
