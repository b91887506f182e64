// SPDX-License-Identifier: Apache-2.0
// Any text: the parsers must return; every digest is 64 digits and nothing else; and a config that
// a layer was put on is a config again, of one layer more.

#include <cstdint>
#include <cstdlib>
#include <string>

#include "compatpack/base/text.hpp"
#include "compatpack/formats/oci.hpp"

using namespace compatpack;
using namespace compatpack::formats;

namespace {

void require(bool holds) {
  if (!holds) {
    std::abort();
  }
}

void require_plain(const OciDescriptor& blob) {
  require(parse_hex(blob.sha256, 64) == blob.sha256);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = as_text(std::as_bytes(std::span(data, size)));
  static_cast<void>(check_oci_layout(text));
  if (const auto index = parse_oci_index(text)) {
    for (const OciIndexEntry& entry : *index) {
      require_plain(entry.blob);
    }
  }
  if (const auto manifest = parse_oci_manifest(text)) {
    require_plain(manifest->config);
    for (const OciDescriptor& layer : manifest->layers) {
      require_plain(layer);
    }
    require(static_cast<bool>(parse_oci_manifest(render_oci_manifest(*manifest))));
  }
  const auto before = parse_oci_config(text);
  const OciAddition addition{.architecture = "amd64",
                             .created = "1970-01-01T00:00:00Z",
                             .created_by = "fuzzer",
                             .layer = {std::string(kOciLayerType), std::string(64, 'a'), {1}},
                             .labels = {{"a", "b"}},
                             .library_path = "/compat"};
  if (const auto config = render_oci_config(text, addition); config && !text.empty()) {
    require(static_cast<bool>(before));
    const auto after = parse_oci_config(*config);
    require(after && after->platform == before->platform && after->layers == before->layers + 1);
  }
  return 0;
}
