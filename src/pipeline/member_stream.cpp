// SPDX-License-Identifier: Apache-2.0
#include "compatpack/pipeline/member_stream.hpp"

#include <set>
#include <utility>

#include "compatpack/base/text.hpp"
#include "compatpack/formats/base64.hpp"
#include "compatpack/formats/decoder.hpp"
#include "compatpack/io/hashing_source.hpp"

namespace compatpack::pipeline {
namespace {

using formats::EntryType;

Error refused(const formats::Entry& entry, std::string what, std::string expected,
              std::string found) {
  return Error{.code = Errc::unsafe_path,
               .what = std::move(what),
               .subject = entry.path,
               .expected = std::move(expected),
               .found = std::move(found),
               .hint = "do not use this bundle; nothing was written"};
}

/// Turns entries into members, or refuses the bundle. One for a whole bundle: a link of its first
/// archive must not lead a file of its second astray either.
class Gate {
 public:
  Result<Member> admit(const formats::Entry& entry) {
    auto path = RelPath::parse(entry.path);
    if (!path) {
      return std::move(path).error();
    }
    if (entry.type == EntryType::special) {
      return refused(entry, "archive holds a device, FIFO or socket",
                     "files, folders and links only", entry.path);
    }
    if (const std::string link = symlink_above(path->text()); !link.empty()) {
      return refused(entry, "archive member lies behind a symbolic link", "a path of folders",
                     link + " is a link");
    }
    Member member{*path, entry.type, entry.size, entry.mode_bits, entry.link_target};
    if (entry.type == EntryType::symlink) {
      symlinks_.insert(path->text());
    } else {
      symlinks_.erase(path->text());  // tar replaces the link, and leaves what it leads to alone
    }
    if (entry.type == EntryType::hardlink) {
      auto target = RelPath::parse(entry.link_target);
      if (!target) {
        return refused(entry, "hard link leaves the output directory",
                       "a member of the same archive", entry.link_target);
      }
      member.link_target = target->text();
    }
    return member;
  }

 private:
  /// The symlink that the path leads through, or "".
  [[nodiscard]] std::string symlink_above(const std::string& path) const {
    if (symlinks_.empty()) {
      return {};
    }
    for (std::size_t slash = path.find('/'); slash != std::string::npos;
         slash = path.find('/', slash + 1)) {
      if (symlinks_.contains(path.substr(0, slash))) {
        return path.substr(0, slash);
      }
    }
    return {};
  }

  std::set<std::string> symlinks_;
};

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

class Pass {
 public:
  Pass(Bundle& bundle, const ReadOptions& options, MemberVisitor& visitor)
      : bundle_(bundle), options_(options), visitor_(visitor), hashing_(bundle.bytes(), claims()) {}

  Result<Verification> run() {
    std::optional<Error> failure;
    for (const ByteRange& payload : bundle_.info().payloads) {
      failure = read_payload(payload);
      if (failure) {
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
    return Verification{checker.whole_sha256(), checker.checked(), std::move(warnings_)};
  }

 private:
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
    if (auto failure = read_archive(**decoder)) {
      return failure;
    }
    // tar stops at its end marker; what the streams hold behind it has its checks too.
    if (auto rest = io::drain(**decoder); !rest) {
      return at_payload(std::move(rest).error());
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

  std::optional<Error> read_archive(io::Source& source) {
    auto reader = formats::ArchiveReader::open(source, options_.limits);
    if (!reader) {
      return at_payload(std::move(reader).error());
    }
    for (;;) {
      auto entry = (*reader)->next();
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
      formats::EntryContent content(**reader);
      if (auto visited = visitor_.visit(*member, content); !visited) {
        return at_payload(std::move(visited).error());
      }
    }
  }

  Bundle& bundle_;
  const ReadOptions& options_;
  MemberVisitor& visitor_;
  io::HashingSource hashing_;
  Gate gate_;
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
