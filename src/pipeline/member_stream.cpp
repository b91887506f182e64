// SPDX-License-Identifier: Apache-2.0
#include "compatpack/pipeline/member_stream.hpp"

#include <utility>

#include "compatpack/base/text.hpp"
#include "compatpack/formats/archive.hpp"
#include "compatpack/formats/base64.hpp"
#include "compatpack/formats/cpio.hpp"
#include "compatpack/formats/decoder.hpp"
#include "compatpack/io/digesting_source.hpp"
#include "compatpack/io/hashing_source.hpp"

namespace compatpack::pipeline {
namespace {

// What may follow an archive's end, unpacked. tar pads to a record, of 10 KiB unless told
// otherwise.
constexpr ByteCount kPaddingMax{64U << 20U};

/// Whether damage to the bundle can lead to such an Error; it is not the machine's or the user's.
bool is_of_input(Errc code) {
  switch (code) {
    case Errc::not_recognized:
    case Errc::corrupt:
    case Errc::unsupported:
    case Errc::limit:
    case Errc::mismatch:
    case Errc::unsafe_path:
      return true;
    case Errc::conflict:
    case Errc::usage:
    case Errc::interrupted:
    case Errc::io:
      return false;
  }
  return false;
}

/// Says what a place in the compressed bytes counts from. One in a member names the member.
Error at_payload(Error error) {
  if (error.subject.empty() && error.stream.empty() && error.at) {
    error.stream = "the payload";
  }
  return error;
}

/// What a payload unpacks to, up to where all of them are so much more than their sizes that the
/// bundle is a bomb.
class RatioGuard final : public io::Source {
 public:
  /// `stored` is what `unpacked` decompresses, `size` what it had before anything was read of it.
  RatioGuard(io::Source& unpacked, const io::LimitedSource& stored, ByteCount size,
             const Limits& limits, Spent& spent)
      : unpacked_(unpacked), stored_(stored), missing_(size), limits_(limits), spent_(spent) {}

  Result<std::size_t> read(std::span<std::byte> into) override {
    CP_TRY(const std::size_t count, unpacked_.read(into));
    const std::uint64_t total = spent_.decompressed.value += count;
    const std::uint64_t packed = spent_.packed.value += missing_.value - stored_.missing().value;
    missing_ = stored_.missing();
    if (total > limits_.ratio_from.value && total / limits_.ratio >= packed) {
      return Error{
          .code = Errc::limit,
          .what = "payload unpacks to far more than its size",
          .expected = "at most " + std::to_string(limits_.ratio) + " times as much",
          .found = "more than " + std::to_string(total) + " bytes out of " + std::to_string(packed),
          .hint = "no driver does; this is made to fill memory or a disk"};
    }
    return count;
  }

 private:
  io::Source& unpacked_;
  const io::LimitedSource& stored_;
  ByteCount missing_;  // of what is stored, when that was last counted
  const Limits& limits_;
  Spent& spent_;
};

class Pass {
 public:
  Pass(Bundle& bundle, const ReadOptions& options, MemberVisitor& visitor)
      : bundle_(bundle),
        options_(options),
        visitor_(visitor),
        spent_(options.spent == nullptr ? own_ : *options.spent),
        hashing_(bundle.bytes(), claims()),
        may_stop_(options.may_stop && options.verify == Verify::claims &&
                  are_payloads_covered(bundle.info(), claims())) {}

  Result<Verification> run() {
    if (bundle_.is_folder()) {
      return read_folder();
    }
    std::optional<Error> failure;
    for (const ByteRange& payload : bundle_.info().payloads) {
      failure = read_payload(payload);
      if (failure || stopped_) {
        break;
      }
    }
    if (failure && !is_of_input(failure->code)) {
      return *failure;
    }
    CP_CHECK(hashing_.finish());
    CP_CHECK(bundle_.check_unchanged());
    const io::ClaimChecker& checker = hashing_.checker();
    if (options_.verify == Verify::claims) {
      if (auto verdict = checker.verdict(); !verdict) {
        return explained(std::move(verdict).error(), failure);
      }
    }
    if (failure) {
      return *failure;
    }
    if (const std::string& unread = bundle_.info().unread_digests;
        !unread.empty() && options_.verify == Verify::claims) {
      warnings_.push_back("its files have " + unread +
                          " digests, which are not read: not compared");
    }
    return Verification{checker.whole_sha256(), checker.checked(), members_checked_,
                        std::move(warnings_),   stopped_,          options_.signed_by};
  }

