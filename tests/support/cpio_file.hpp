// SPDX-License-Identifier: Apache-2.0
#pragma once

// Composes cpio archives as rpm payloads hold them. A bad archive is a good one with one thing
// changed: with_field() overwrites the digits of the last member's field, whatever it was.
//
//   CpioFile().file("./usr/lib/libcuda.so.1", "bytes").with_field(CpioField::size,
//   "fffffff0").bytes()

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace compatpack::test {

enum class CpioForm {
  newc,      ///< 070701
  crc,       ///< 070702, with sums
  stripped,  ///< 07070X, with indexes in place of names
};

/// Fields of newc by their places.
enum class CpioField {
  inode,
  mode,
  owner,
  group,
  links,
  time,
  size,
  device_major,
  device_minor,
  rdevice_major,
  rdevice_minor,
  name_size,
  check,
};

class CpioFile {
 public:
  explicit CpioFile(CpioForm form = CpioForm::newc) : form_(form) {}

  /// A member of any kind: `mode` with the bits of its type, `content` of a file or a link's
  /// target.
  CpioFile& member(std::string name, std::string content, std::uint32_t mode);
  CpioFile& file(std::string name, std::string content, std::uint32_t mode = 0100644);
  CpioFile& folder(std::string name);
  CpioFile& symlink(std::string name, std::string target);
  /// A member of the stripped form.
  CpioFile& indexed(std::uint32_t index, std::string content);

  // Of the last member:

  CpioFile& with_field(CpioField field, std::string digits);
  CpioFile& with_magic(std::string magic);
  /// The digits of the index, of the stripped form.
  CpioFile& with_index(std::string digits);

  CpioFile& without_trailer();
  /// Bytes behind the end.
  CpioFile& with_trailing(std::string bytes);

  [[nodiscard]] std::string bytes() const;

 private:
  struct Member {
    std::string name;
    std::string content = {};
    std::uint32_t mode = 0;
    std::string index = {};  // of the stripped form: eight digits
    std::string magic = {};
    std::vector<std::pair<CpioField, std::string>> fields = {};
  };
  void write(std::string& out, const Member& member) const;

  CpioForm form_;
  std::vector<Member> members_;
  bool trailer_ = true;
  std::string trailing_;
};

}  // namespace compatpack::test
