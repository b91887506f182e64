// SPDX-License-Identifier: Apache-2.0
#include "compatpack/formats/tar_writer.hpp"

#include <cerrno>
#include <exception>
#include <new>
#include <optional>
#include <utility>

#include <archive.h>
#include <archive_entry.h>

namespace compatpack::formats {
namespace {

struct FreeWriter {
  void operator()(archive* writer) const { archive_write_free(writer); }
};

struct FreeEntry {
  void operator()(archive_entry* entry) const { archive_entry_free(entry); }
};
using TarEntry = std::unique_ptr<archive_entry, FreeEntry>;

}  // namespace

struct TarWriter::State {
  io::Sink sink;
  time_t time;
  std::optional<Error> sink_error = {};  // set by the callback, which cannot return it
  bool is_taking = true;  // what is freed unfinished writes an end, and would look whole
  std::unique_ptr<archive, FreeWriter> writer{archive_write_new()};
  std::string current = {};  // path of the file that was begun
  ByteCount left = {};       // of its content

  State(io::Sink to, time_t time_s) : sink(std::move(to)), time(time_s) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { is_taking = false; }

  /// libarchive's view of `sink`. It never fails, since libarchive 3.6 does not free all of a
  /// writer that has failed: what comes after an error, or after the end, is let go.
  static la_ssize_t take_block(archive* /*writer*/, void* client, const void* buffer, size_t size) {
    auto& state = *static_cast<State*>(client);
    if (state.is_taking) {
      try {
        auto taken = state.sink({static_cast<const std::byte*>(buffer), size});
        if (!taken) {
          state.fail(std::move(taken).error());
        }
      } catch (const std::exception& fault) {
        state.fail(Error{.code = Errc::io, .what = "cannot go on", .found = fault.what()});
      }
    }
    return static_cast<la_ssize_t>(size);
  }

  void fail(Error error) {
    sink_error = std::move(error);
    is_taking = false;
  }

  /// What has become of a call about `subject`; libarchive says whether it succeeded.
  [[nodiscard]] Result<Done> outcome(bool is_done, const std::string& subject) const {
    if (sink_error) {
      return *sink_error;
    }
    if (is_done) {
      return Done{};
    }
    const char* const words = archive_error_string(writer.get());
    return Error{.code = Errc::unsupported,
                 .what = "tar cannot hold this entry",
                 .subject = subject,
                 .found = words == nullptr ? "" : words};
  }

  /// Error corrupt where the file that was begun has had less than its size.
  [[nodiscard]] Result<Done> check_complete() const {
    if (left.value == 0) {
      return Done{};
    }
    return Error{.code = Errc::corrupt,
                 .what = "file is shorter than it was",
                 .subject = current,
                 .found = std::to_string(left.value) + " bytes less"};
  }

  TarEntry new_entry(const RelPath& path, unsigned type, unsigned mode) const {
    TarEntry entry(archive_entry_new());
    if (!entry) {
      throw std::bad_alloc();
    }
    archive_entry_set_pathname(entry.get(), path.text().c_str());
    archive_entry_set_filetype(entry.get(), type);
    archive_entry_set_perm(entry.get(), static_cast<mode_t>(mode));
    archive_entry_set_mtime(entry.get(), time, 0);
    archive_entry_set_size(entry.get(), 0);
    return entry;
  }

  Result<Done> add(const TarEntry& entry, const RelPath& path) {
    CP_CHECK(check_complete());
    current = path.text();
    return outcome(archive_write_header(writer.get(), entry.get()) == ARCHIVE_OK, current);
  }
};

TarWriter::TarWriter(io::Sink sink, std::uint64_t time_s)
    : state_(std::make_unique<State>(std::move(sink), static_cast<time_t>(time_s))) {
  archive* const writer = state_->writer.get();
  const bool is_ready =
      writer != nullptr && archive_write_set_format_ustar(writer) == ARCHIVE_OK &&
      archive_write_set_bytes_per_block(writer, 0) == ARCHIVE_OK &&
      archive_write_set_bytes_in_last_block(writer, 1) == ARCHIVE_OK &&
      archive_write_open(writer, state_.get(), nullptr, &State::take_block, nullptr) == ARCHIVE_OK;
  if (!is_ready) {
    throw std::bad_alloc();
  }
}

TarWriter::~TarWriter() = default;

Result<Done> TarWriter::add_folder(const RelPath& path, const TarFolder& folder) {
  const TarEntry entry = state_->new_entry(path, AE_IFDIR, folder.mode);
  archive_entry_set_uid(entry.get(), folder.owner);
  archive_entry_set_gid(entry.get(), folder.group);
  return state_->add(entry, path);
}

Result<Done> TarWriter::add_link(const RelPath& path, const std::string& target) {
  const TarEntry entry = state_->new_entry(path, AE_IFLNK, 0777);
  archive_entry_set_symlink(entry.get(), target.c_str());
  return state_->add(entry, path);
}

Result<Done> TarWriter::begin_file(const RelPath& path, ByteCount size, unsigned mode) {
  const TarEntry entry = state_->new_entry(path, AE_IFREG, mode);
  archive_entry_set_size(entry.get(), static_cast<la_int64_t>(size.value));
  CP_CHECK(state_->add(entry, path));
  state_->left = size;
  return Done{};
}

Result<Done> TarWriter::write(std::span<const std::byte> bytes) {
  if (bytes.size() > state_->left.value) {
    return Error{
        .code = Errc::corrupt, .what = "file is longer than it was", .subject = state_->current};
  }
  const la_ssize_t count = archive_write_data(state_->writer.get(), bytes.data(), bytes.size());
  CP_CHECK(state_->outcome(count >= 0 && static_cast<std::size_t>(count) == bytes.size(),
                           state_->current));
  state_->left.value -= bytes.size();
  return Done{};
}

Result<Done> TarWriter::finish() {
  CP_CHECK(state_->check_complete());
  return state_->outcome(archive_write_close(state_->writer.get()) == ARCHIVE_OK, "");
}

}  // namespace compatpack::formats
