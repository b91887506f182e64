// SPDX-License-Identifier: Apache-2.0
#pragma once

// Composes tar archives for tests, byte by byte, so that a test can ask for what tar(1) would never
// write. A setter `with_...` changes the entry added last:
//
//   TarFile().file("a", "text").symlink("b", "/etc").with_checksum_field("000000").bytes()

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace compatpack::test {

/// How a name or link target over 100 bytes is stored.
enum class LongNames { gnu, pax, ustar_prefix };

class TarFile {
 public:
  /// GNU writes "ustar  \0" where POSIX writes "ustar\0" "00".
  enum class Flavour { posix, gnu };

  explicit TarFile(Flavour flavour = Flavour::posix) : flavour_(flavour) {}

  TarFile& file(std::string name, std::string content, unsigned mode = 0644);
  TarFile& folder(std::string name, unsigned mode = 0755);
  TarFile& symlink(std::string name, std::string target);
  TarFile& hardlink(std::string name, std::string target);
  TarFile& character_device(std::string name);
  TarFile& block_device(std::string name);
  TarFile& fifo(std::string name);

  /// From here on; GNU's way unless set. A name that ustar's prefix cannot hold is cut.
  TarFile& with_long_names(LongNames how);

  /// A pax record of the entry added last: "path", "linkpath", "size", "mtime", any other.
  TarFile& with_pax(std::string key, std::string value);
  /// Raw text of a header field, cut to its width: "00000000017" or "\x80...".
  TarFile& with_mode_field(std::string text);
  TarFile& with_owner_field(std::string text);
  TarFile& with_size_field(std::string text);
  TarFile& with_time_field(std::string text);
  TarFile& with_checksum_field(std::string text);
  TarFile& with_magic_field(std::string text);
  TarFile& with_type_flag(char flag);
  /// Seconds since 1970, UTC; 1,500,000,000 unless set.
  TarFile& with_time(std::uint64_t seconds);

  /// No two blocks of zeros at the end.
  TarFile& without_end();
  /// Bytes behind the end.
  TarFile& with_trailing(std::string bytes);

  [[nodiscard]] std::string bytes() const;

 private:
  struct Entry {
    std::string name;
    std::string target = {};
    std::string content = {};
    unsigned mode = 0644;
    char type;
    LongNames long_names = LongNames::gnu;
    std::vector<std::pair<std::string, std::string>> pax = {};
    std::vector<std::pair<std::size_t, std::string>> patches = {};  // before the checksum
    std::string checksum = {};
    std::uint64_t time = 1'500'000'000;
  };

  TarFile& add(Entry entry);
  TarFile& patch(std::size_t at, std::size_t width, std::string text);
  void write(std::string& out, const Entry& entry) const;
  void write_header(std::string& out, const Entry& entry, std::size_t size) const;
  void write_extra(std::string& out, char type, std::string_view name, std::string content) const;

  Flavour flavour_;
  LongNames long_names_ = LongNames::gnu;
  std::vector<Entry> entries_;
  bool end_ = true;
  std::string trailing_;
};

}  // namespace compatpack::test
