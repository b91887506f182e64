// SPDX-License-Identifier: Apache-2.0
#include "support/tar_file.hpp"

#include <algorithm>
#include <stdexcept>

namespace compatpack::test {
namespace {

constexpr std::size_t kBlock = 512;
constexpr std::size_t kNameWidth = 100;

// Where the fields of a ustar header stand, and how wide they are.
struct Field {
  std::size_t at;
  std::size_t width;
};
constexpr Field kName{0, kNameWidth};
constexpr Field kMode{100, 8};
constexpr Field kOwner{108, 8};
constexpr Field kGroup{116, 8};
constexpr Field kSize{124, 12};
constexpr Field kTime{136, 12};
constexpr Field kChecksum{148, 8};
constexpr Field kType{156, 1};
constexpr Field kTarget{157, kNameWidth};
constexpr Field kMagic{257, 8};
constexpr Field kDeviceMajor{329, 8};
constexpr Field kDeviceMinor{337, 8};
constexpr Field kPrefix{345, 155};

void put(std::string& block, Field field, std::string_view text) {
  text = text.substr(0, field.width);
  block.replace(field.at, text.size(), text);
}

/// Octal digits that leave one byte of `width` for a NUL.
std::string octal(std::uint64_t value, std::size_t width) {
  std::string digits(width - 1, '0');
  for (std::size_t i = digits.size(); i-- > 0; value >>= 3U) {
    digits[i] = static_cast<char>('0' + (value & 7U));
  }
  return digits;
}

void pad(std::string& out) { out.resize((out.size() + kBlock - 1) / kBlock * kBlock, '\0'); }

/// "17 path=some/name\n": the number counts the whole record, itself too.
std::string pax_record(const std::string& key, const std::string& value) {
  const std::size_t rest = key.size() + value.size() + 3;
  std::size_t size = rest + 1;
  while (std::to_string(size).size() + rest != size) {
    ++size;
  }
  return std::to_string(size) + " " + key + "=" + value + "\n";
}

}  // namespace

TarFile& TarFile::add(Entry entry) {
  entry.long_names = long_names_;
  entries_.push_back(std::move(entry));
  return *this;
}

TarFile& TarFile::file(std::string name, std::string content, unsigned mode) {
  return add({.name = std::move(name), .content = std::move(content), .mode = mode, .type = '0'});
}

TarFile& TarFile::folder(std::string name, unsigned mode) {
  return add({.name = std::move(name), .mode = mode, .type = '5'});
}

TarFile& TarFile::symlink(std::string name, std::string target) {
  return add({.name = std::move(name), .target = std::move(target), .mode = 0777, .type = '2'});
}

TarFile& TarFile::hardlink(std::string name, std::string target) {
  return add({.name = std::move(name), .target = std::move(target), .type = '1'});
}

TarFile& TarFile::character_device(std::string name) {
  return add({.name = std::move(name), .type = '3'});
}

TarFile& TarFile::block_device(std::string name) {
  return add({.name = std::move(name), .type = '4'});
}

TarFile& TarFile::fifo(std::string name) { return add({.name = std::move(name), .type = '6'}); }

TarFile& TarFile::with_long_names(LongNames how) {
  long_names_ = how;
  return *this;
}

TarFile& TarFile::with_pax(std::string key, std::string value) {
  entries_.back().pax.emplace_back(std::move(key), std::move(value));
  return *this;
}

TarFile& TarFile::patch(std::size_t at, std::size_t width, std::string text) {
  text.resize(width, '\0');
  entries_.back().patches.emplace_back(at, std::move(text));
  return *this;
}

TarFile& TarFile::with_mode_field(std::string text) {
  return patch(kMode.at, kMode.width, std::move(text));
}

TarFile& TarFile::with_owner_field(std::string text) {
  return patch(kOwner.at, kOwner.width, std::move(text));
}

TarFile& TarFile::with_size_field(std::string text) {
  return patch(kSize.at, kSize.width, std::move(text));
}

TarFile& TarFile::with_time_field(std::string text) {
  return patch(kTime.at, kTime.width, std::move(text));
}

TarFile& TarFile::with_magic_field(std::string text) {
  return patch(kMagic.at, kMagic.width, std::move(text));
}

TarFile& TarFile::with_checksum_field(std::string text) {
  text.resize(kChecksum.width, '\0');
  entries_.back().checksum = std::move(text);
  return *this;
}

TarFile& TarFile::with_type_flag(char flag) {
  entries_.back().type = flag;
  return *this;
}

TarFile& TarFile::with_time(std::uint64_t seconds) {
  entries_.back().time = seconds;
  return *this;
}

TarFile& TarFile::without_end() {
  end_ = false;
  return *this;
}

TarFile& TarFile::with_trailing(std::string bytes) {
  trailing_ = std::move(bytes);
  return *this;
}

void TarFile::write_header(std::string& out, const Entry& entry, std::size_t size) const {
  std::string block(kBlock, '\0');
  std::string_view name = entry.name;
  if (name.size() > kNameWidth && entry.long_names == LongNames::ustar_prefix) {
    const std::size_t slash = name.rfind('/', kPrefix.width);
    if (slash != std::string_view::npos) {
      put(block, kPrefix, name.substr(0, slash));
      name.remove_prefix(slash + 1);
    }
  }
  put(block, kName, name);
  put(block, kMode, octal(entry.mode, kMode.width));
  put(block, kOwner, octal(0, kOwner.width));
  put(block, kGroup, octal(0, kGroup.width));
  put(block, kSize, octal(size, kSize.width));
  put(block, kTime, octal(entry.time, kTime.width));
  put(block, kType, std::string_view(&entry.type, 1));
  put(block, kTarget, entry.target);
  put(block, kMagic,
      flavour_ == Flavour::gnu ? std::string_view("ustar  \0", 8)
                               : std::string_view("ustar\0"
                                                  "00",
                                                  8));
  if (entry.type == '3' || entry.type == '4') {
    put(block, kDeviceMajor, octal(1, kDeviceMajor.width));
    put(block, kDeviceMinor, octal(3, kDeviceMinor.width));
  }
  for (const auto& [at, text] : entry.patches) {
    block.replace(at, text.size(), text);
  }
  put(block, kChecksum, std::string(kChecksum.width, ' '));
  std::uint64_t sum = 0;
  for (const char c : block) {
    sum += static_cast<unsigned char>(c);
  }
  put(block, kChecksum,
      entry.checksum.empty() ? octal(sum, 7) + std::string("\0 ", 2) : entry.checksum);
  out += block;
}

/// An entry that says something of the next: GNU's 'L' and 'K', pax's 'x'.
void TarFile::write_extra(std::string& out, char type, std::string_view name,
                          std::string content) const {
  const Entry extra{.name = std::string(name), .type = type};
  write_header(out, extra, content.size());
  out += content;
  pad(out);
}

void TarFile::write(std::string& out, const Entry& entry) const {
  auto pax = entry.pax;
  const auto store_long = [&](const std::string& text, char gnu_type, const char* pax_key) {
    if (text.size() <= kNameWidth) {
      return;
    }
    if (entry.long_names == LongNames::gnu) {
      write_extra(out, gnu_type, "././@LongLink", text + '\0');
    } else if (entry.long_names == LongNames::pax) {
      pax.emplace_back(pax_key, text);
    }
  };
  store_long(entry.target, 'K', "linkpath");
  store_long(entry.name, 'L', "path");
  if (!pax.empty()) {
    std::string records;
    for (const auto& [key, value] : pax) {
      records += pax_record(key, value);
    }
    write_extra(out, 'x', "./PaxHeaders/member", std::move(records));
  }
  write_header(out, entry, entry.content.size());
  out += entry.content;
  pad(out);
}

std::string TarFile::bytes() const {
  std::string out;
  for (const Entry& entry : entries_) {
    write(out, entry);
  }
  if (end_) {
    out.append(2 * kBlock, '\0');
  }
  return out + trailing_;
}

}  // namespace compatpack::test
