// SPDX-License-Identifier: Apache-2.0
#include "compatpack/formats/archive.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <new>

#include <archive.h>
#include <archive_entry.h>
#include <sys/stat.h>

namespace compatpack::formats {
namespace {

constexpr std::size_t kBlockSize = 128U << 10U;
constexpr const char* kStream = "the extracted archive";
constexpr mode_t kModeBits = 07777;  // libarchive passes on what else the field holds

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
  State(io::Source& source_in, const Limits& limits_in, Spent* spent_in)
      : source(source_in), limits(limits_in), spent(spent_in == nullptr ? own : *spent_in) {}

  io::Source& source;
  Limits limits;
  Spent own;  // where nobody else counts
  Spent& spent;
  ByteCount taken;                    // from the source
  std::optional<Error> source_error;  // set by the callback, which cannot return it
  std::array<std::byte, kBlockSize> block{};
  std::unique_ptr<archive, FreeArchive> reader{archive_read_new()};
  bool is_file = false;        // the current entry; only files have content
  ByteCount content_left;      // of it
  bool content_ended = false;  // what is left of it is a hole
  bool ended = false;
  std::optional<Error> failure;

  /// libarchive's view of `source`: -1 and no exception where it fails.
  static la_ssize_t read_block(archive* reader, void* client, const void** buffer) {
    auto& state = *static_cast<State*>(client);
    try {
      auto count = state.source.read(state.block);
      if (count) {
        state.taken.value += *count;
        state.spent.archives.value += *count;
        *buffer = state.block.data();
        return static_cast<la_ssize_t>(*count);
      }
      state.source_error = std::move(count).error();
    } catch (const std::exception& fault) {
      state.source_error = Error{.code = Errc::io, .what = "cannot go on", .found = fault.what()};
    }
    archive_set_error(reader, EIO, "the source failed");
    return -1;
  }

  [[nodiscard]] ByteOffset position() const {
    const auto read = archive_filter_bytes(reader.get(), 0);
    return {read < 0 ? 0 : static_cast<std::uint64_t>(read)};
  }

  [[nodiscard]] ByteOffset header_position() const {
    const auto at = archive_read_header_position(reader.get());
    return {at < 0 ? 0 : static_cast<std::uint64_t>(at)};
  }

  /// Keeps `error`, which every later call gives again, and returns it.
  Error fail(Error error) {
    failure = std::move(error);
    return *failure;
  }

  Error fail_at(ByteOffset at, std::string found) {
    return fail({.code = Errc::corrupt,
                 .what = "tar archive is damaged",
                 .at = at,
                 .stream = kStream,
                 .expected = "a tar archive",
                 .found = std::move(found)});
  }

  /// What went wrong, told from what libarchive says; `at` is where, if nothing is missing.
  Error fail_as_told(ByteOffset at) {
    if (source_error) {
      return fail(*source_error);
    }
    std::string words = text_or_empty(archive_error_string(reader.get()));
    if (taken.value > 0 && !words.starts_with("Truncated")) {
      return fail_at(at, std::move(words));
    }
    return fail({.code = Errc::corrupt,
                 .what = "tar archive ends early",
                 .at = position(),
                 .stream = kStream,
                 .found = "end of file",
                 .hint = "the download is incomplete; fetch it again"});
  }

