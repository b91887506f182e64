// SPDX-License-Identifier: Apache-2.0
// Any text: three bytes at most for four characters, the same however it is read, and the
// encoding of any bytes gives them back.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "compatpack/formats/base64.hpp"

using namespace compatpack;

namespace {

void require(bool holds) {
  if (!holds) {
    std::abort();
  }
}

struct Decoded {
  std::string bytes;
  std::string error;
};

Decoded decode(std::string_view text, std::size_t block) {
  io::MemorySource memory(as_bytes(text));
  formats::Base64Source source(memory);
  std::array<std::byte, 300> buffer{};
  Decoded decoded;
  for (;;) {
    const auto count = source.read(std::span(buffer).first(block));
    if (!count) {
      require(count.error().at && count.error().at->value <= text.size());
      decoded.error = render(count.error());
      return decoded;
    }
    if (*count == 0) {
      return decoded;
    }
    decoded.bytes += as_text(std::span(buffer).first(*count));
  }
}

std::string encode(std::span<const std::byte> bytes) {
  constexpr std::string_view kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (; !bytes.empty(); bytes = bytes.subspan(std::min<std::size_t>(3, bytes.size()))) {
    std::uint32_t group = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      group = group << 8U | (i < bytes.size() ? std::to_integer<std::uint32_t>(bytes[i]) : 0U);
    }
    for (std::size_t i = 0; i < 4; ++i) {
      text += i <= bytes.size() ? kAlphabet[group >> (18U - 6U * i) & 63U] : '=';
    }
  }
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  const std::string_view text = as_text(bytes);
  const Decoded whole = decode(text, 300);
  const Decoded parts = decode(text, 1);
  require(whole.bytes == parts.bytes && whole.error == parts.error);
  require(whole.bytes.size() <= size / 4 * 3 + 3);
  const Decoded back = decode(encode(bytes), 300);
  require(back.error.empty() && back.bytes == text);
  return 0;
}
