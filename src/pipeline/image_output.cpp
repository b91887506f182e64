// SPDX-License-Identifier: Apache-2.0
#include "compatpack/pipeline/image_output.hpp"

#include <optional>
#include <utility>

#include "compatpack/formats/tar_writer.hpp"
#include "compatpack/io/file_source.hpp"
#include "compatpack/io/hashing_sink.hpp"
#include "compatpack/io/hashing_source.hpp"
#include "compatpack/io/whole_file.hpp"
#include "compatpack/pipeline/image_layout.hpp"

namespace compatpack::pipeline {
namespace {

using formats::OciDescriptor;

constexpr const char* kBlobs = "blobs/sha256";

io::Sink into(io::OutputFile& file) {
  return [&file](std::span<const std::byte> bytes) { return file.write(bytes); };
}

class LayoutOutput final : public ImageOutput {
 public:
  explicit LayoutOutput(std::unique_ptr<io::OutputDir> dir) : dir_(std::move(dir)) {}

  Result<OciDescriptor> add_new(std::string_view media_type,
                                const std::function<Result<Done>(const io::Sink&)>& fill) override {
    CP_CHECK(go_to(kBlobs));
    CP_TRY(const FileName unnamed, FileName::parse("new"));
    CP_TRY(io::OutputFile file, dir_->create(unnamed));
    io::HashingSink hashing(into(file));
    CP_CHECK(fill(hashing.sink()));
    CP_CHECK(dir_->finish(std::move(file), unnamed, io::FileMode::data));
    OciDescriptor blob{std::string(media_type), hashing.sha256(), hashing.size()};
    CP_TRY(const FileName name, FileName::parse(blob.sha256));
    CP_CHECK(take(blob.sha256) ? dir_->remove(unnamed) : dir_->rename(unnamed, name));
    return blob;
  }

  Result<std::string> finish(std::string_view index) override {
    CP_CHECK(go_to("."));
    CP_TRY(const FileName index_name, FileName::parse("index.json"));
    CP_TRY(const FileName layout_name, FileName::parse("oci-layout"));
    CP_CHECK(dir_->write_text(index_name, index, io::FileMode::data));
    CP_CHECK(dir_->write_text(layout_name, formats::render_oci_layout(), io::FileMode::data));
    return io::sha256_of(as_bytes(index));
  }

  Result<Done> sync() override { return dir_->sync(); }

  Result<Done> commit(bool replaces) override {
    return dir_->commit(replaces ? io::Replace::directory : io::Replace::nothing);
  }

  std::vector<io::AllowedFolder> allowed_folders() override { return dir_->allowed_folders(); }

 private:
  Result<Done> add_content(const OciDescriptor& blob, io::Source& content) override {
    CP_CHECK(go_to(kBlobs));
    CP_TRY(const FileName name, FileName::parse(blob.sha256));
    CP_TRY(io::OutputFile file, dir_->create(name));
    CP_CHECK(io::pass_on(content, into(file)));
    return dir_->finish(std::move(file), name, io::FileMode::data);
  }

  Result<Done> go_to(const char* folder) {
    CP_TRY(const RelPath path, RelPath::parse(folder));
    return dir_->go_to(path);
  }

  std::unique_ptr<io::OutputDir> dir_;
};

class ArchiveOutput final : public ImageOutput {
 public:
  ArchiveOutput(std::unique_ptr<io::WholeFile> file, io::OutputFile unnamed, std::uint64_t time_s)
      : file_(std::move(file)),
        unnamed_(std::move(unnamed)),
        whole_([this](std::span<const std::byte> bytes) { return file_->write(bytes); }),
        tar_(whole_.sink(), time_s) {}

  Result<OciDescriptor> add_new(std::string_view media_type,
                                const std::function<Result<Done>(const io::Sink&)>& fill) override {
    io::HashingSink hashing(into(unnamed_));
    CP_CHECK(fill(hashing.sink()));
    const OciDescriptor blob{std::string(media_type), hashing.sha256(), hashing.size()};
    CP_TRY(const auto content,
           io::FileSource::adopt(io::Fd(unnamed_.release()), "the layer", nullptr));
    CP_CHECK(add(blob, *content, "the layer"));
    return blob;
  }

  Result<std::string> finish(std::string_view index) override {
    CP_CHECK(add_file("index.json", {index.size()}));
    CP_CHECK(tar_.write(as_bytes(index)));
    const std::string layout = formats::render_oci_layout();
    CP_CHECK(add_file("oci-layout", {layout.size()}));
    CP_CHECK(tar_.write(as_bytes(layout)));
    CP_CHECK(tar_.finish());
    return whole_.sha256();
  }

  Result<Done> sync() override { return file_->sync(); }

  Result<Done> commit(bool replaces) override {
    return file_->commit(replaces ? io::Replace::file : io::Replace::nothing);
  }

  std::vector<io::AllowedFolder> allowed_folders() override { return file_->allowed_folders(); }

 private:
  Result<Done> add_content(const OciDescriptor& blob, io::Source& content) override {
    if (!has_folders_) {
      for (const char* const folder : {"blobs", kBlobs}) {
        CP_TRY(const RelPath path, RelPath::parse(folder));
        CP_CHECK(tar_.add_folder(path));
      }
      has_folders_ = true;
    }
    CP_CHECK(add_file(kBlobs + ("/" + blob.sha256), blob.size));
    CP_CHECK(io::pass_on(content, [this](auto bytes) { return tar_.write(bytes); }));
    return Done{};
  }

  Result<Done> add_file(const std::string& name, ByteCount size) {
    CP_TRY(const RelPath path, RelPath::parse(name));
    return tar_.begin_file(path, size, 0644);
  }

  std::unique_ptr<io::WholeFile> file_;
  io::OutputFile unnamed_;
  bool has_folders_ = false;
  io::HashingSink whole_;
  formats::TarWriter tar_;  // last: it writes to whole_, and that to file_
};

}  // namespace

Result<std::unique_ptr<ImageOutput>> ImageOutput::stage(const std::string& target,
                                                        ImageFormat format, std::uint64_t time_s) {
  if (format == ImageFormat::layout) {
    CP_TRY(auto dir, io::OutputDir::stage(target));
    return std::unique_ptr<ImageOutput>(new LayoutOutput(std::move(dir)));
  }
  CP_TRY(auto file, io::WholeFile::stage(target));
  CP_TRY(const io::TargetPath path, io::split_target(target));
  CP_TRY(io::OutputFile unnamed, io::OutputFile::temporary(path.parent, target));
  return std::unique_ptr<ImageOutput>(
      new ArchiveOutput(std::move(file), std::move(unnamed), time_s));
}

Result<Done> ImageOutput::add(const OciDescriptor& blob, io::Source& content,
                              const std::string& subject) {
  if (take(blob.sha256)) {
    return Done{};
  }
  io::HashingSource bytes(content, {});
  CP_CHECK(add_content(blob, bytes));
  CP_CHECK(bytes.finish());
  return check_blob_digest(blob, bytes.checker().whole_sha256(), subject);
}

Result<Done> ImageOutput::add_document(const ImageDocument& document) {
  io::MemorySource content(as_bytes(document.text));
  return add(document.blob, content, "a document");
}

}  // namespace compatpack::pipeline
