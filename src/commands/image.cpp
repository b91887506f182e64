// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <filesystem>
#include <functional>
#include <system_error>
#include <utility>

#include "compatpack/base/environment.hpp"
#include "compatpack/base/text.hpp"
#include "compatpack/commands/commands.hpp"
#include "compatpack/io/absolute_path.hpp"
#include "compatpack/io/folder_walk.hpp"
#include "compatpack/io/hashing_sink.hpp"
#include "compatpack/io/whole_file.hpp"
#include "compatpack/pipeline/image_base.hpp"
#include "compatpack/pipeline/image_documents.hpp"
#include "compatpack/pipeline/image_layer.hpp"
#include "compatpack/pipeline/image_layout.hpp"
#include "compatpack/pipeline/target.hpp"
#include "compatpack/pipeline/tree.hpp"

#include "bundle_steps.hpp"
#include "target_steps.hpp"
#include "tree_steps.hpp"

namespace compatpack::commands {
namespace {

using formats::OciDescriptor;
using pipeline::ImageFormat;
using pipeline::Receipt;

/// SOURCE_DATE_EPOCH, or the first second of 1970. Error usage.
///
/// https://reproducible-builds.org/specs/source-date-epoch/
Result<std::uint64_t> time_of_sources(const Env& env) {
  const auto text = value_of(env.environment, "SOURCE_DATE_EPOCH");
  const auto seconds = text ? parse_decimal(*text) : std::optional<std::uint64_t>(0);
  if (seconds && *seconds <= formats::kTarTimeMax) {
    return *seconds;
  }
  return Error{.code = Errc::usage,
               .what = "not a time",
               .subject = "SOURCE_DATE_EPOCH",
               .expected = "seconds since 1970, at most " + std::to_string(formats::kTarTimeMax),
               .found = std::string(*text)};
}

/// What stands where a file is to be made.
struct FilePlace {
  bool is_there = false;
  std::string sha256 = {};
};

/// Error conflict where something stands there that is no regular file.
Result<FilePlace> look_at_file(const std::string& path) {
  CP_TRY(const io::TargetPath parts, io::split_target(path));
  CP_TRY(const auto folder, io::TreeFolder::open(parts.parent));
  if (!folder || !folder->is_folder()) {
    return FilePlace{};  // what is in the way is told by who makes the folders
  }
  CP_TRY(const io::TreeEntry entry, folder->look(parts.name));
  if (entry.kind == io::TreeEntry::Kind::nothing) {
    return FilePlace{};
  }
  if (entry.kind != io::TreeEntry::Kind::file) {
    return Error{.code = Errc::conflict,
                 .what = "something that is no file stands there",
                 .subject = path,
                 .expected = "nothing, or a file",
                 .found = entry.shown(),
                 .hint = "choose another --out"};
  }
  CP_TRY(std::string sha256, folder->sha256(parts.name));
  return FilePlace{true, std::move(sha256)};
}

/// One run of image.
class Image {
 public:
  Image(const ImageOptions& options, const Env& env, Console& console)
      : options_(options), env_(env), console_(console) {}

  Result<int> run() {
    CP_CHECK(check_options());
    CP_TRY(target_, io::absolute_tree(options_.out));
    CP_TRY(time_s_, time_of_sources(env_));
    CP_CHECK(look_twice([this] { return look_at_target(""); }));
    CP_CHECK(open_source());
    CP_CHECK(stage());
    CP_CHECK(read_tree());
    return options_.format == ImageFormat::layer ? write_layer_file() : write_image();
  }

 private:
  Result<Done> check_options() {
    CP_CHECK(pipeline::check_tree_path(options_.prefix));
    auto path = RelPath::parse(std::string_view(options_.prefix).substr(1));
    if (!path || path->text() == ".") {
      return Error{.code = Errc::usage,
                   .what = "not a folder in an image",
                   .subject = "--prefix",
                   .expected = "a path such as /usr/local/cuda/compat",
                   .found = options_.prefix};
    }
    prefix_ = "/" + path->text();
    CP_CHECK(pipeline::check_tree_path(prefix_));
    if (!options_.volume) {
      place_ = pipeline::new_place(*path);
      if (prefix_.find("/" + std::string(pipeline::kWhiteout)) != std::string::npos) {
        return Error{.code = Errc::usage,
                     .what = "in a layer such a folder would hide another one",
                     .subject = "--prefix",
                     .expected = "no name that begins with " + std::string(pipeline::kWhiteout),
                     .found = options_.prefix};
      }
    }
    if (!formats::is_oci_tag(options_.tag)) {
      return Error{.code = Errc::usage,
                   .what = "not a tag",
                   .subject = "--tag",
                   .expected = "at most 128 letters, digits, '.', '_' and '-'",
                   .found = options_.tag};
    }
    const bool is_layer = options_.format == ImageFormat::layer;
    const char* const odd = is_layer && !options_.base.empty()          ? "--base"
                            : is_layer && options_.library_path         ? "--ld-library-path"
                            : options_.volume && !options_.base.empty() ? "--base"
                            : options_.volume && options_.library_path  ? "--ld-library-path"
                                                                        : nullptr;
    if (odd != nullptr) {
      return Error{.code = Errc::usage,
                   .what = "an option that is about an image to be run",
                   .subject = odd,
                   .found = is_layer ? "--format layer" : "--volume"};
    }
    return Done{};
  }

