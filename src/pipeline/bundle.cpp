// SPDX-License-Identifier: Apache-2.0
#include "compatpack/pipeline/bundle.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "compatpack/base/text.hpp"
#include "compatpack/formats/ar.hpp"
#include "compatpack/io/digest.hpp"
#include "compatpack/io/folder_walk.hpp"

#include "bundle_kinds.hpp"

namespace compatpack::pipeline {
namespace {

/// One source behind another.
class ChainedSource final : public io::Source {
 public:
  ChainedSource(std::span<const std::byte> first, io::Source& second)
      : first_(first), second_(second) {}

  Result<std::size_t> read(std::span<std::byte> into) override {
    CP_TRY(const std::size_t count, first_.read(into));
    if (count > 0) {
      return count;
    }
    return second_.read(into);
  }

 private:
  io::MemorySource first_;
  io::Source& second_;
};

struct Magic {
  std::string_view bytes;
  std::string_view description;
};

using namespace std::string_view_literals;

// What users have fed to unpackers in place of a bundle.
constexpr auto kMagics = std::to_array<Magic>({
    {"\x7f"
     "ELF"sv,
     "an ELF program or library"},
    {"MZ"sv, "a Windows program"},
    {"!<arch>\n"sv, "an ar archive that is no .deb package"},
    {"PK\x03\x04"sv, "a zip archive"},
    {"%PDF"sv, "a PDF document"},
    {"<?xml"sv, "an XML document"},
    {"{"sv, "JSON text, perhaps a server's error message"},
});

bool is_web_page(std::string_view head) {
  std::string start(trim(head.substr(0, 512)));
  std::transform(start.begin(), start.end(), start.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return start.starts_with("<!doctype") || start.starts_with("<html") ||
         start.find("<html") != std::string::npos;
}

std::string folder_name(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) {
    path.pop_back();
  }
  return std::string(last_component(path));
}

/// The files below a folder as members of an archive.
class FolderReader final : public formats::EntryReader {
 public:
  FolderReader(std::unique_ptr<io::FolderWalk> walk, io::ReadObserver* observer)
      : walk_(std::move(walk)), observer_(observer) {}

  Result<std::optional<formats::Entry>> next() override {
    for (;;) {
      CP_TRY(auto found, walk_->next());
      if (!found) {
        return std::optional<formats::Entry>();
      }
      // A socket or FIFO beside the libraries is nobody's attack, and is never opened.
      if (found->kind != io::FoundEntry::Kind::special) {
        return std::optional(formats::Entry{.path = std::move(found->path),
                                            .type = type_of(found->kind),
                                            .size = found->size,
                                            .mode_bits = found->mode_bits,
                                            .link_target = std::move(found->link_target)});
      }
    }
  }

  Result<std::size_t> read(std::span<std::byte> into) override {
    CP_TRY(const std::size_t count, walk_->read(into));
    so_far_.value += count;
    if (observer_ != nullptr && count > 0) {
      CP_CHECK(observer_->on_read(so_far_, {}));
    }
    return count;
  }

 private:
  static formats::EntryType type_of(io::FoundEntry::Kind kind) {
    switch (kind) {
      case io::FoundEntry::Kind::file:
        return formats::EntryType::file;
      case io::FoundEntry::Kind::folder:
        return formats::EntryType::folder;
      case io::FoundEntry::Kind::link:
        return formats::EntryType::symlink;
      case io::FoundEntry::Kind::special:
        return formats::EntryType::special;
    }
    return formats::EntryType::special;
  }

