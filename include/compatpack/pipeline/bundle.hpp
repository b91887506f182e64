// SPDX-License-Identifier: Apache-2.0
#pragma once

// A bundle that is open: what its header says, and the way to its bytes. Whatever kind came in,
// what comes out is the same: payloads (ranges of the file, each an archive that may be
// compressed), claims about ranges of the file, and claims about single members.
//
//   kind   payloads                            claims about the file     about members
//   run    one tar, or several                 makeself's sums           none
//   deb    data.tar                            none                      md5sums of control.tar
//   rpm    one cpio                            sums of both headers      digests of the header
//   tar    the file itself, a tar              none                      none
//   folder none; its files are the members     none                      none

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compatpack/base/digest_claim.hpp"
#include "compatpack/base/limits.hpp"
#include "compatpack/base/result.hpp"
#include "compatpack/base/version.hpp"
#include "compatpack/formats/decoder.hpp"
#include "compatpack/formats/entry_reader.hpp"
#include "compatpack/formats/rpm.hpp"
#include "compatpack/formats/signature.hpp"
#include "compatpack/io/file_source.hpp"
#include "compatpack/io/ranges_source.hpp"
#include "compatpack/pipeline/member.hpp"

namespace compatpack::pipeline {

enum class BundleKind { run, deb, rpm, tar, folder };

/// "run", as receipts and --json have it.
[[nodiscard]] std::string_view name_of(BundleKind kind);

/// As the header has it; nothing of it is believed yet.
struct BundleInfo {
  std::string path;  ///< as the user named it; of a nested one with its place: "a.deb: opt/b.run"
  std::string name;  ///< its last component; of a nested one its path in the other
  ByteCount size;    ///< of the file; 0 of a folder
  BundleKind kind;
  std::string dialect = {};                  ///< "NVIDIA makeself 1.6.0-nv4", for people
  std::string label = {};                    ///< of a run, or a package's name and version
  std::optional<DriverVersion> driver = {};  ///< nullopt if the header does not say
  std::optional<CudaVersion> cuda = {};      ///< that a package is named after
  std::string arch = {};                     ///< "x86_64"; empty if the header does not say
  std::vector<ByteRange> payloads = {};      ///< at least one, unless a folder
  bool is_base64 = false;
  std::string signature = {};  ///< what signature there is, for people; empty if none
  std::vector<formats::Signature> signatures = {};                ///< those of a deb and an rpm
  formats::Compression compression = formats::Compression::none;  ///< of the first payload
  std::vector<DigestClaim> claims = {};                           ///< the bundle's own
  std::map<std::string, MemberClaim> member_claims = {};          ///< by path
  std::string member_claims_origin = {};  ///< "its md5sums"; empty if there are none
  std::string unread_digests = {};        ///< "SHA-384": members have these, and nothing reads them
  std::optional<std::vector<formats::RpmFile>> rpm_files = {};  ///< what a cpio payload must hold
  std::optional<formats::RpmDigest> unpacked = {};              ///< of the decompressed payload
  std::string header_sha256 = {};                               ///< of all before the first payload
};

class Bundle {
 public:
  /// Opens the file at `path` and reads its header, or the folder. `observer`, if not null, must
  /// outlive the bundle.
  ///
  /// Errors, with `subject` set: those of io::FileSource::open() and of the format; not_recognized
  /// with what the file is instead, where that can be told.
  static Result<std::unique_ptr<Bundle>> open(const std::string& path, io::ReadObserver* observer,
                                              const Limits& limits);

  /// The same for a file that is open already; `path` and `name` are what `info` says.
  static Result<std::unique_ptr<Bundle>> read(std::unique_ptr<io::FileSource> file,
                                              const std::string& path, const std::string& name,
                                              const Limits& limits);

  [[nodiscard]] const BundleInfo& info() const { return info_; }

  /// The whole file from its first byte on; what open() has read of it is not read again. Of a
  /// folder, nothing. Valid as long as the bundle. Requires: called once.
  io::Source& bytes();

  /// Some ranges of the file, read apart from bytes(). Valid as long as the bundle. Requires: not
  /// is_folder().
  [[nodiscard]] std::unique_ptr<io::RangesSource> open_ranges(std::vector<ByteRange> ranges,
                                                              io::ReadObserver* observer) const {
    return std::make_unique<io::RangesSource>(*file_, std::move(ranges), observer);
  }

  [[nodiscard]] bool is_folder() const { return info_.kind == BundleKind::folder; }

  /// What is in a folder. Requires: is_folder(). Error io.
  Result<std::unique_ptr<formats::EntryReader>> open_folder(const Limits& limits) const;

  /// Error io if the file has changed since it was opened.
  [[nodiscard]] Result<Done> check_unchanged() const {
    return is_folder() ? Result<Done>(Done{}) : file_->check_unchanged();
  }

 private:
  Bundle(std::unique_ptr<io::FileSource> file, std::vector<std::byte> head, BundleInfo info,
         io::ReadObserver* observer);

  std::unique_ptr<io::FileSource> file_;  // null for a folder
  io::ReadObserver* observer_;            // of a folder's files
  std::vector<std::byte> head_;
  BundleInfo info_;
  std::unique_ptr<io::Source> bytes_;
};

/// Whether each payload, as it is stored, is covered by one of `claims` that is no mere checksum
/// and cannot be met by chance.
[[nodiscard]] bool are_payloads_covered(const BundleInfo& info,
                                        const std::vector<DigestClaim>& claims);

/// What a file that is no bundle seems to be, from its first bytes: "an ELF program", "a web page".
/// Empty if nothing can be said.
[[nodiscard]] std::string describe_other_file(std::string_view head);

}  // namespace compatpack::pipeline
