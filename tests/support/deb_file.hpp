// SPDX-License-Identifier: Apache-2.0
#pragma once

// Composes Debian packages. A bad one is a good one with one thing changed:
//
//   DebFile().member("debian-binary", "2.0\n").member("control.tar.gz", ...).with_size_field("-1")
//
// What the members hold is the caller's: tar archives, compressed or not.

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace compatpack::test {

/// How a member's name is written.
enum class ArNames {
  plain,  ///< as dpkg does
  gnu,    ///< with a slash behind it
  bsd,    ///< "#1/N", and the name at the front of the content
};

class DebFile {
 public:
  explicit DebFile(ArNames names = ArNames::plain) : names_(names) {}

  DebFile& member(std::string name, std::string content);

  // Of the last member, text of the field as it stands, filled up with blanks or cut:

  DebFile& with_name_field(std::string text);
  DebFile& with_size_field(std::string text);
  DebFile& with_end_field(std::string text);

  /// What fills a member of odd size; a line end unless set.
  DebFile& with_padding(std::string bytes);
  /// The last member has no padding, even if its size is odd.
  DebFile& without_last_padding();
  DebFile& with_magic(std::string bytes);
  /// Bytes behind the last member.
  DebFile& with_trailing(std::string bytes);

  [[nodiscard]] std::string bytes() const;

 private:
  struct Member {
    std::string name;
    std::string content;
    std::vector<std::pair<std::size_t, std::string>> patches = {};
  };
  DebFile& patch(std::size_t at, std::size_t width, std::string text);

  ArNames names_;
  std::vector<Member> members_;
  std::string padding_ = "\n";
  bool last_padding_ = true;
  std::string magic_ = "!<arch>\n";
  std::string trailing_;
};

/// debian-binary, control.tar and data.tar with the bytes given.
[[nodiscard]] DebFile make_deb(std::string control_tar, std::string data_tar);

}  // namespace compatpack::test