  /// Whether the target is already what was made, `sha256` ("" if that is not known yet). Error
  /// conflict where it is something else that may not be replaced.
  Result<bool> look_at_target(const std::string& sha256) {
    if (options_.format == ImageFormat::layout) {
      CP_TRY(const pipeline::LayoutPlace place, pipeline::look_at_layout(target_));
      if (place.kind == pipeline::LayoutPlace::Kind::foreign) {
        return foreign_target(options_.out, "a layout of compatpack's", place.why);
      }
      stands_there_ = place.kind == pipeline::LayoutPlace::Kind::layout;
      held_sha256_ = place.index_sha256;
    } else {
      CP_TRY(const FilePlace place, look_at_file(target_));
      stands_there_ = place.is_there;
      held_sha256_ = place.sha256;
    }
    return sha256.empty() ? Result<bool>(false) : is_up_to_date(sha256);
  }

  Result<Done> open_source() {
    const std::string& first = options_.source.bundles.front();
    if (options_.source.bundles.size() == 1 && io::is_folder(first)) {
      // A receipt that cannot be read does not make a bundle of a tree.
      CP_TRY(const auto folder, io::TreeFolder::open(first));
      if (folder) {
        CP_TRY(const io::TreeEntry receipt, folder->look(std::string(pipeline::kReceiptName)));
        is_tree_ = receipt.kind != io::TreeEntry::Kind::nothing;
      }
    }
    CP_CHECK(check_apart());
    if (!is_tree_) {
      CP_TRY(open_, open_bundles(options_.source, env_, console_));
      return Done{};
    }
    CP_CHECK(refuse_bundle_options({first, options_.source.reading}));
    if (!options_.choosing.empty()) {
      return Error{.code = Errc::usage,
                   .what = "is for a bundle",
                   .subject = options_.choosing,
                   .found = first + ", a tree",
                   .hint = "extract another tree, or name the bundle"};
    }
    return Done{};
  }

  /// Error usage where the image would become part of what it is made of.
  [[nodiscard]] Result<Done> check_apart() const {
    std::vector<std::string> sources = options_.source.bundles;
    if (!options_.base.empty()) {
      sources.push_back(options_.base);
    }
    for (const std::string& source : sources) {
      std::error_code fault;
      const std::string whole = std::filesystem::canonical(source, fault).string();
      if (!fault && target_.starts_with(whole + "/")) {
        return Error{.code = Errc::usage,
                     .what = "target lies in what is to be read",
                     .subject = options_.out,
                     .expected = "a path outside of " + source,
                     .hint = "choose another --out"};
      }
    }
    return Done{};
  }

  /// All that is to be written to is opened, and then nothing else can be.
  Result<Done> stage() {
    if (options_.format == ImageFormat::layer) {
      CP_TRY(layer_file_, io::WholeFile::stage(target_));
    } else {
      CP_TRY(output_, pipeline::ImageOutput::stage(target_, options_.format, time_s_));
    }
    std::vector<io::AllowedFolder> allowed =
        layer_file_ ? layer_file_->allowed_folders() : output_->allowed_folders();
    if (!is_tree_) {
      // The tree of a bundle lies beside the image while that is made, and goes with `tree_dir_`.
      CP_TRY(tree_dir_, io::OutputDir::stage(target_, io::Durability::none));
      const auto more = tree_dir_->allowed_folders();
      allowed.insert(allowed.end(), more.begin(), more.end());
    }
    confine(env_, console_, allowed);
    return Done{};
  }

