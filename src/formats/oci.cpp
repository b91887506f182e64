// SPDX-License-Identifier: Apache-2.0
#include "compatpack/formats/oci.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

#include <nlohmann/json.hpp>

#include "compatpack/base/arch.hpp"
#include "compatpack/base/text.hpp"

namespace compatpack::formats {
namespace {

// Keeps the order of keys, so that a base's config stays as it was.
using Json = nlohmann::ordered_json;

constexpr std::string_view kDockerTypes = "application/vnd.docker.";
constexpr std::string_view kIndexType = "application/vnd.oci.image.index.v1+json";

// A config's are 5 deep. Writing one recurses, and would end the stack.
constexpr int kDepthMax = 64;
// Docker stops at 127 layers, and an index has one image a platform.
constexpr std::size_t kListMax = 1'000;
// Members of all objects of a document. A config of 127 layers has some 700; what keeps their order
// looks through all of an object's to add one.
constexpr std::size_t kMembersMax = 5'000;
// Values, objects, lists and members: some twice as many. Each costs 16 bytes or more.
constexpr std::size_t kPartsMax = 20'000;

/// A document that is whole JSON and nevertheless not to be read.
struct Refused : std::runtime_error {
  Refused(Errc code_in, const std::string& found, std::string hint_in = "")
      : std::runtime_error(found), code(code_in), hint(std::move(hint_in)) {}
  Errc code;
  std::string hint;
};

/// Counts what a text holds before anything is built of it. Throws Refused for too much of it, and
/// what the library throws for what is no JSON.
class Counter final : public nlohmann::json_sax<Json> {
 public:
  bool null() override { return part(); }
  bool boolean(bool /*value*/) override { return part(); }
  bool number_integer(number_integer_t /*value*/) override { return part(); }
  bool number_unsigned(number_unsigned_t /*value*/) override { return part(); }
  bool number_float(number_float_t /*value*/, const string_t& /*text*/) override { return part(); }
  bool string(string_t& /*value*/) override { return part(); }
  bool binary(binary_t& /*value*/) override { return part(); }
  bool start_object(std::size_t /*count*/) override { return enter(); }
  bool end_object() override { return leave(); }
  bool start_array(std::size_t /*count*/) override { return enter(); }
  bool end_array() override { return leave(); }
  bool key(string_t& /*name*/) override {
    if (++members_ > kMembersMax) {
      throw Refused(Errc::limit, "more than " + std::to_string(kMembersMax) + " members");
    }
    return part();
  }
  bool parse_error(std::size_t /*at*/, const std::string& /*token*/,
                   const nlohmann::detail::exception& fault) override {
    throw Refused(Errc::corrupt, fault.what());
  }

 private:
  bool part() {
    if (++parts_ > kPartsMax) {
      throw Refused(Errc::limit, "more than " + std::to_string(kPartsMax) + " values and members");
    }
    return true;
  }
  bool enter() {
    if (++depth_ > kDepthMax) {
      throw Refused(Errc::limit, "nested deeper than " + std::to_string(kDepthMax));
    }
    return part();
  }
  bool leave() {
    --depth_;
    return true;
  }