 private:
  /// Nothing says what a folder's files should be.
  Result<Verification> read_folder() {
    auto reader = bundle_.open_folder(options_.limits);
    if (!reader) {
      return std::move(reader).error();
    }
    if (auto failure = read_entries(**reader)) {
      return *std::move(failure);
    }
    return Verification{.sha256 = {}, .warnings = std::move(warnings_)};
  }

  std::vector<DigestClaim> claims() const {
    std::vector<DigestClaim> all = bundle_.info().claims;
    all.insert(all.end(), options_.user_claims.begin(), options_.user_claims.end());
    return all;
  }

  /// A checksum that does not match is the cause; that the stream ends early says what happened.
  static Error explained(Error mismatch, const std::optional<Error>& failure) {
    if (failure && formats::ends_early(*failure)) {
      mismatch.hint = "the payload ends early too: the download is incomplete; fetch it again";
    }
    return mismatch;
  }

  std::optional<Error> read_payload(ByteRange payload) {
    io::LimitedSource gap(hashing_, {payload.begin.value - hashing_.position().value});
    if (auto skipped = io::drain(gap); !skipped) {
      return std::move(skipped).error();
    }
    io::LimitedSource stored(hashing_, payload.size());
    std::unique_ptr<io::Source> base64;
    if (bundle_.info().is_base64) {
      base64 = std::make_unique<formats::Base64Source>(stored);
    }
    auto decoder = formats::open_decoder(
        base64 ? *base64 : static_cast<io::Source&>(stored),
        {.jobs = options_.jobs, .memory_max = options_.limits.decoder_memory});
    if (!decoder) {
      return at_payload(std::move(decoder).error());
    }
    RatioGuard unpacked(**decoder, stored, payload.size(), options_.limits, spent_);
    if (auto failure = read_unpacked(unpacked); failure || stopped_) {
      return failure;
    }
    if (const ByteCount trailing = (*decoder)->trailing(); trailing.value > 0) {
      warnings_.push_back(std::to_string(trailing.value) +
                          " bytes behind the payload's end were ignored, as " +
                          std::string(formats::name_of((*decoder)->compression())) + " does");
    }
    if (auto rest = io::drain(stored); !rest) {
      return std::move(rest).error();
    }
    return std::nullopt;
  }

  /// Reads the decompressed payload to its end: tar stops at its end marker, but what the streams
  /// hold behind it has its checks too.
  std::optional<Error> read_unpacked(io::Source& unpacked) {
    const auto& claim = bundle_.info().unpacked;
    if (!claim || options_.verify == Verify::nothing) {
      auto failure = read_archive(unpacked);
      return failure || stopped_ ? failure : drained(unpacked);
    }
    io::DigestingSource digesting(unpacked, claim->algorithm);
    auto failure = read_archive(digesting);
    failure = failure || stopped_ ? failure : drained(digesting);
    if (failure || stopped_) {
      return failure;
    }
    std::string found = digesting.finish();
    if (found == claim->digest) {
      return std::nullopt;
    }
    return Error{.code = Errc::mismatch,
                 .what = std::string(name_of(claim->algorithm)) +
                         " of the payload, decompressed, does not match the one in its header",
                 .expected = claim->digest,
                 .found = std::move(found),
                 .hint = "the download is damaged; fetch it again"};
  }

  static std::optional<Error> drained(io::Source& source) {
    io::LimitedSource padding(source, kPaddingMax);
    auto rest = io::drain(padding);
    if (!rest) {
      return at_payload(std::move(rest).error());
    }
    if (padding.missing().value == 0) {
      return Error{.code = Errc::limit,
                   .what = "too much stands behind the archive's end",
                   .expected = "less than " + std::to_string(kPaddingMax.value) + " bytes",
                   .found = "more"};
    }
    return std::nullopt;
  }

