// SPDX-License-Identifier: Apache-2.0
#pragma once

// Gives up rights that reading a bundle does not need, before hostile bytes are parsed: a parser
// that is taken over can then write only where the tree is made, start no program and open no
// connection. By Landlock and a seccomp filter, both for this process and for good; a kernel that
// lacks them, or a sandbox that forbids them, leaves it as it is.
//
// https://docs.kernel.org/userspace-api/landlock.html

#include <span>
#include <string>

#include "compatpack/io/fd.hpp"

namespace compatpack::io {

/// A folder that may still be written in.
struct AllowedFolder {
  enum class What {
    contents,  ///< everything below it: files, links and folders made, written, removed
    entries,   ///< folders made and removed in it and below, as a rename of one wants
    removal,   ///< files below it removed
    files,     ///< files below it made and removed, as a rename of one wants, and not written
  };
  int fd;  ///< open, with O_PATH or more; to be kept open until confine() returns
  What what;
};

/// Opens the folder at `path`, to be allowed; not open where that cannot be.
[[nodiscard]] Fd open_to_allow(const std::string& path);

/// Confines the process: writing below `allowed` only, no new program, no socket. A second call can
/// only narrow. Reading stays as it was, and so do descriptors that are open.
///
/// Requires: no other thread runs yet. Returns what is in force: "Landlock 7 and seccomp"; "" where
/// neither is to be had.
std::string confine(std::span<const AllowedFolder> allowed);

}  // namespace compatpack::io
