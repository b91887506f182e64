// SPDX-License-Identifier: Apache-2.0
#pragma once

// The JSON documents of OCI images: what others wrote is read, and ours are written. Pure: text in,
// values or text out; no blob is looked for here.
//
//   oci-layout                     {"imageLayoutVersion": "1.0.0"}
//   index.json                     descriptors of manifests, or of other indexes
//   blobs/sha256/DIGEST            manifest:  descriptors of a config and of layers
//                                  config:    architecture, environment, digests of unpacked layers
//                                  layer:     a tar archive, compressed or not
//
// A descriptor names a blob by media type, digest and size. Digests other than SHA-256 are refused,
// and so are Docker's media types, of which the same image can be had in OCI's.
//
// https://github.com/opencontainers/image-spec/blob/v1.1.0/

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compatpack/base/bytes.hpp"
#include "compatpack/base/result.hpp"

namespace compatpack::formats {

/// A document that is read as a whole. Registries refuse manifests over 4 MiB.
inline constexpr ByteCount kOciDocumentMax{4U << 20U};

struct OciDescriptor {
  std::string media_type;
  std::string sha256;  ///< 64 hexadecimal digits in lower case
  ByteCount size;

  friend bool operator==(const OciDescriptor&, const OciDescriptor&) = default;
};

/// Which machines an image is for, in the words of Go.
struct OciPlatform {
  std::string os;            ///< "linux"
  std::string architecture;  ///< "amd64"

  friend bool operator==(const OciPlatform&, const OciPlatform&) = default;
};

/// What an index lists.
struct OciIndexEntry {
  OciDescriptor blob;
  bool is_index;                        ///< of another index, else of a manifest
  std::optional<OciPlatform> platform;  ///< nullopt where it does not say
};

struct OciManifest {
  OciDescriptor config;
  std::vector<OciDescriptor> layers = {};  ///< none where it is no image
  std::map<std::string, std::string> annotations = {};
};

/// Whether a manifest is that of an image, and not of a signature or the like.
[[nodiscard]] bool is_image(const OciManifest& manifest);

/// What must be known of a config before a layer is put on it.
struct OciConfigFacts {
  OciPlatform platform;
  std::size_t layers;        ///< how many digests of unpacked layers it has
  std::string made_by = {};  ///< what the last entry of its history says of that; "" if nothing
};

/// "amd64" for "x86_64", and so on; nullopt for what no image can be of.
[[nodiscard]] std::optional<std::string_view> oci_architecture(std::string_view arch);

/// Whether `tag` is one that registries take: 1 to 128 of [A-Za-z0-9_.-], not beginning in . or -.
[[nodiscard]] bool is_oci_tag(std::string_view tag);

/// Checks the text of oci-layout. This and the functions below give, without `subject`: corrupt for
/// what is no such document; unsupported for what is of a kind that is not read; limit for nesting
/// or lists without end.
Result<Done> check_oci_layout(std::string_view text);

Result<std::vector<OciIndexEntry>> parse_oci_index(std::string_view text);
Result<OciManifest> parse_oci_manifest(std::string_view text);
Result<OciConfigFacts> parse_oci_config(std::string_view text);

/// What is put on a base, or on nothing.
struct OciAddition {
  std::string architecture;  ///< in the words of Go
  std::string created;       ///< "1970-01-01T00:00:00Z"
  std::string created_by;    ///< for the history
  OciDescriptor layer;       ///< not compressed, so that its digest is that of its content too
  std::map<std::string, std::string> labels;  ///< for the config, and the manifest's annotations
  std::string library_path;  ///< put first in the environment's LD_LIBRARY_PATH; "" for nothing
};

/// The config of `base` (its text; "" for none) with the addition in it. What is not changed stays
/// as it was, in the order that it was in; numbers beyond 64 bits, or with more digits than a
/// double has, are rounded, and of members of one name the last one stays. Errors: those of
/// parse_oci_config().
Result<std::string> render_oci_config(std::string_view base, const OciAddition& addition);

[[nodiscard]] std::string render_oci_manifest(const OciManifest& manifest);
/// An index of the one image, named `tag`.
[[nodiscard]] std::string render_oci_index(const OciDescriptor& manifest,
                                           std::string_view architecture, std::string_view tag);
[[nodiscard]] std::string render_oci_layout();

/// Media types of what is written.
inline constexpr std::string_view kOciManifestType = "application/vnd.oci.image.manifest.v1+json";
inline constexpr std::string_view kOciConfigType = "application/vnd.oci.image.config.v1+json";
inline constexpr std::string_view kOciLayerType = "application/vnd.oci.image.layer.v1.tar";

}  // namespace compatpack::formats