  Result<std::unique_ptr<formats::EntryReader>> open_archive(io::Source& source) {
    if (const auto& files = bundle_.info().rpm_files) {
      return std::unique_ptr<formats::EntryReader>(
          std::make_unique<formats::CpioReader>(source, *files, options_.limits, &spent_));
    }
    CP_TRY(auto tar, formats::ArchiveReader::open(source, options_.limits, &spent_));
    return std::unique_ptr<formats::EntryReader>(std::move(tar));
  }

  std::optional<Error> read_archive(io::Source& source) {
    auto reader = open_archive(source);
    if (!reader) {
      return at_payload(std::move(reader).error());
    }
    return read_entries(**reader);
  }

  std::optional<Error> read_entries(formats::EntryReader& reader) {
    for (;;) {
      auto entry = reader.next();
      if (!entry) {
        return at_payload(std::move(entry).error());
      }
      if (!*entry) {
        return std::nullopt;
      }
      auto member = gate_.admit(**entry);
      if (!member) {
        return std::move(member).error();
      }
      CheckedContent content(reader, claim_about(*member), bundle_.info().member_claims_origin);
      if (auto visited = visitor_.visit(*member, content); !visited) {
        Error error = std::move(visited).error();
        if (error.code == Errc::mismatch && error.subject.empty()) {
          error.subject = member->path.text();
        }
        return at_payload(std::move(error));
      }
      members_checked_ += content.checked() ? 1U : 0U;
      if (may_stop_ && visitor_.is_satisfied()) {
        stopped_ = true;
        return std::nullopt;
      }
    }
  }

  /// What the bundle says of a file's content, or null.
  [[nodiscard]] const MemberClaim* claim_about(const Member& member) const {
    if (options_.verify == Verify::nothing || member.type != formats::EntryType::file) {
      return nullptr;
    }
    const auto& claims = bundle_.info().member_claims;
    const auto found = claims.find(member.path.text());
    return found == claims.end() ? nullptr : &found->second;
  }

  class CheckedContent final : public MemberContent {
   public:
    CheckedContent(formats::EntryReader& reader, const MemberClaim* claim,
                   const std::string& origin)
        : content_(reader), claim_(claim), origin_(origin) {
      if (claim != nullptr) {
        digest_.emplace(claim->algorithm);
      }
    }

    Result<std::size_t> read(std::span<std::byte> into) override {
      CP_TRY(const std::size_t count, content_.read(into));
      if (!digest_) {
        return count;
      }
      digest_->update(into.first(count));
      if (count > 0) {
        return count;
      }
      const std::string found = digest_->finish();
      digest_.reset();
      CP_CHECK(check(found));
      return std::size_t{0};
    }

    const MemberClaim* take_claim() override {
      digest_.reset();
      return claim_;
    }

    Result<Done> check(const std::string& digest) override {
      if (digest == claim_->digest) {
        checked_ = true;
        return Done{};
      }
      return Error{
          .code = Errc::mismatch,
          .what = std::string(name_of(claim_->algorithm)) + " does not match the one in " + origin_,
          .expected = claim_->digest,
          .found = digest,
          .hint = "the bundle is damaged, or was changed; fetch it again"};
    }

    [[nodiscard]] bool checked() const { return checked_; }

   private:
    formats::EntryContent content_;
    const MemberClaim* claim_;
    const std::string& origin_;
    std::optional<io::Digest> digest_;  // unless the claim was taken
    bool checked_ = false;
  };

  Bundle& bundle_;
  const ReadOptions& options_;
  MemberVisitor& visitor_;
  Spent own_;
  Spent& spent_;
  io::HashingSource hashing_;
  bool may_stop_;
  bool stopped_ = false;  // all that is wanted has been seen
  MemberGate gate_;
  std::size_t members_checked_ = 0;
  std::vector<std::string> warnings_;
};

}  // namespace

Result<Verification> read_members(Bundle& bundle, const ReadOptions& options,
                                  MemberVisitor& visitor) {
  auto verification = Pass(bundle, options, visitor).run();
  if (!verification) {
    Error& error = verification.error();
    const std::string& path = bundle.info().path;
    if (error.subject.empty()) {
      error.subject = path;
    } else if (is_of_input(error.code) && error.subject != path) {
      error.subject = path + ": " + error.subject;  // a member's; the bundle comes first
    }
  }
  return verification;
}

}  // namespace compatpack::pipeline
