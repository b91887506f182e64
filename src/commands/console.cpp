// SPDX-License-Identifier: Apache-2.0
#include "compatpack/commands/console.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include "compatpack/base/text.hpp"

namespace compatpack::commands {
namespace {

constexpr std::chrono::milliseconds kFirstDraw{500};
constexpr std::chrono::milliseconds kBetweenDraws{100};

std::string progress_text(ByteCount so_far, ByteCount total, std::chrono::duration<double> since) {
  const double rate = static_cast<double>(so_far.value) / since.count();
  const std::string speed = ", " + human_size({static_cast<std::uint64_t>(rate)}) + "/s";
  if (total.value == 0) {
    return "reading " + human_size(so_far) + speed;  // a folder
  }
  // Never all of it: only the rename at the end is that.
  const std::uint64_t percent = std::min<std::uint64_t>(99, so_far.value * 100 / total.value);
  return "reading " + std::to_string(percent) + "% of " + human_size(total) + speed;
}

}  // namespace

std::string human_size(ByteCount size) {
  constexpr std::array<const char*, 5> kUnits{"B", "kB", "MB", "GB", "TB"};
  auto value = static_cast<double>(size.value);
  std::size_t unit = 0;
  while (value >= 999.95 && unit + 1 < kUnits.size()) {
    value /= 1000;
    ++unit;
  }
  std::array<char, 32> text{};
  // 32 hold any of them: at most 20 digits before the unit.
  static_cast<void>(std::snprintf(text.data(), text.size(), unit == 0 ? "%.0f %s" : "%.1f %s",
                                  value, kUnits[unit]));
  return text.data();
}

Console::~Console() { erase_progress(); }

void Console::answer(std::string_view line) {
  if (has_answer()) {
    erase_progress();
    env_.out << line << '\n';
  }
}

void Console::result(std::string_view line) {
  erase_progress();
  env_.out << line << '\n';
}

void Console::document(std::string_view json) {
  erase_progress();
  env_.out << json << '\n';
}

void Console::remark(std::string_view severity, std::string_view text) {
  erase_progress();
  const bool colored = style_.color && severity == "error";
  const std::string_view on = colored ? "\x1b[1;31m" : "";
  const std::string_view off = colored ? "\x1b[0m" : "";
  env_.err << "compatpack: " << on << severity << off << ": " << text;
}

void Console::warn(std::string_view text) {
  if (style_.verbosity != Verbosity::quiet) {
    remark("warning", printable(text) + "\n");
  }
}

void Console::error(const Error& error) { remark("error", render(error)); }

void Console::detail(std::string_view text) {
  if (style_.verbosity == Verbosity::verbose) {
    erase_progress();
    env_.err << "compatpack: " << printable(text) << '\n';
  }
}

Result<Done> Console::on_read(ByteCount so_far, ByteCount total) {
  if (env_.interrupted()) {
    return Error{.code = Errc::interrupted, .what = "interrupted; nothing was written"};
  }
  const auto now = env_.now();
  if (!style_.progress || now - begun_ < kFirstDraw || now - drawn_ < kBetweenDraws) {
    return Done{};
  }
  std::string text = progress_text(so_far, total, now - begun_);
  text.resize(std::min(text.size(), static_cast<std::size_t>(std::max(env_.width - 1, 1))));
  env_.err << "\r\x1b[K" << text << std::flush;
  on_line_ = true;
  drawn_ = now;
  return Done{};
}

void Console::erase_progress() {
  if (on_line_) {
    env_.err << "\r\x1b[K" << std::flush;
    on_line_ = false;
  }
}

}  // namespace compatpack::commands
