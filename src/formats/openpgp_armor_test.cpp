// SPDX-License-Identifier: Apache-2.0
#include "compatpack/formats/openpgp_armor.hpp"

#include <string>

#include <doctest/doctest.h>

namespace compatpack::formats {
namespace {

const std::string kStart = "-----BEGIN PGP PUBLIC KEY BLOCK-----\n";
const std::string kStop = "-----END PGP PUBLIC KEY BLOCK-----\n";

TEST_CASE("openpgp_armor: the bytes of a block, without its headers and checksum") {
  const std::string text = kStart + "Version: x\nComment: y\n\na2V5\ncw==\n=Ab1c\n" + kStop;

  const auto keys = dearmor_keyring(text);

  CHECK(is_armored_keyring(text));
  REQUIRE(keys);
  CHECK(*keys == "keys");
}

TEST_CASE("openpgp_armor: blocks follow each other, with any text around them") {
  const std::string text = "the key of x:\r\n-----BEGIN PGP PUBLIC KEY BLOCK-----\r\n\r\nb25l\r\n" +
                           kStop + "and another\n" + kStart + "dHdv\n" + kStop + "a2V5\n";

  const auto keys = dearmor_keyring(text);

  REQUIRE(keys);
  CHECK(*keys == "onetwo");
}

TEST_CASE("openpgp_armor: what is no block of public keys is none") {
  CHECK_FALSE(is_armored_keyring(""));
  CHECK_FALSE(is_armored_keyring("\x99\x01\x0d"));
  CHECK_FALSE(is_armored_keyring("-----BEGIN PGP PRIVATE KEY BLOCK-----\n\na2V5\n"));
}

TEST_CASE("openpgp_armor: a damaged block is an error that says where") {
  for (const std::string& body : {std::string("\na2V5\n"), "\na2V\n" + kStop, "\na2V5!\n" + kStop,
                                  "\n\n=Ab1c\n" + kStop, std::string()}) {
    CAPTURE(body);

    const auto keys = dearmor_keyring("x\n" + kStart + body);

    REQUIRE_FALSE(keys);
    CHECK(keys.error().code == Errc::corrupt);
    REQUIRE(keys.error().at);
    CHECK(keys.error().at->value == 2);
  }
}

}  // namespace
}  // namespace compatpack::formats
