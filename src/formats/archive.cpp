// SPDX-License-Identifier: Apache-2.0
#include "compatpack/formats/archive.hpp"

#include <array>
#include <cerrno>
#include <new>

#include <archive.h>
#include <archive_entry.h>
#include <sys/stat.h>

namespace compatpack::formats {
namespace {

constexpr std::size_t kBlockSize = 128U << 10U;

struct FreeArchive {
  void operator()(archive* reader) const { archive_read_free(reader); }
};

EntryType type_of(archive_entry* entry) {
  if (archive_entry_hardlink(entry) != nullptr) {
    return EntryType::hardlink;
  }
  switch (archive_entry_filetype(entry)) {
    case AE_IFREG:
      return EntryType::file;
    case AE_IFDIR:
      return EntryType::folder;
    case AE_IFLNK:
      return EntryType::symlink;
    default:
      return EntryType::special;
  }
}

std::string text_or_empty(const char* text) { return text == nullptr ? "" : text; }

}  // namespace

struct ArchiveReader::State {
  State(io::Source& source_in, const Limits& limits_in) : source(source_in), limits(limits_in) {}

  io::Source& source;
  Limits limits;
  std::optional<Error> source_error;  // set by the callback, which cannot return it
  std::array<std::byte, kBlockSize> block{};
  std::unique_ptr<archive, FreeArchive> reader{archive_read_new()};
  std::uint64_t members = 0;
  ByteCount unpacked;
  bool ended = false;

  /// libarchive's view of `source`: -1 and no exception where it fails.
  static la_ssize_t read_block(archive* reader, void* client, const void** buffer) {
    auto& state = *static_cast<State*>(client);
    try {
      auto count = state.source.read(state.block);
      if (count) {
        *buffer = state.block.data();
        return static_cast<la_ssize_t>(*count);
      }
      state.source_error = std::move(count).error();
    } catch (const std::bad_alloc&) {
      state.source_error = io_error("cannot go on", "", ENOMEM);
    }
    archive_set_error(reader, EIO, "the source failed");
    return -1;
  }

  /// What went wrong, told from what libarchive says.
  Error failure() {
    if (source_error) {
      return *source_error;
    }
    const std::string found = text_or_empty(archive_error_string(reader.get()));
    const auto position = archive_filter_bytes(reader.get(), 0);
    const bool cut = found.starts_with("Truncated");
    return Error{.code = Errc::corrupt,
                 .what = cut ? "tar archive ends early" : "tar archive is damaged",
                 .at = ByteOffset{position < 0 ? 0 : static_cast<std::uint64_t>(position)},
                 .stream = "the extracted archive",
                 .expected = cut ? "" : "a tar archive",
                 .found = cut ? "end of file" : found,
                 .hint = cut ? "the download is incomplete; fetch it again" : ""};
  }
};

Result<std::unique_ptr<ArchiveReader>> ArchiveReader::open(io::Source& source,
                                                           const Limits& limits) {
  auto state = std::make_unique<State>(source, limits);
  archive* const reader = state->reader.get();
  if (reader == nullptr) {
    throw std::bad_alloc();
  }
  const bool ready = archive_read_support_format_tar(reader) == ARCHIVE_OK &&
                     archive_read_support_format_gnutar(reader) == ARCHIVE_OK;
  if (!ready ||
      archive_read_open(reader, state.get(), nullptr, &State::read_block, nullptr) != ARCHIVE_OK) {
    return state->failure();
  }
  return std::unique_ptr<ArchiveReader>(new ArchiveReader(std::move(state)));
}

ArchiveReader::ArchiveReader(std::unique_ptr<State> state) : state_(std::move(state)) {}
ArchiveReader::~ArchiveReader() = default;

Result<std::optional<Entry>> ArchiveReader::next() {
  State& state = *state_;
  if (state.ended) {
    return std::optional<Entry>();
  }
  archive_entry* raw = nullptr;
  const int status = archive_read_next_header(state.reader.get(), &raw);
  if (status == ARCHIVE_EOF && !state.source_error) {
    state.ended = true;
    return std::optional<Entry>();
  }
  if (status != ARCHIVE_OK && status != ARCHIVE_WARN) {
    return state.failure();
  }
  Entry entry{.path = text_or_empty(archive_entry_pathname(raw)),
              .type = type_of(raw),
              .size = {},
              .mode_bits = static_cast<std::uint32_t>(archive_entry_perm(raw))};
  const auto position = archive_read_header_position(state.reader.get());
  const ByteOffset at{position < 0 ? 0 : static_cast<std::uint64_t>(position)};
  const auto refused = [&](Errc code, std::string what, std::string expected, std::string found) {
    return Error{.code = code,
                 .what = std::move(what),
                 .at = at,
                 .stream = "the extracted archive",
                 .expected = std::move(expected),
                 .found = std::move(found)};
  };
  if (entry.path.empty()) {
    return refused(Errc::corrupt, "archive member has no name", "a name", "none");
  }
  if (++state.members > state.limits.members) {
    return refused(Errc::limit, "archive has too many members",
                   "at most " + std::to_string(state.limits.members), entry.path);
  }
  if (entry.type == EntryType::hardlink) {
    entry.link_target = text_or_empty(archive_entry_hardlink(raw));
  } else if (entry.type == EntryType::symlink) {
    entry.link_target = text_or_empty(archive_entry_symlink(raw));
  } else if (entry.type == EntryType::file) {
    const auto size = archive_entry_size(raw);
    entry.size = {size < 0 ? 0 : static_cast<std::uint64_t>(size)};
    state.unpacked.value += entry.size.value;
    if (entry.size > state.limits.member || state.unpacked > state.limits.unpacked) {
      const bool one = entry.size > state.limits.member;
      return refused(
          Errc::limit, one ? "archive member is too large" : "archive is too large",
          "at most " +
              std::to_string(one ? state.limits.member.value : state.limits.unpacked.value) +
              " bytes",
          entry.path + ", " + std::to_string(entry.size.value) + " bytes");
    }
  }
  return std::optional(std::move(entry));
}

Result<std::size_t> ArchiveReader::read(std::span<std::byte> into) {
  const auto count = archive_read_data(state_->reader.get(), into.data(), into.size());
  if (count < 0) {
    return state_->failure();
  }
  return static_cast<std::size_t>(count);
}

}  // namespace compatpack::formats