  Result<Done> check_limits(const Entry& entry);
  Result<Done> check_holes();
};

/// Counts `entry` in. Its own size is looked at first: no sum of small ones overflows.
Result<Done> ArchiveReader::State::check_limits(const Entry& entry) {
  const auto refused = [this](std::string what, std::uint64_t max, std::string unit,
                              std::string found) {
    return fail({.code = Errc::limit,
                 .what = std::move(what),
                 .at = header_position(),
                 .stream = kStream,
                 .expected = "at most " + std::to_string(max) + std::move(unit),
                 .found = std::move(found)});
  };
  if (++spent.members > limits.members) {
    return refused("archive has too many members", limits.members, "", entry.path);
  }
  const std::string found = entry.path + ", " + std::to_string(entry.size.value) + " bytes";
  if (entry.size > limits.member) {
    return refused("archive member is too large", limits.member.value, " bytes", found);
  }
  spent.unpacked.value += entry.size.value;
  if (spent.unpacked > limits.unpacked) {
    return refused("archive is too large", limits.unpacked.value, " bytes", found);
  }
  return Done{};
}

/// What was given beyond the archives' own bytes were holes: a few bytes of it can fill a disk.
Result<Done> ArchiveReader::State::check_holes() {
  if (spent.content.value <= spent.archives.value + limits.holes.value) {
    return Done{};
  }
  return fail({.code = Errc::limit,
               .what = "the archive's sparse members are too large",
               .at = position(),
               .stream = kStream,
               .expected = "holes of at most " + std::to_string(limits.holes.value) + " bytes",
               .found = "more",
               .hint = "no driver has any; this is made to fill a disk"});
}

Result<std::unique_ptr<ArchiveReader>> ArchiveReader::open(io::Source& source, const Limits& limits,
                                                           Spent* spent) {
  auto state = std::make_unique<State>(source, limits, spent);
  archive* const reader = state->reader.get();
  if (reader == nullptr) {
    throw std::bad_alloc();
  }
  if (archive_read_support_format_tar(reader) != ARCHIVE_OK ||
      archive_read_open(reader, state.get(), nullptr, &State::read_block, nullptr) != ARCHIVE_OK) {
    return state->fail_as_told({});
  }
  return std::unique_ptr<ArchiveReader>(new ArchiveReader(std::move(state)));
}

ArchiveReader::ArchiveReader(std::unique_ptr<State> state) : state_(std::move(state)) {}
ArchiveReader::~ArchiveReader() = default;

Result<std::optional<Entry>> ArchiveReader::next() {
  State& state = *state_;
  if (state.failure) {
    return *state.failure;
  }
  if (state.ended) {
    return std::optional<Entry>();
  }
  archive_entry* raw = nullptr;
  const int status = archive_read_next_header(state.reader.get(), &raw);
  state.is_file = false;
  if (status == ARCHIVE_EOF && !state.source_error) {
    state.ended = true;
    return std::optional<Entry>();
  }
  // A name that is not UTF-8 is a warning, and is read all the same. Any other warning says that
  // something was passed over, a size perhaps.
  const bool only_charset = status == ARCHIVE_WARN && archive_errno(state.reader.get()) == EILSEQ;
  if (status != ARCHIVE_OK && !only_charset) {
    return state.fail_as_told(state.header_position());
  }
  Entry entry{.path = text_or_empty(archive_entry_pathname(raw)),
              .type = type_of(raw),
              .size = {},
              .mode_bits = static_cast<std::uint32_t>(archive_entry_perm(raw) & kModeBits),
              .link_target = {},
              .owner = archive_entry_uid(raw),
              .group = archive_entry_gid(raw)};
  if (entry.path.empty()) {
    return state.fail({.code = Errc::corrupt,
                       .what = "archive member has no name",
                       .at = state.header_position(),
                       .stream = kStream,
                       .expected = "a name",
                       .found = "none"});
  }
  if (entry.type == EntryType::hardlink) {
    entry.link_target = text_or_empty(archive_entry_hardlink(raw));
  } else if (entry.type == EntryType::symlink) {
    entry.link_target = text_or_empty(archive_entry_symlink(raw));
  } else if (entry.type == EntryType::file) {
    const auto size = archive_entry_size(raw);
    entry.size = {size < 0 ? 0 : static_cast<std::uint64_t>(size)};
  }
  CP_CHECK(state.check_limits(entry));
  state.content_left = entry.size;
  state.content_ended = false;
  state.is_file = entry.type == EntryType::file;
  return std::optional(std::move(entry));
}

Result<std::size_t> ArchiveReader::read(std::span<std::byte> into) {
  State& state = *state_;
  if (state.failure) {
    return *state.failure;
  }
  if (!state.is_file) {
    return std::size_t{0};
  }
  std::uint64_t got = 0;
  if (!state.content_ended) {
    const auto count = archive_read_data(state.reader.get(), into.data(), into.size());
    if (count < 0) {
      return state.fail_as_told(state.position());
    }
    got = static_cast<std::uint64_t>(count);
    state.content_ended = got == 0;
  }
  if (got > state.content_left.value) {  // the map of a sparse file promises more than its size
    return state.fail_at(state.position(), "a member longer than its header says");
  }
  // libarchive leaves out the hole at a file's end; asked again it would give some of it.
  if (state.content_ended) {
    got = std::min<std::uint64_t>(state.content_left.value, into.size());
    std::fill_n(into.begin(), got, std::byte{0});
  }
  state.content_left.value -= got;
  state.spent.content.value += got;
  CP_CHECK(state.check_holes());
  return static_cast<std::size_t>(got);
}

std::string archive_library_version() {
  const std::string text = archive_version_string();  // "libarchive 3.6.2"
  return text.substr(text.find(' ') + 1);
}

}  // namespace compatpack::formats
