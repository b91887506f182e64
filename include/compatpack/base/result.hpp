// SPDX-License-Identifier: Apache-2.0
#pragma once

// Result<T> holds a T or an Error; C++20 has no std::expected. Failures are values here because
// bytes pass through C callbacks, which no exception may cross, and because [[nodiscard]] shows a
// forgotten check at compile time.

#include <utility>
#include <variant>

#include "compatpack/base/error.hpp"

namespace compatpack {

/// The value of an operation that has nothing to say but that it worked.
struct Done {};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT: implicit
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT: implicit

  [[nodiscard]] explicit operator bool() const { return state_.index() == 0; }

  /// The value. Requires: there is one.
  [[nodiscard]] T& operator*() & { return *std::get_if<0>(&state_); }
  [[nodiscard]] const T& operator*() const& { return *std::get_if<0>(&state_); }
  [[nodiscard]] T&& operator*() && { return std::move(*std::get_if<0>(&state_)); }
  [[nodiscard]] T* operator->() { return std::get_if<0>(&state_); }
  [[nodiscard]] const T* operator->() const { return std::get_if<0>(&state_); }

  /// The failure. Requires: there is one.
  [[nodiscard]] Error& error() & { return *std::get_if<1>(&state_); }
  [[nodiscard]] const Error& error() const& { return *std::get_if<1>(&state_); }
  [[nodiscard]] Error&& error() && { return std::move(*std::get_if<1>(&state_)); }

 private:
  std::variant<T, Error> state_;
};

}  // namespace compatpack

#define CP_PASTE(a, b) a##b
#define CP_JOIN(a, b) CP_PASTE(a, b)

/// `CP_TRY(auto x, f());` binds the value of f() to x, or returns its Error from this function.
#define CP_TRY(target, ...)                                  \
  auto CP_JOIN(cp_result_, __LINE__) = (__VA_ARGS__);        \
  if (!CP_JOIN(cp_result_, __LINE__)) {                      \
    return std::move(CP_JOIN(cp_result_, __LINE__)).error(); \
  }                                                          \
  target = *std::move(CP_JOIN(cp_result_, __LINE__))

/// `CP_CHECK(f());` returns the Error of f() from this function, if it gave one.
#define CP_CHECK(...)                                 \
  do {                                                \
    if (auto cp_result = (__VA_ARGS__); !cp_result) { \
      return std::move(cp_result).error();            \
    }                                                 \
  } while (false)
