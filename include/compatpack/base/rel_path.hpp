// SPDX-License-Identifier: Apache-2.0
#pragma once

// Names out of a bundle, proved harmless. They are bytes, not UTF-8 by promise, and not
// std::filesystem::path: path("/out") / "/etc/passwd" is "/etc/passwd".

#include <string>
#include <string_view>

#include "compatpack/base/result.hpp"

namespace compatpack {

/// A member's path that stays inside whatever folder it is put in.
class RelPath {
 public:
  /// Accepts plain components with single slashes between them. Leading "./" and a trailing "/", as
  /// tar writes for folders, are taken off first; "./" itself becomes ".", the only path with a
  /// dot.
  ///
  /// Errors, with `found` set: unsafe_path for an empty name, a leading "/", a component ".." or
  /// ".", an empty component, a NUL, a component over 255 bytes, or a whole over 4,095 (Linux's
  /// limits).
  static Result<RelPath> parse(std::string_view text);

  [[nodiscard]] const std::string& text() const { return text_; }

  /// The last component.
  [[nodiscard]] std::string_view name() const;

  /// All but the last component, without a slash at its end; empty for a path of one component.
  [[nodiscard]] std::string_view folder() const;

  friend auto operator<=>(const RelPath&, const RelPath&) = default;

 private:
  explicit RelPath(std::string text) : text_(std::move(text)) {}
  std::string text_;
};

/// One plain component: the only thing that names a file in an output directory.
class FileName {
 public:
  /// Errors: unsafe_path, as for RelPath, and for a slash.
  static Result<FileName> parse(std::string_view text);

  [[nodiscard]] const std::string& text() const { return text_; }

  friend auto operator<=>(const FileName&, const FileName&) = default;

 private:
  explicit FileName(std::string text) : text_(std::move(text)) {}
  std::string text_;
};

}  // namespace compatpack