  std::unique_ptr<io::FolderWalk> walk_;
  io::ReadObserver* observer_;
  ByteCount so_far_;
};

Error not_a_bundle(Error error, std::string_view head, ByteCount size) {
  std::string other = size.value == 0 ? "an empty file" : describe_other_file(head);
  if (!other.empty()) {
    error.found = std::move(other);
    error.hint =
        is_web_page(head) ? "the download gave a page in place of the file; fetch it again" : "";
  }
  error.what = "not a bundle that compatpack reads";
  error.expected = "an NVIDIA .run file, a .deb or .rpm package, or a tar archive";
  return error;
}

/// By content alone: people rename downloads.
Result<Done> read_header(BundleInfo& info, const io::FileSource& file,
                         std::span<const std::byte> head, const Limits& limits) {
  if (formats::is_ar(head)) {
    return read_deb(info, file, limits);
  }
  if (formats::is_rpm(head)) {
    return read_rpm(info, head, limits);
  }
  if (looks_like_tar(head)) {
    read_tar(info);
    return Done{};
  }
  return read_run(info, head);
}

}  // namespace

bool are_payloads_covered(const BundleInfo& info, const std::vector<DigestClaim>& claims) {
  return std::all_of(info.payloads.begin(), info.payloads.end(), [&](const ByteRange& payload) {
    return std::any_of(claims.begin(), claims.end(), [&payload](const DigestClaim& claim) {
      return claim.algorithm != DigestAlgorithm::cksum && claim.covers.begin <= payload.begin &&
             claim.covers.end >= payload.end;
    });
  });
}

std::string describe_other_file(std::string_view head) {
  if (is_web_page(head)) {
    return "a web page";
  }
  for (const Magic& magic : kMagics) {
    if (head.starts_with(magic.bytes)) {
      return std::string(magic.description);
    }
  }
  if (head.starts_with("#!")) {
    const bool gzexe = head.find("gztmp") != std::string_view::npos ||
                       head.find("gzexe") != std::string_view::npos;
    return gzexe ? "a program compressed with gzexe" : "a script that is no makeself bundle";
  }
  return {};
}

std::string_view name_of(BundleKind kind) {
  switch (kind) {
    case BundleKind::run:
      return "run";
    case BundleKind::deb:
      return "deb";
    case BundleKind::rpm:
      return "rpm";
    case BundleKind::tar:
      return "tar";
    case BundleKind::folder:
      return "folder";
  }
  return "";
}

Result<std::unique_ptr<Bundle>> Bundle::open(const std::string& path, io::ReadObserver* observer,
                                             const Limits& limits) {
  if (io::is_folder(path)) {
    BundleInfo info{.path = path,
                    .name = folder_name(path),
                    .size = {},
                    .kind = BundleKind::folder,
                    .dialect = "folder of files"};
    return std::unique_ptr<Bundle>(new Bundle(nullptr, {}, std::move(info), observer));
  }
  CP_TRY(auto file, io::FileSource::open(path, observer));
  return read(std::move(file), path, std::string(last_component(path)), limits);
}

Result<std::unique_ptr<Bundle>> Bundle::read(std::unique_ptr<io::FileSource> file,
                                             const std::string& path, const std::string& name,
                                             const Limits& limits) {
  const ByteCount size = file->size();
  std::vector<std::byte> head(static_cast<std::size_t>(std::min(size.value, limits.header.value)));
  CP_TRY(const std::size_t count, io::read_full(*file, head));
  head.resize(count);

  BundleInfo info{.path = path, .name = name, .size = size, .kind = {}};
  if (auto done = read_header(info, *file, head, limits); !done) {
    Error error = std::move(done).error();
    if (error.code == Errc::not_recognized) {
      error = not_a_bundle(std::move(error), as_text(head), size);
    }
    error.subject = path;
    return error;
  }
  const std::uint64_t start = info.payloads.front().begin.value;
  if (start > head.size()) {
    return Error{.code = Errc::limit,
                 .what = "too much stands before the payload",
                 .subject = path,
                 .expected = "at most " + std::to_string(limits.header.value) + " bytes",
                 .found = std::to_string(start)};
  }
  const auto payload = std::span(head).subspan(static_cast<std::size_t>(start));
  info.header_sha256 = io::sha256_of(std::span(head).first(static_cast<std::size_t>(start)));
  info.compression =
      formats::sniff_compression(payload.first(std::min(payload.size(), formats::kSniffSize)));
  return std::unique_ptr<Bundle>(
      new Bundle(std::move(file), std::move(head), std::move(info), nullptr));
}

Bundle::Bundle(std::unique_ptr<io::FileSource> file, std::vector<std::byte> head, BundleInfo info,
               io::ReadObserver* observer)
    : file_(std::move(file)), observer_(observer), head_(std::move(head)), info_(std::move(info)) {}

Result<std::unique_ptr<formats::EntryReader>> Bundle::open_folder(const Limits& limits) const {
  CP_TRY(auto walk, io::FolderWalk::open(info_.path, limits));
  return std::unique_ptr<formats::EntryReader>(
      std::make_unique<FolderReader>(std::move(walk), observer_));
}

io::Source& Bundle::bytes() {
  if (is_folder()) {
    bytes_ = std::make_unique<io::MemorySource>(head_);
  } else {
    bytes_ = std::make_unique<ChainedSource>(head_, *file_);
  }
  return *bytes_;
}

}  // namespace compatpack::pipeline
