// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compatpack/base/result.hpp"
#include "compatpack/io/confinement.hpp"
#include "compatpack/io/output_dir.hpp"
#include "compatpack/io/output_file.hpp"

namespace compatpack::io {

/// A file that appears whole, or not at all. It is written beside its target, as OutputDir's folder
/// is, and renamed; what a process that is killed leaves of it goes with the next one that is
/// staged for the same target.
class WholeFile {
 public:
  /// Makes the file, empty, and what is missing of the folders above `target`; these go again,
  /// unless commit() succeeds. Error io.
  static Result<std::unique_ptr<WholeFile>> stage(const std::string& target);

  WholeFile(const WholeFile&) = delete;
  WholeFile& operator=(const WholeFile&) = delete;

  /// Removes the file, unless commit() has succeeded.
  ~WholeFile();

  Result<Done> write(std::span<const std::byte> bytes) { return file_.write(bytes); }

  /// Waits until the file is on disk. Error io.
  Result<Done> sync();

  /// The same, where it was not done, then makes the file appear at the target, with mode 0644.
  ///
  /// Errors: conflict where something stands there and may not be replaced; io.
  Result<Done> commit(Replace replace);

  /// What confine() must allow, so that commit() works. Valid as long as this.
  [[nodiscard]] std::vector<AllowedFolder> allowed_folders() const;

 private:
  WholeFile(std::string target, MadeFolders made, Fd parent, std::string staging_name,
            std::string name, OutputFile file);
  [[nodiscard]] int publish(Replace replace) const;

  MadeFolders made_;
  std::string target_;
  Fd parent_;
  std::string staging_name_;  // below parent_; empty after commit()
  std::string name_;          // of the target, below parent_
  OutputFile file_;
};

}  // namespace compatpack::io
