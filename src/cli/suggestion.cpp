// SPDX-License-Identifier: Apache-2.0
#include "suggestion.hpp"

#include <algorithm>
#include <numeric>

namespace compatpack::cli {
namespace {

/// How many letters must be put in, taken out or changed to make `a` into `b`.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::optional<std::string> nearest_name(std::string_view word,
                                        const std::vector<std::string>& names) {
  // A third of its letters wrong is as far as a slip goes.
  std::size_t nearest = word.size() / 3 + 1;
  std::optional<std::string> found;
  for (const std::string& name : names) {
    if (const std::size_t distance = edit_distance(word, name); distance < nearest) {
      nearest = distance;
      found = name;
    }
  }
  return found;
}

}  // namespace compatpack::cli