  std::size_t members_ = 0;
  std::size_t parts_ = 0;
  int depth_ = 0;
};

Json parse(std::string_view text) {
  Counter counter;
  Json::sax_parse(text, &counter);
  Json json = Json::parse(text);
  if (!json.is_object()) {
    throw Refused(Errc::corrupt, "not an object");
  }
  return json;
}

/// The value of `read(parsed text)`. The one place that catches what the library throws.
template <class Read>
auto read_document(std::string_view text, const char* what, Read read)
    -> Result<decltype(read(std::declval<Json&>()))> {
  const auto refused = [what](Errc code, const std::string& found, std::string hint) {
    return Error{.code = code,
                 .what = std::string("not ") + what + " that can be read",
                 .found = found,
                 .hint = std::move(hint)};
  };
  try {
    Json json = parse(text);
    return read(json);
  } catch (const Refused& fault) {
    return refused(fault.code, fault.what(), fault.hint);
  } catch (const Json::exception& fault) {
    return refused(Errc::corrupt, fault.what(), "");
  }
}

/// A list that may be missing, and is not too long.
const Json& list_at(const Json& object, const char* key) {
  static const Json kNone = Json::array();
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) {
    return kNone;
  }
  if (!found->is_array()) {
    throw Refused(Errc::corrupt, std::string("no list: ") + key);
  }
  if (found->size() > kListMax) {
    throw Refused(Errc::limit, std::string(key) + " of " + std::to_string(found->size()));
  }
  return *found;
}

std::string text_at(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() ? "" : found->get<std::string>();
}

OciDescriptor descriptor_from(const Json& json) {
  constexpr std::string_view kAlgorithm = "sha256:";
  const auto digest = json.at("digest").get<std::string>();
  const std::string hex = digest.substr(std::min(kAlgorithm.size(), digest.size()));
  if (!digest.starts_with(kAlgorithm) || parse_hex(hex, 64) != hex) {
    throw Refused(Errc::unsupported, "a digest that is not sha256: and 64 digits: " + digest);
  }
  const Json& size = json.at("size");
  if (!size.is_number_unsigned()) {
    throw Refused(Errc::corrupt, "a size that is no whole number");
  }
  return {json.at("mediaType").get<std::string>(), hex, {size.get<std::uint64_t>()}};
}

[[noreturn]] void refuse_type(const std::string& type) {
  const bool is_docker = type.starts_with(kDockerTypes);
  throw Refused(Errc::unsupported, "the media type " + type,
                is_docker ? "make OCI's of it: skopeo copy --format oci FROM oci:LAYOUT" : "");
}

/// Documents name their own type since version 1.1; if they do, it must be the one expected.
void check_own_type(const Json& json, std::string_view type) {
  const std::string own = text_at(json, "mediaType");
  if (!own.empty() && own != type) {
    refuse_type(own);
  }
}

OciIndexEntry index_entry_from(const Json& json) {
  OciIndexEntry entry{.blob = descriptor_from(json), .is_index = false, .platform = {}};
  entry.is_index = entry.blob.media_type == kIndexType;
  if (!entry.is_index && entry.blob.media_type != kOciManifestType) {
    refuse_type(entry.blob.media_type);
  }
  if (const auto platform = json.find("platform"); platform != json.end() && !platform->is_null()) {
    entry.platform = {text_at(*platform, "os"), text_at(*platform, "architecture")};
  }
  return entry;
}

/// A layer that any program can unpack: not one that is to be fetched from elsewhere.
bool is_layer_type(std::string_view type) {
  return type == kOciLayerType || type == std::string(kOciLayerType) + "+gzip" ||
         type == std::string(kOciLayerType) + "+zstd";
}

OciManifest manifest_from(const Json& json) {
  check_own_type(json, kOciManifestType);
  OciManifest manifest{
      .config = descriptor_from(json.at("config")), .layers = {}, .annotations = {}};
  // Of something else that is kept where images are: a signature, or a list of what is in one.
  if (!is_image(manifest)) {
    if (manifest.config.media_type.starts_with(kDockerTypes)) {
      refuse_type(manifest.config.media_type);
    }
    return manifest;
  }
  for (const Json& layer : list_at(json, "layers")) {
    manifest.layers.push_back(descriptor_from(layer));
    if (!is_layer_type(manifest.layers.back().media_type)) {
      refuse_type(manifest.layers.back().media_type);
    }
  }
  if (const auto annotations = json.find("annotations");
      annotations != json.end() && !annotations->is_null()) {
    annotations->get_to(manifest.annotations);
  }
  return manifest;
}

/// Also checks the types of all that render_oci_config() will change.
OciConfigFacts config_facts_from(const Json& json) {
  OciConfigFacts facts{
      .platform = {json.at("os").get<std::string>(), json.at("architecture").get<std::string>()},
      .layers = list_at(json.at("rootfs"), "diff_ids").size()};
  if (const Json& rootfs = json.at("rootfs"); !rootfs.is_object() && !rootfs.is_null()) {
    throw Refused(Errc::corrupt, "no object: rootfs");
  }
  if (const Json& history = list_at(json, "history");
      !history.empty() && history.back().is_object() && history.back().contains("created_by") &&
      history.back()["created_by"].is_string()) {
    facts.made_by = history.back()["created_by"].get<std::string>();
  }
  const auto config = json.find("config");
  if (config == json.end() || config->is_null()) {
    return facts;
  }
  if (!config->is_object()) {
    throw Refused(Errc::corrupt, "no object: config");
  }
  for (const Json& variable : list_at(*config, "Env")) {
    static_cast<void>(variable.get<std::string>());
  }
  if (const auto labels = config->find("Labels"); labels != config->end() && !labels->is_null()) {
    static_cast<void>(labels->get<std::map<std::string, std::string>>());
  }
  return facts;
}

/// The member `key`, made an empty `kind` where it is missing or null.
Json& made_at(Json& object, const char* key, Json kind) {
  Json& value = object[key];
  if (value.is_null()) {
    value = std::move(kind);
  }
  return value;
}

/// Puts `path` first in LD_LIBRARY_PATH, once, and leaves no empty element in it: the loader would
/// take that for the current folder. `ENV LD_LIBRARY_PATH=/x:$LD_LIBRARY_PATH` leaves one in a
/// base.
void prepend_library_path(Json& config, const std::string& path) {
  constexpr std::string_view kName = "LD_LIBRARY_PATH=";
  Json& environment = made_at(config, "Env", Json::array());
  bool is_set = false;
  // Which of two counts is for whatever runs the image to say.
  for (Json& variable : environment) {
    const auto text = variable.get<std::string>();
    if (!text.starts_with(kName)) {
      continue;
    }
    std::string folders = path;
    for (const std::string_view folder : split(std::string_view(text).substr(kName.size()), ':')) {
      folders += folder.empty() || folder == path ? "" : ":" + std::string(folder);
    }
    variable = std::string(kName) + folders;
    is_set = true;
  }
  if (!is_set) {
    environment.push_back(std::string(kName) + path);
  }
}

Json new_config(const OciAddition& addition) {
  return {{"created", addition.created},
          {"architecture", addition.architecture},
          {"os", "linux"},
          {"config", Json::object()},
          {"rootfs", {{"type", "layers"}, {"diff_ids", Json::array()}}},
          {"history", Json::array()}};
}

std::string written(const Json& json) {
  // Names are bytes; those that are no UTF-8 are written with the replacement character.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json json_of(const OciDescriptor& one) {
  return {
      {"mediaType", one.media_type}, {"digest", "sha256:" + one.sha256}, {"size", one.size.value}};
}

}  // namespace

