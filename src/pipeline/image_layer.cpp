// SPDX-License-Identifier: Apache-2.0
#include "compatpack/pipeline/image_layer.hpp"

#include <functional>
#include <utility>
#include <vector>

#include "compatpack/io/hashing_source.hpp"
#include "compatpack/pipeline/activation.hpp"
#include "compatpack/pipeline/planner.hpp"
#include "compatpack/pipeline/tree.hpp"

namespace compatpack::pipeline {
namespace {

/// One pass over a tree.
class LayerWriter {
 public:
  LayerWriter(const io::TreeFolder& folder, const MovedTree& tree, const LayerPlace& place,
              io::ReadObserver* observer, formats::TarWriter& tar)
      : folder_(folder), tree_(tree), place_(place), observer_(observer), tar_(tar) {}

  Result<Done> write() {
    std::map<std::string, std::function<Result<Done>(const RelPath&)>> entries;  // by name
    for (const auto& [name, text] : tree_.texts) {
      const std::string& content = text;  // clang 14 captures no structured binding
      entries[name] = [&](const RelPath& path) { return add_text(path, content); };
    }
    for (const ReceiptFile& file : tree_.before.files) {
      if (tree_.texts.contains(file.path)) {
        CP_TRY(const std::string found, folder_.sha256(file.path));
        CP_CHECK(check_digest(file, found));
      } else {
        entries[file.path] = [&](const RelPath& path) { return add_file(path, file); };
      }
    }
    for (const ReceiptLink& link : tree_.before.links) {
      entries[link.path] = [&](const RelPath& path) { return tar_.add_link(path, link.target); };
    }
    CP_CHECK(add_folders());
    for (const auto& entry : entries) {
      CP_CHECK(check_name(entry.first));
      CP_TRY(const RelPath path, in_image(entry.first));
      CP_CHECK(entry.second(path));
    }
    return tar_.finish();
  }

 private:
  [[nodiscard]] Result<RelPath> in_image(const std::string& name) const {
    const auto& folders = place_.folders;
    return RelPath::parse(folders.empty() ? name : folders.back().path.text() + "/" + name);
  }

  /// Error unsupported for a name that layers give a meaning of its own.
  [[nodiscard]] Result<Done> check_name(const std::string& name) const {
    if (!name.starts_with(kWhiteout)) {
      return Done{};
    }
    return Error{.code = Errc::unsupported,
                 .what = "in a layer this name would hide another file",
                 .subject = folder_.path() + "/" + name,
                 .expected = "no name that begins with " + std::string(kWhiteout),
                 .found = name,
                 .hint = "extract a tree without it: --exclude '" + name + "'"};
  }

  Result<Done> add_folders() {
    for (const LayerFolder& folder : place_.folders) {
      CP_CHECK(tar_.add_folder(folder.path, folder.said));
    }
    if (place_.hides_old) {
      CP_TRY(const RelPath whiteout, in_image(std::string(kOpaqueWhiteout)));
      CP_CHECK(tar_.begin_file(whiteout, {}, 0644));
    }
    return Done{};
  }

  Result<Done> add_text(const RelPath& path, const std::string& content) {
    CP_CHECK(tar_.begin_file(path, {content.size()}, 0644));
    return tar_.write(as_bytes(content));
  }

  Result<Done> add_file(const RelPath& path, const ReceiptFile& file) {
    CP_TRY(const auto content, folder_.open_file(file.path, observer_));
    CP_CHECK(tar_.begin_file(path, file.size, file.is_program ? 0755 : 0644));
    io::HashingSource bytes(*content, {});
    CP_CHECK(io::pass_on(bytes, [this](auto block) { return tar_.write(block); }));
    CP_CHECK(bytes.finish());
    return check_digest(file, bytes.checker().whole_sha256());
  }

  [[nodiscard]] Result<Done> check_digest(const ReceiptFile& file, const std::string& found) const {
    if (found == file.sha256) {
      return Done{};
    }
    return Error{.code = Errc::mismatch,
                 .what = "has other content than the tree's receipt says",
                 .subject = folder_.path() + "/" + file.path,
                 .expected = "SHA-256 " + file.sha256,
                 .found = found,
                 .hint = "extract the bundle again with --force"};
  }

  const io::TreeFolder& folder_;
  const MovedTree& tree_;
  const LayerPlace& place_;
  io::ReadObserver* observer_;
  formats::TarWriter& tar_;
};

}  // namespace

MovedTree move_tree(Receipt receipt, const std::string& prefix) {
  MovedTree tree{.before = std::move(receipt), .after = {}, .texts = {}};
  tree.after = tree.before;
  if (tree.after.prefix != prefix) {
    tree.after.prefix = prefix;
    // The scripts are this version's from here on.
    tree.after.compatpack_version = compatpack_version();
    const auto scripts = make_scripts({DriverVersion::parse(tree.before.driver_version), prefix});
    for (ReceiptFile& file : tree.after.files) {
      const auto script = scripts.find(file.path);
      if (script != scripts.end() && file.from.empty()) {
        file.size = {script->second.size()};
        file.sha256 = io::sha256_of(as_bytes(script->second));
        tree.texts.insert(*script);
      }
    }
  }
  tree.texts.emplace(kReceiptName, render_receipt(tree.after));
  return tree;
}

LayerPlace new_place(const RelPath& path) {
  LayerPlace place;
  const std::string& whole = path.text();
  for (std::size_t end = whole.find('/'); end != std::string::npos;
       end = whole.find('/', end + 1)) {
    place.folders.push_back({*RelPath::parse(whole.substr(0, end))});
  }
  place.folders.push_back({path});
  return place;
}

Result<Done> write_layer(const io::TreeFolder& folder, const MovedTree& tree,
                         const LayerPlace& place, std::uint64_t time_s, io::ReadObserver* observer,
                         const io::Sink& sink) {
  formats::TarWriter tar(sink, time_s);
  return LayerWriter(folder, tree, place, observer, tar).write();
}

}  // namespace compatpack::pipeline
