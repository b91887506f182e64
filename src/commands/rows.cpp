// SPDX-License-Identifier: Apache-2.0
#include "rows.hpp"

#include <algorithm>
#include <utility>

#include "compatpack/base/text.hpp"

namespace compatpack::commands {
namespace {

constexpr std::size_t kLabelWidth = 15;

// Narrower, the second column would hold a word or two; wider, a line is hard to follow.
constexpr int kNarrowest = 60;
constexpr int kWidest = 100;

}  // namespace

Rows::Rows(const Env& env, Console& console)
    : console_(console),
      width_(static_cast<std::size_t>(std::clamp(env.width, kNarrowest, kWidest))) {}

void Rows::verdict(std::string_view words, std::string_view reason,
                   std::span<const std::string> next) {
  const std::string text = std::string(words) + (reason.empty() ? "" : ": " + printable(reason));
  console_.answer(wrapped("", text, width_, 4));
  for (const std::string& one : next) {
    // Whole, since it ends in what is to be copied.
    console_.answer("  next: " + printable(one));
  }
  is_after_verdict_ = true;
}

void Rows::fact(std::string_view label, std::string_view text) {
  if (is_after_verdict_) {
    console_.answer("");
    is_after_verdict_ = false;
  }
  std::string first(label);
  first.resize(std::max(kLabelWidth, first.size() + 1), ' ');
  console_.answer(wrapped(std::move(first), printable(text), width_, kLabelWidth));
}

void Rows::remark(std::string_view text) {
  console_.answer(wrapped("", printable(text), width_, 2));
}

}  // namespace compatpack::commands
