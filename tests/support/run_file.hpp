// SPDX-License-Identifier: Apache-2.0
#pragma once

// Composes makeself bundles for tests: NVIDIA's two layouts, and upstream's of each era. The shell
// around the assignments is our own: it can check itself and does nothing else.
//
//   NVIDIA, layout A (up to 313)     layout B (319 on)                upstream
//   1 #! /bin/sh                     #! /bin/sh                       #!/bin/sh
//   2 skip=N                         CRCsum=                          # ... using Makeself 2.4.5
//   3 CRCsum=                        MD5=                             ...
//   4 MD5=                           skip=N                           [ umask block ]
//   5 label="..."                    skip_decompress=                 CRCsum="..."
//   6 version_string= | summed       size_decompress= | all from      MD5="..."
//     ...             | from here      ...            | line 4        ...
//   N payload         | to the end   [ program ]      | to the        skip="N"
//                     |              N payload        | end           ...
//                                                                     N+1 payload, summed alone
//
// A bad bundle is a good one with one thing changed. Changes by with_field() and without_field()
// are made before the sums are computed, so that they leave a bundle whose sums still hold;
// with_crc(), with_md5(), with_sha(), with_flipped_byte() and with_trailing() come after.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compatpack/base/bytes.hpp"
#include "compatpack/base/digest_claim.hpp"

namespace compatpack::test {

/// A finished bundle, and what a reader should find in it.
struct RunFile {
  std::string bytes;
  ByteOffset payload_start;  ///< first byte of the payload
  ByteCount payload_size;    ///< all chunks together; without trailing bytes
  std::vector<DigestClaim> claims =
      {};  ///< as written in the header, with_crc() and the like included

  [[nodiscard]] std::span<const std::byte> span() const { return as_bytes(bytes); }
  [[nodiscard]] ByteCount size() const { return {bytes.size()}; }
};

/// POSIX cksum(1) of `bytes`, in decimal. Bit by bit, from the standard's text: a reference that
/// shares no table with the product.
[[nodiscard]] std::string reference_cksum(std::string_view bytes);
[[nodiscard]] std::string reference_md5(std::string_view bytes);
[[nodiscard]] std::string reference_sha256(std::string_view bytes);
[[nodiscard]] std::string base64_lines(std::string_view bytes);

/// What both families share.
struct RunChanges {
  using Field = std::pair<std::string, std::string>;

  std::vector<Field> fields = {};         ///< name and raw text behind the '='
  std::vector<std::string> removed = {};  ///< names
  std::vector<Field> inserted = {};       ///< name, and a whole line to stand before it
  std::optional<std::string> crc = {};
  std::optional<std::string> md5 = {};
  std::optional<std::string> sha = {};
  std::optional<std::size_t> flipped = {};  ///< offset in the payload
  std::string trailing = {};
  bool crlf = false;
};

/// The setters, each of which returns the builder itself.
template <class Builder>
class RunSetters {
 public:
  /// Sets what stands behind `name=`, quotes and all: with_field("skip", "\"5\"").
  Builder& with_field(std::string name, std::string raw) {
    changes_.fields.emplace_back(std::move(name), std::move(raw));
    return self();
  }
  Builder& without_field(std::string name) {
    changes_.removed.push_back(std::move(name));
    return self();
  }
  /// Inserts `line` before the line of `name`. It is counted, so the payload is still found.
  Builder& with_line_before(std::string name, std::string line) {
    changes_.inserted.emplace_back(std::move(name), std::move(line));
    return self();
  }
  /// What the header says of a sum, right or wrong; the bytes stay as they are.
  Builder& with_crc(std::string text) { return changes_.crc = std::move(text), self(); }
  Builder& with_md5(std::string text) { return changes_.md5 = std::move(text), self(); }
  Builder& with_sha(std::string text) { return changes_.sha = std::move(text), self(); }
  /// Inverts the byte at `offset` of the payload, behind the sums' back.
  Builder& with_flipped_byte(std::size_t offset) { return changes_.flipped = offset, self(); }
  /// Bytes behind the payload, which no sum covers.
  Builder& with_trailing(std::string bytes) { return changes_.trailing = std::move(bytes), self(); }
  /// Every LF of the whole file made CR LF, as a text-mode transfer does.
  Builder& with_crlf() { return changes_.crlf = true, self(); }