  Result<Done> read_tree() {
    if (!is_tree_) {
      const pipeline::PlanRequest request{options_.source.selection, prefix_};
      CP_TRY(StagedTree made,
             stage_tree(open_, options_.source, request, tree_dir_.get(), temporary_folder(env_)));
      print_warnings(made, env_, console_);
      verified_ = describe_verifications(made.bundles, options_.source.verify);
      tree_ = pipeline::move_tree(std::move(made.receipt), prefix_);
      tree_path_ = tree_dir_->staged_at();
      return Done{};
    }
    tree_path_ = options_.source.bundles.front();
    CP_TRY(Receipt receipt, pipeline::read_tree(tree_path_));
    // Contents are compared on their way into the layer.
    CP_TRY(const auto faults,
           pipeline::check_tree(tree_path_, receipt, pipeline::TreeCheck::sizes));
    for (const pipeline::TreeFault& fault : faults) {
      const std::string subject = tree_path_ + "/" + fault.path;
      if (fault.kind != pipeline::TreeFault::Kind::extra) {
        return Error{.code = Errc::mismatch,
                     .what = pipeline::describe(fault),
                     .subject = subject,
                     .expected = fault.expected,
                     .found = fault.found,
                     .hint = pipeline::is_repairable(fault)
                                 ? "compatpack verify --repair mends the tree"
                                 : "extract the bundle again with --force"};
      }
      console_.warn(subject + " is not of this tree, and left out");
    }
    tree_ = pipeline::move_tree(std::move(receipt), prefix_);
    return Done{};
  }

  Result<Done> write_layer(const io::Sink& sink) {
    CP_TRY(const auto folder, io::TreeFolder::open(tree_path_));
    if (!folder) {
      return io_error("cannot open the folder", tree_path_, ENOENT);
    }
    return pipeline::write_layer(*folder, tree_, place_, time_s_, &console_, sink);
  }

  Result<int> write_layer_file() {
    io::HashingSink hashing(
        [this](std::span<const std::byte> bytes) { return layer_file_->write(bytes); });
    CP_CHECK(write_layer(hashing.sink()));
    layer_ = {std::string(formats::kOciLayerType), hashing.sha256(), hashing.size()};
    CP_TRY(const bool is_there,
           put_in_place([this] { return look_at_target(layer_.sha256); },
                        [this] { return layer_file_->sync(); },
                        [this] {
                          return layer_file_->commit(stands_there_ ? io::Replace::file
                                                                   : io::Replace::nothing);
                        }));
    return report(is_there);
  }

  Result<int> write_image() {
    const Receipt& receipt = tree_.after;
    const auto architecture = formats::oci_architecture(receipt.selection.arch);
    if (!architecture) {
      return Error{.code = Errc::unsupported,
                   .what = "no image can be of this architecture",
                   .subject = tree_path_,
                   .found = receipt.selection.arch};
    }
    CP_CHECK(read_base(*architecture));
    CP_TRY(layer_, output_->add_new(formats::kOciLayerType,
                                    [this](const io::Sink& sink) { return write_layer(sink); }));
    CP_TRY(documents_, pipeline::compose_image(base_ ? &*base_ : nullptr, layer_, receipt,
                                               {.architecture = std::string(*architecture),
                                                .prefix = prefix_,
                                                .tag = options_.tag,
                                                .time_s = time_s_,
                                                .library_path = options_.library_path}));
    CP_CHECK(output_->add_document(documents_.config));
    CP_CHECK(output_->add_document(documents_.manifest));
    CP_TRY(const std::string sha256, output_->finish(documents_.index));
    CP_TRY(const bool is_there,
           put_in_place([&] { return look_at_target(sha256); }, [this] { return output_->sync(); },
                        [this] { return output_->commit(stands_there_); }));
    return report(is_there);
  }

  /// Copies the layers of the base, and finds where in them the tree can be put.
  Result<Done> read_base(std::string_view architecture) {
    if (options_.base.empty()) {
      return Done{};
    }
    CP_TRY(const auto layout, pipeline::ImageLayout::open(options_.base));
    CP_TRY(base_, pipeline::choose_image(layout, architecture));
    for (const OciDescriptor& layer : base_->manifest.layers) {
      CP_TRY(const auto content, layout.open_blob(layer, &console_));
      CP_CHECK(output_->add(layer, *content, layout.blobs().path() + "/" + layer.sha256));
    }
    // Second, since only now it is certain that the layers are those that were meant.
    CP_TRY(place_, pipeline::place_on_base(layout, *base_, place_.folders.back().path, &console_));
    return Done{};
  }

