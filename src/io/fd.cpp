// SPDX-License-Identifier: Apache-2.0
#include "compatpack/io/fd.hpp"

#include <utility>

#include <unistd.h>

namespace compatpack::io {

Fd& Fd::operator=(Fd&& other) noexcept {
  if (this != &other) {
    if (is_open()) {
      ::close(fd_);
    }
    fd_ = other.release();
  }
  return *this;
}

Fd::~Fd() {
  // What must not be lost is fsynced before; nothing can be done about a failing close here.
  if (is_open()) {
    ::close(fd_);
  }
}

int Fd::release() { return std::exchange(fd_, -1); }

}  // namespace compatpack::io
