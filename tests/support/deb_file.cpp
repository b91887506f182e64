// SPDX-License-Identifier: Apache-2.0
#include "support/deb_file.hpp"

namespace compatpack::test {
namespace {

std::string field(std::string text, std::size_t width) {
  text.resize(width, ' ');
  return text;
}

}  // namespace

DebFile& DebFile::member(std::string name, std::string content) {
  members_.push_back({std::move(name), std::move(content)});
  return *this;
}

DebFile& DebFile::patch(std::size_t at, std::size_t width, std::string text) {
  members_.back().patches.emplace_back(at, field(std::move(text), width));
  return *this;
}

DebFile& DebFile::with_name_field(std::string text) { return patch(0, 16, std::move(text)); }
DebFile& DebFile::with_size_field(std::string text) { return patch(48, 10, std::move(text)); }
DebFile& DebFile::with_end_field(std::string text) { return patch(58, 2, std::move(text)); }

DebFile& DebFile::with_padding(std::string bytes) {
  padding_ = std::move(bytes);
  return *this;
}

DebFile& DebFile::without_last_padding() {
  last_padding_ = false;
  return *this;
}

DebFile& DebFile::with_magic(std::string bytes) {
  magic_ = std::move(bytes);
  return *this;
}

DebFile& DebFile::with_trailing(std::string bytes) {
  trailing_ = std::move(bytes);
  return *this;
}

std::string DebFile::bytes() const {
  std::string out = magic_;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const Member& member = members_[i];
    const bool bsd = names_ == ArNames::bsd;
    const std::string name = bsd                      ? "#1/" + std::to_string(member.name.size())
                             : names_ == ArNames::gnu ? member.name + "/"
                                                      : member.name;
    const std::string content = (bsd ? member.name : "") + member.content;
    std::string header = field(name, 16) + field("1500000000", 12) + field("0", 6) + field("0", 6) +
                         field("100644", 8) + field(std::to_string(content.size()), 10) + "`\n";
    for (const auto& [at, text] : member.patches) {
      header.replace(at, text.size(), text);
    }
    out += header + content;
    if (content.size() % 2 != 0 && (last_padding_ || i + 1 < members_.size())) {
      out += padding_;
    }
  }
  return out + trailing_;
}

DebFile make_deb(std::string control_tar, std::string data_tar) {
  return DebFile()
      .member("debian-binary", "2.0\n")
      .member("control.tar", std::move(control_tar))
      .member("data.tar", std::move(data_tar));
}

}  // namespace compatpack::test