std::optional<std::string_view> oci_architecture(std::string_view arch) {
  for (const ArchRow& row : archs()) {
    if (row.name == arch) {
      return row.go;
    }
  }
  return std::nullopt;
}

bool is_oci_tag(std::string_view tag) {
  const auto is_word = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  return !tag.empty() && tag.size() <= 128 && is_word(tag.front()) &&
         std::all_of(tag.begin(), tag.end(),
                     [&](char c) { return is_word(c) || c == '.' || c == '-'; });
}

Result<Done> check_oci_layout(std::string_view text) {
  return read_document(text, "an oci-layout", [](const Json& json) {
    const auto version = json.at("imageLayoutVersion").get<std::string>();
    if (!version.starts_with("1.")) {
      throw Refused(Errc::unsupported, "version " + version + " of image layouts");
    }
    return Done{};
  });
}

Result<std::vector<OciIndexEntry>> parse_oci_index(std::string_view text) {
  return read_document(text, "an image index", [](const Json& json) {
    check_own_type(json, kIndexType);
    std::vector<OciIndexEntry> entries;
    for (const Json& one : list_at(json, "manifests")) {
      entries.push_back(index_entry_from(one));
    }
    return entries;
  });
}

Result<OciManifest> parse_oci_manifest(std::string_view text) {
  return read_document(text, "an image manifest", manifest_from);
}

Result<OciConfigFacts> parse_oci_config(std::string_view text) {
  return read_document(text, "an image config", config_facts_from);
}

Result<std::string> render_oci_config(std::string_view base, const OciAddition& addition) {
  const std::string start = base.empty() ? written(new_config(addition)) : std::string(base);
  return read_document(start, "an image config", [&addition](Json& json) {
    const std::size_t layers_before = config_facts_from(json).layers;
    json["created"] = addition.created;
    Json& config = made_at(json, "config", Json::object());
    if (!addition.library_path.empty()) {
      prepend_library_path(config, addition.library_path);
    }
    Json& labels = made_at(config, "Labels", Json::object());
    for (const auto& label : addition.labels) {
      labels[label.first] = label.second;
    }
    made_at(json["rootfs"], "diff_ids", Json::array()).push_back("sha256:" + addition.layer.sha256);
    // A base without a history keeps none: it has an entry for each layer, or is not there.
    if (layers_before == 0 || !list_at(json, "history").empty()) {
      made_at(json, "history", Json::array())
          .push_back({{"created", addition.created}, {"created_by", addition.created_by}});
    }
    return written(json);
  });
}

bool is_image(const OciManifest& manifest) { return manifest.config.media_type == kOciConfigType; }

std::string render_oci_manifest(const OciManifest& manifest) {
  Json layers = Json::array();
  for (const OciDescriptor& layer : manifest.layers) {
    layers.push_back(json_of(layer));
  }
  return written({{"schemaVersion", 2},
                  {"mediaType", kOciManifestType},
                  {"config", json_of(manifest.config)},
                  {"layers", std::move(layers)},
                  {"annotations", manifest.annotations}});
}

std::string render_oci_index(const OciDescriptor& manifest, std::string_view architecture,
                             std::string_view tag) {
  Json entry = json_of(manifest);
  entry["platform"] = {{"architecture", architecture}, {"os", "linux"}};
  entry["annotations"] = {{"org.opencontainers.image.ref.name", tag}};
  return written({{"schemaVersion", 2},
                  {"mediaType", kIndexType},
                  {"manifests", Json::array({std::move(entry)})}});
}

std::string render_oci_layout() { return written({{"imageLayoutVersion", "1.0.0"}}); }

}  // namespace compatpack::formats