 protected:
  RunChanges changes_;

 private:
  Builder& self() { return static_cast<Builder&>(*this); }
};

enum class NvidiaLayout { a, b };

class NvidiaRun : public RunSetters<NvidiaRun> {
 public:
  /// `payload` is the compressed tar.
  explicit NvidiaRun(std::string payload, NvidiaLayout layout = NvidiaLayout::b)
      : payload_(std::move(payload)), layout_(layout) {}

  /// "535.54.03" unless set. The label and the folder's name carry it too.
  NvidiaRun& with_version(std::string version);
  /// "x86_64" unless set; "aarch64", "x86", "ppc64le".
  NvidiaRun& with_arch(std::string arch);
  /// Text within the quotes; "NVIDIA Accelerated Graphics Driver for Linux-ARCH VERSION" unless
  /// set.
  NvidiaRun& with_label(std::string label);
  /// Last word of the banner: "1.6.0-nv" (A) or "1.6.0-nv9" (B) unless set.
  NvidiaRun& with_generator(std::string word);
  /// Bytes between script and payload: any, new lines and magic numbers too. Layout B only.
  NvidiaRun& with_program(std::string bytes);
  /// What `--info` says of the compression; "xz" unless set.
  NvidiaRun& with_compression(std::string name);
  /// The line from which the sums count, and which the script names; 6 (A) or 4 (B) unless set.
  NvidiaRun& with_summed_from(std::size_t line);
  /// No commands in the script that say from which line the sums count.
  NvidiaRun& without_check_commands();

  [[nodiscard]] RunFile build() const;

 private:
  std::string payload_;
  NvidiaLayout layout_;
  std::string version_ = "535.54.03";
  std::string arch_ = "x86_64";
  std::optional<std::string> label_;
  std::optional<std::string> generator_;
  std::string program_;
  std::string compression_ = "xz";
  std::optional<std::size_t> summed_from_;
  bool check_commands_ = true;
};

/// Releases of makeself between which the header changed.
enum class MakeselfEra {
  v1_5,    ///< skip=N bare, first line of the payload; sums from line 6
  v2_0,    ///< only "tail +N" in the body
  v2_1,    ///< offset=`head -n N "$0" | wc -c`, filesizes
  v2_3,    ///< umask block before CRCsum
  v2_4_0,  ///< SHA
  v2_4_2,  ///< skip="N", cleanup_script, decrypt_cmd
  v2_4_3,  ///< totalsize
  v2_4_5,  ///< SIGNATURE
  v2_5,    ///< helpheader in double quotes
  v2_6,    ///< preextract
  v2_7,    ///< ARCHIVE_NAME; base64 is a layer after compression, named in decrypt_cmd
};

class UpstreamRun : public RunSetters<UpstreamRun> {
 public:
  explicit UpstreamRun(std::string payload, MakeselfEra era = MakeselfEra::v2_4_5)
      : chunks_{std::move(payload)}, era_(era) {}

  /// Another archive behind the ones so far.
  UpstreamRun& with_chunk(std::string payload);
  UpstreamRun& with_label(std::string label);
  /// Text of licensetxt, escaped for double quotes as makeself does; may hold lines.
  UpstreamRun& with_licence(std::string text);
  /// Text of licensetxt as it stands, as makeself up to 2.3.1 wrote it.
  UpstreamRun& with_raw_licence(std::string text);
  /// Which release the banner names; the era's own unless set.
  UpstreamRun& with_banner(std::string version);
  /// SHA-256 instead of zeros (2.4.0 on).
  UpstreamRun& with_sha256();
  /// The payload in base64, and the era's way of saying so.
  UpstreamRun& with_base64();
  /// What `--info` says of the compression; "gzip" unless set.
  UpstreamRun& with_compression(std::string name);

  [[nodiscard]] RunFile build() const;

 private:
  std::vector<std::string> chunks_;
  MakeselfEra era_;
  std::string label_ = "A bundle";
  std::string licence_;
  std::optional<std::string> banner_;
  bool sha256_ = false;
  bool base64_ = false;
  std::string compression_ = "gzip";
};

}  // namespace compatpack::test