  /// Whether what was made, `sha256`, is what stands at the target. Error conflict where something
  /// else does and may not be replaced.
  [[nodiscard]] Result<bool> is_up_to_date(const std::string& sha256) const {
    if (!stands_there_ || options_.force) {
      return false;
    }
    if (sha256 == held_sha256_) {
      return true;
    }
    return Error{.code = Errc::conflict,
                 .what = options_.format == ImageFormat::layout ? "target holds another image"
                                                                : "target holds something else",
                 .subject = options_.out,
                 .expected = "nothing, or what is asked for: SHA-256 " + sha256,
                 .found = held_sha256_.empty() ? "a damaged one" : held_sha256_,
                 .hint = "--force replaces it"};
  }

  Result<int> report(bool is_there) {
    const Receipt& receipt = tree_.after;
    const bool is_layer = options_.format == ImageFormat::layer;
    if (console_.json()) {
      console_.document(rendered(answer_json(is_there)));
      return 0;
    }
    std::string head = printable(options_.out) + ": " + (is_there ? "up to date: " : "");
    head += is_layer ? "a layer" : "an image";
    head += base_ ? " on sha256:" + base_->descriptor.sha256.substr(0, 12) : "";
    head += receipt.driver_version.empty() ? "" : ", driver " + receipt.driver_version;
    head += receipt.cuda_version.empty() ? "" : ", CUDA " + receipt.cuda_version;
    console_.answer(head + ", " + receipt.selection.arch);
    console_.answer("  tree      " + printable(prefix_) +
                    (options_.volume ? ", where the image is to be mounted" : ""));
    console_.answer("  layer     sha256:" + layer_.sha256 + "  " + human_size(layer_.size));
    if (!is_layer) {
      console_.answer("  manifest  sha256:" + documents_.manifest.blob.sha256);
    }
    for (const std::string& line : verified_) {
      console_.answer("  " + printable(line));
    }
    console_.answer("  to use it: " + use());
    return 0;
  }

  /// A command that does something with what was written.
  [[nodiscard]] std::string use() const {
    const std::string& driver = tree_.after.driver_version;
    if (options_.format == ImageFormat::layer) {
      return "umoci raw add-layer --image LAYOUT:TAG " + shell_word(options_.out);
    }
    const bool is_layout = options_.format == ImageFormat::layout;
    return "skopeo copy " +
           shell_word((is_layout ? "oci:" : "oci-archive:") + options_.out + ":" + options_.tag) +
           " docker://REGISTRY/NAME:" + (driver.empty() ? options_.tag : driver);
  }

  [[nodiscard]] Json answer_json(bool is_there) const {
    const auto json_of = [](const OciDescriptor& blob) {
      return blob.sha256.empty()
                 ? Json()
                 : Json{{"digest", "sha256:" + blob.sha256}, {"size", blob.size.value}};
    };
    const Receipt& receipt = tree_.after;
    const bool is_layer = options_.format == ImageFormat::layer;
    return {{"status", is_there ? "up to date" : "written"},
            {"path", target_},
            {"format", pipeline::name_of(options_.format)},
            {"prefix", prefix_},
            {"volume", options_.volume},
            {"driver_version", receipt.driver_version},
            {"cuda_version", receipt.cuda_version},
            {"arch", receipt.selection.arch},
            {"tag", is_layer ? Json() : Json(options_.tag)},
            {"base", base_ ? json_of(base_->descriptor) : Json()},
            {"manifest", json_of(documents_.manifest.blob)},
            {"config", json_of(documents_.config.blob)},
            {"layer", json_of(layer_)},
            {"verified", verified_}};
  }

  const ImageOptions& options_;
  const Env& env_;
  Console& console_;
  std::string target_;          // absolute
  std::string prefix_;          // where the tree will be seen
  pipeline::LayerPlace place_;  // where it lies in the image
  std::uint64_t time_s_ = 0;
  bool stands_there_ = false;  // at the target, and may be replaced under --force
  std::string held_sha256_;    // of it: of a layout's index, or of the file; "": it is damaged
  bool is_tree_ = false;
  std::vector<OpenBundle> open_;
  std::unique_ptr<io::WholeFile> layer_file_;
  std::unique_ptr<pipeline::ImageOutput> output_;
  std::unique_ptr<io::OutputDir> tree_dir_;  // of a bundle
  std::string tree_path_;
  pipeline::MovedTree tree_ = {};
  std::vector<std::string> verified_;  // what of the bundles was, in words
  std::optional<pipeline::LayoutImage> base_;
  OciDescriptor layer_;
  pipeline::ImageDocuments documents_;
};

}  // namespace

Result<int> run_image(const ImageOptions& options, const Env& env, Console& console) {
  return Image(options, env, console).run();
}

}  // namespace compatpack::commands
