// SPDX-License-Identifier: Apache-2.0
// Any bytes: the reader must return, what it returns must be in the file and within its limits, and
// the head must be the same when read alone.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "compatpack/base/bytes.hpp"
#include "compatpack/formats/elf.hpp"

using namespace compatpack;

namespace {

void require(bool holds) {
  if (!holds) {
    std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto file = std::as_bytes(std::span(data, size));
  const auto in_file = [text = as_text(file)](std::string_view part) {
    return text.find(part) != std::string_view::npos;
  };
  const auto head = formats::parse_elf_head(file);
  const auto identity = formats::parse_elf(file);
  if (!identity) {
    require(identity.error().at && identity.error().at->value <= size);
    static_cast<void>(render(identity.error()));
    return 0;
  }
  require(head && *head == identity->head);
  require(in_file(identity->soname) && in_file(identity->glibc_needed));
  require(identity->soname.size() <= formats::kElfStringMax);
  require(identity->needed.size() <= formats::kElfNeededMax);
  for (const auto& name : identity->needed) {
    require(in_file(name));
  }
  if (identity->forward_compat_note) {
    require(in_file(*identity->forward_compat_note));
    require(identity->forward_compat_note->size() <= formats::kElfNoteTextMax);
  }
  return 0;
}
