// SPDX-License-Identifier: Apache-2.0
#include "support/cpio_file.hpp"

namespace compatpack::test {
namespace {

constexpr std::size_t kFields = 13;
constexpr std::size_t kFieldSize = 8;

std::string hex8(std::uint64_t value) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out(kFieldSize, '0');
  for (std::size_t i = kFieldSize; i > 0; --i, value >>= 4U) {
    out[i - 1] = kDigits[value & 15U];
  }
  return out;
}

void pad(std::string& out) { out.append((4 - out.size() % 4) % 4, '\0'); }

std::size_t place_of(CpioField field) { return static_cast<std::size_t>(field) * kFieldSize; }

std::uint32_t sum_of(std::string_view content) {
  std::uint32_t sum = 0;
  for (const char c : content) {
    sum += static_cast<unsigned char>(c);
  }
  return sum;
}

}  // namespace

CpioFile& CpioFile::member(std::string name, std::string content, std::uint32_t mode) {
  members_.push_back({.name = std::move(name), .content = std::move(content), .mode = mode});
  return *this;
}

CpioFile& CpioFile::file(std::string name, std::string content, std::uint32_t mode) {
  return member(std::move(name), std::move(content), mode);
}

CpioFile& CpioFile::folder(std::string name) { return member(std::move(name), "", 0040755); }

CpioFile& CpioFile::symlink(std::string name, std::string target) {
  return member(std::move(name), std::move(target), 0120777);
}

CpioFile& CpioFile::indexed(std::uint32_t index, std::string content) {
  members_.push_back({.name = {}, .content = std::move(content), .index = hex8(index)});
  return *this;
}

CpioFile& CpioFile::with_field(CpioField field, std::string digits) {
  members_.back().fields.emplace_back(field, std::move(digits));
  return *this;
}

CpioFile& CpioFile::with_magic(std::string magic) {
  members_.back().magic = std::move(magic);
  return *this;
}

CpioFile& CpioFile::with_index(std::string digits) {
  members_.back().index = std::move(digits);
  return *this;
}

CpioFile& CpioFile::without_trailer() {
  trailer_ = false;
  return *this;
}

CpioFile& CpioFile::with_trailing(std::string bytes) {
  trailing_ = std::move(bytes);
  return *this;
}

void CpioFile::write(std::string& out, const Member& member) const {
  if (!member.index.empty()) {
    out += member.magic.empty() ? "07070X" : member.magic;
    out += member.index;
  } else {
    const bool crc = form_ == CpioForm::crc;
    std::string fields;
    for (std::size_t i = 0; i < kFields; ++i) {
      fields += hex8(0);
    }
    const auto put = [&](CpioField field, const std::string& digits) {
      fields.replace(place_of(field), kFieldSize, digits);
    };
    put(CpioField::mode, hex8(member.mode));
    put(CpioField::links, hex8(1));
    put(CpioField::size, hex8(member.content.size()));
    put(CpioField::name_size, hex8(member.name.size() + 1));
    put(CpioField::check, hex8(crc ? sum_of(member.content) : 0));
    for (const auto& [field, digits] : member.fields) {
      put(field, digits);
    }
    out += !member.magic.empty() ? member.magic : crc ? "070702" : "070701";
    out += fields + member.name + '\0';
  }
  pad(out);
  out += member.content;
  pad(out);
}

std::string CpioFile::bytes() const {
  std::string out;
  for (const Member& member : members_) {
    write(out, member);
  }
  if (trailer_) {
    write(out, {.name = "TRAILER!!!"});
  }
  return out + trailing_;
}

}  // namespace compatpack::test
