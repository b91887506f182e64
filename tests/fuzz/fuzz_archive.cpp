// SPDX-License-Identifier: Apache-2.0
// Any bytes: the reader must come to an end within its limits; an entry has a name, and as much
// content as its size says or an Error; an Error comes again. The first byte says how the rest is
// cut into blocks.

#include <algorithm>
#include <array>
#include <clocale>
#include <cstdint>
#include <cstdlib>

#include "compatpack/formats/archive.hpp"

using namespace compatpack;

namespace {

void require(bool holds) {
  if (!holds) {
    std::abort();
  }
}

class SlowSource final : public io::Source {
 public:
  SlowSource(std::span<const std::byte> bytes, std::size_t step) : inner_(bytes), step_(step) {}
  Result<std::size_t> read(std::span<std::byte> into) override {
    return inner_.read(into.first(std::min(into.size(), step_)));
  }

 private:
  io::MemorySource inner_;
  std::size_t step_;
};

void require_again(formats::ArchiveReader& reader, const Error& error) {
  const auto again = reader.next();
  require(!again && render(again.error()) == render(error));
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  std::setlocale(LC_CTYPE, "C.UTF-8");  // as the program does
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) {
    return 0;
  }
  SlowSource source(std::as_bytes(std::span(data, size)).subspan(1), 1 + data[0] * std::size_t{37});
  Limits limits;
  limits.members = 50;
  limits.member = {100'000};
  limits.unpacked = {300'000};
  auto reader = formats::ArchiveReader::open(source, limits);
  if (!reader) {
    static_cast<void>(render(reader.error()));
    return 0;
  }
  std::uint64_t members = 0;
  std::uint64_t unpacked = 0;
  for (;;) {
    const auto entry = (*reader)->next();
    if (!entry) {
      require_again(**reader, entry.error());
      return 0;
    }
    if (!*entry) {
      return 0;
    }
    unpacked += (*entry)->size.value;
    require(++members <= limits.members && unpacked <= limits.unpacked.value);
    require(!(*entry)->path.empty() && (*entry)->mode_bits <= 07777U);
    require((*entry)->type == formats::EntryType::file || (*entry)->size.value == 0);
    if ((*entry)->size.value % 3 == 1) {
      continue;  // skipped
    }
    std::uint64_t left = (*entry)->size.value;
    std::array<std::byte, 700> block{};
    for (;;) {
      const auto count = (*reader)->read(block);
      if (!count) {
        require_again(**reader, count.error());
        return 0;
      }
      require(*count <= left);
      left -= *count;
      if (*count == 0) {
        break;
      }
    }
    require(left == 0);
  }
}
