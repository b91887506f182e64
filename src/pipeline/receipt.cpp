// SPDX-License-Identifier: Apache-2.0
#include "compatpack/pipeline/receipt.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include "compatpack/base/limits.hpp"
#include "compatpack/base/rel_path.hpp"

namespace compatpack::pipeline {
namespace {

// What is written keeps the order of its keys. What is read need not: a hostile object of very many
// members would take the square of their number.
using Json = nlohmann::ordered_json;
using ReadJson = nlohmann::json;

std::optional<DigestAlgorithm> algorithm_named(std::string_view name) {
  for (const DigestAlgorithm one :
       {DigestAlgorithm::cksum, DigestAlgorithm::md5, DigestAlgorithm::sha1,
        DigestAlgorithm::sha256, DigestAlgorithm::sha512}) {
    if (name_of(one) == name) {
      return one;
    }
  }
  return std::nullopt;
}

Json json_of(const DigestClaim& claim) {
  return {{"algorithm", name_of(claim.algorithm)},
          {"digest", claim.digest},
          {"from_byte", claim.covers.begin.value},
          {"to_byte", claim.covers.end.value},
          {"said_by", claim.origin}};
}

Json json_of(const ReceiptBundle& bundle) {
  Json verified = Json::array();
  for (const DigestClaim& claim : bundle.verified) {
    verified.push_back(json_of(claim));
  }
  return {{"name", bundle.name},
          {"inside", bundle.inside ? Json(*bundle.inside) : Json()},
          {"size", bundle.size.value},
          {"sha256", bundle.sha256},
          {"header_sha256", bundle.header_sha256},
          {"kind", bundle.kind},
          {"dialect", bundle.dialect},
          {"verified", std::move(verified)},
          {"members_verified", bundle.members_verified},
          {"members_verified_by", bundle.members_verified_by},
          {"signed_by", bundle.signed_by ? Json(*bundle.signed_by) : Json()}};
}

Json json_of(const SelectionRequest& selection) {
  Json components = Json::array();
  for (const auto component : selection.components) {
    components.push_back(knowledge::row_of(component).name);
  }
  if (selection.all) {
    components.push_back("all");
  }
  return {{"components", std::move(components)},
          {"include", selection.include},
          {"exclude", selection.exclude},
          {"arch", selection.arch}};
}

/// A member of a JSON object. Throws, as the library does, where it is missing or of another type:
/// parse_receipt() is the one place that catches.
template <class T>
T get(const ReadJson& object, const char* key) {
  return object.at(key).get<T>();
}

/// A whole number from 0 on. The library would make one of a negative or a fraction too.
std::uint64_t get_number(const ReadJson& object, const char* key) {
  const ReadJson& number = object.at(key);
  if (!number.is_number_unsigned()) {
    throw std::invalid_argument(std::string("not a whole number: ") + key);
  }
  return number.get<std::uint64_t>();
}

/// A name that can stand in a tree.
std::string get_name(const ReadJson& object, const char* key) {
  auto name = get<std::string>(object, key);
  if (!FileName::parse(name)) {
    throw std::invalid_argument("not a plain file name: " + name);
  }
  return name;
}

// The functions below assign to members one by one: where a value in an aggregate's braces throws,
// GCC 12 destroys the members before it twice.

DigestClaim claim_from(const ReadJson& json) {
  const auto algorithm = algorithm_named(get<std::string>(json, "algorithm"));
  if (!algorithm) {
    throw std::invalid_argument("no such algorithm");
  }
  DigestClaim claim{};
  claim.algorithm = *algorithm;
  claim.digest = get<std::string>(json, "digest");
  claim.covers.begin.value = get_number(json, "from_byte");
  claim.covers.end.value = get_number(json, "to_byte");
  claim.origin = get<std::string>(json, "said_by");
  return claim;
}

SelectionRequest selection_from(const ReadJson& json) {
  SelectionRequest selection;
  for (const auto& name : json.at("components")) {
    const auto text = name.get<std::string>();
    const auto component = knowledge::component_named(text);
    if (component) {
      selection.components.insert(*component);
    } else if (text == "all") {
      selection.all = true;
    }
  }
  selection.include = get<std::vector<std::string>>(json, "include");
  selection.exclude = get<std::vector<std::string>>(json, "exclude");
  selection.arch = get<std::string>(json, "arch");
  return selection;
}

ReceiptBundle bundle_from(const ReadJson& json) {
  ReceiptBundle bundle{};
  bundle.name = get<std::string>(json, "name");
  if (!json.at("inside").is_null()) {
    bundle.inside = get_number(json, "inside");
  }
  bundle.size.value = get_number(json, "size");
  bundle.sha256 = get<std::string>(json, "sha256");
  bundle.header_sha256 = get<std::string>(json, "header_sha256");
  bundle.kind = get<std::string>(json, "kind");
  bundle.dialect = get<std::string>(json, "dialect");
  for (const ReadJson& claim : json.at("verified")) {
    bundle.verified.push_back(claim_from(claim));
  }
  bundle.members_verified = get_number(json, "members_verified");
  bundle.members_verified_by = get<std::string>(json, "members_verified_by");
  if (!json.at("signed_by").is_null()) {
    bundle.signed_by = get<std::string>(json, "signed_by");
  }
  return bundle;
}

ReceiptFile file_from(const ReadJson& json) {
  ReceiptFile file{};
  file.path = get_name(json, "path");
  file.size.value = get_number(json, "size");
  file.sha256 = get<std::string>(json, "sha256");
  file.is_program = get<std::string>(json, "mode") == "0755";
  file.component = get<std::string>(json, "component");
  file.from = get<std::string>(json, "from");
  file.bundle = get_number(json, "bundle");
  return file;
}

ReceiptLink link_from(const ReadJson& json) {
  ReceiptLink link{};
  link.path = get_name(json, "path");
  link.target = get_name(json, "target");
  return link;
}

/// A receipt is a text that anybody can have edited, and --repair and --force act on its word.
/// Throws where it says what no tree can be.
void check_sense(const Receipt& receipt) {
  const bool versions =
      (receipt.driver_version.empty() || DriverVersion::parse(receipt.driver_version)) &&
      (receipt.cuda_version.empty() || CudaVersion::parse(receipt.cuda_version));
  if (!versions) {
    throw std::invalid_argument("not a version");
  }
  for (std::size_t i = 0; i < receipt.bundles.size(); ++i) {
    if (receipt.bundles[i].inside && *receipt.bundles[i].inside >= i) {
      throw std::invalid_argument("a bundle inside one that comes after it");
    }
  }
  if (receipt.bundles.empty() ||
      std::any_of(receipt.files.begin(), receipt.files.end(),
                  [&](const ReceiptFile& file) { return file.bundle >= receipt.bundles.size(); })) {
    throw std::invalid_argument("a file of no bundle");
  }
  if (std::any_of(receipt.files.begin(), receipt.files.end(),
                  [](const ReceiptFile& file) { return file.size > Limits{}.member; })) {
    throw std::invalid_argument("a file larger than any that is unpacked");
  }
  std::set<std::string> names{std::string(kReceiptName)};
  const auto take = [&names](const std::string& name) {
    if (!names.insert(name).second) {
      throw std::invalid_argument("named twice: " + name);
    }
  };
  for (const ReceiptFile& file : receipt.files) {
    take(file.path);
  }
  for (const ReceiptLink& link : receipt.links) {
    take(link.path);
  }
  for (const ReceiptLink& link : receipt.links) {
    if (link.target == link.path || !names.contains(link.target)) {
      throw std::invalid_argument("a link to nothing of the tree: " + link.path);
    }
  }
}

Receipt receipt_from(const ReadJson& json) {
  Receipt receipt{};
  receipt.compatpack_version = get<std::string>(json, "compatpack");
  for (const ReadJson& bundle : json.at("bundles")) {
    receipt.bundles.push_back(bundle_from(bundle));
  }
  receipt.verification_skipped = get<bool>(json, "verification_skipped");
  receipt.driver_version = get<std::string>(json, "driver_version");
  receipt.cuda_version = get<std::string>(json, "cuda_version");
  receipt.selection = selection_from(json.at("selection"));
  receipt.prefix = get<std::string>(json, "prefix");
  for (const ReadJson& file : json.at("files")) {
    receipt.files.push_back(file_from(file));
  }
  for (const ReadJson& link : json.at("links")) {
    receipt.links.push_back(link_from(link));
  }
  check_sense(receipt);
  return receipt;
}

Error not_a_receipt(std::string found) {
  return Error{.code = Errc::corrupt,
               .what = "not a receipt of compatpack",
               .expected = "JSON as compatpack writes it",
               .found = std::move(found)};
}

}  // namespace

std::string render_receipt(const Receipt& receipt) {
  Json bundles = Json::array();
  for (const ReceiptBundle& bundle : receipt.bundles) {
    bundles.push_back(json_of(bundle));
  }
  Json files = Json::array();
  for (const ReceiptFile& file : receipt.files) {
    files.push_back({{"path", file.path},
                     {"size", file.size.value},
                     {"sha256", file.sha256},
                     {"mode", file.is_program ? "0755" : "0644"},
                     {"component", file.component},
                     {"from", file.from},
                     {"bundle", file.bundle}});
  }
  Json links = Json::array();
  for (const ReceiptLink& link : receipt.links) {
    links.push_back({{"path", link.path}, {"target", link.target}});
  }
  const Json json = {{"format", kReceiptFormat},
                     {"compatpack", receipt.compatpack_version},
                     {"driver_version", receipt.driver_version},
                     {"cuda_version", receipt.cuda_version},
                     {"bundles", std::move(bundles)},
                     {"verification_skipped", receipt.verification_skipped},
                     {"selection", json_of(receipt.selection)},
                     {"prefix", receipt.prefix},
                     {"files", std::move(files)},
                     {"links", std::move(links)}};
  // Names are bytes; those that are no UTF-8 are written with the replacement character.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<Receipt> parse_receipt(std::string_view text) {
  try {
    const ReadJson json = ReadJson::parse(text);
    const std::uint64_t format = get_number(json, "format");
    if (format > static_cast<std::uint64_t>(kReceiptFormat)) {
      return Error{.code = Errc::unsupported,
                   .what = "receipt was written by a newer compatpack",
                   .expected = "format " + std::to_string(kReceiptFormat),
                   .found = "format " + std::to_string(format)};
    }
    return receipt_from(json);
  } catch (const ReadJson::exception& fault) {
    return not_a_receipt(fault.what());
  } catch (const std::invalid_argument& fault) {
    return not_a_receipt(fault.what());
  }
}

}  // namespace compatpack::pipeline
