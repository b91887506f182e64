// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace compatpack::io {

/// A file descriptor that closes itself. Move-only; -1 is none.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  Fd(Fd&& other) noexcept : fd_(other.release()) {}
  Fd& operator=(Fd&& other) noexcept;
  ~Fd();

  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] bool is_open() const { return fd_ >= 0; }

  /// Gives the descriptor away; the caller closes it.
  int release();

 private:
  int fd_ = -1;
};

}  // namespace compatpack::io
