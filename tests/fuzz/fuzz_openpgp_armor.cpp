// SPDX-License-Identifier: Apache-2.0
// Any text as an armored keyring: three bytes at most for four characters, errors lie in the text,
// and a block around any bytes gives them back.

#include <cstdint>
#include <cstdlib>
#include <string>

#include "compatpack/formats/openpgp_armor.hpp"

using namespace compatpack;

namespace {

void require(bool holds) {
  if (!holds) {
    std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = as_text(std::as_bytes(std::span(data, size)));
  const auto keys = formats::dearmor_keyring(text);
  if (!keys) {
    require(formats::is_armored_keyring(text));
    require(keys.error().at && keys.error().at->value <= size);
    return 0;
  }
  require(keys->size() <= size / 4 * 3);
  const std::string around =
      "-----BEGIN PGP PUBLIC KEY BLOCK-----\n\na2V5cw==\n=Ab1c\n"
      "-----END PGP PUBLIC KEY BLOCK-----\n";
  const auto with_more = formats::dearmor_keyring(around + std::string(text));
  require(with_more && *with_more == "keys" + *keys);
  return 0;
}
