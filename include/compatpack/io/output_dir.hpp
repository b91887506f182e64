// SPDX-License-Identifier: Apache-2.0
#pragma once

// The one place that writes trees; single files are whole_file's. A directory is made whole, or not
// at all:
//
//   PARENT/.NAME.compatpack-staging-XXXXXX/   mode 0700, locked while in use; all is written here
//   PARENT/NAME/                              appears by one rename, when every file is on disk
//
// Everything is relative to a descriptor of the staging folder and names are FileNames, one plain
// component each, so nothing can be written outside of it. A process that is killed leaves only its
// staging folder; its lock dies with it, and the next stage() beside it removes what it left.

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compatpack/base/bytes.hpp"
#include "compatpack/base/rel_path.hpp"
#include "compatpack/base/result.hpp"
#include "compatpack/io/confinement.hpp"
#include "compatpack/io/fd.hpp"
#include "compatpack/io/output_file.hpp"

namespace compatpack::io {

enum class Replace {
  nothing,    ///< the target must not exist, or be an empty folder
  directory,  ///< what stands at the target is swapped out in one step, and removed
  file,       ///< likewise, of a file
};

enum class Durability {
  synced,  ///< on disk before it appears
  none,    ///< in the page cache: for those who throw all away if the machine fails
};

enum class FileMode : unsigned {
  data = 0644,
  program = 0755,
};

/// Folders that were made on the way to another; removed at the end of the scope, if they are still
/// empty, unless keep() was called.
class MadeFolders {
 public:
  MadeFolders() = default;
  MadeFolders(const MadeFolders&) = delete;
  MadeFolders& operator=(const MadeFolders&) = delete;
  MadeFolders(MadeFolders&& other) noexcept = default;
  MadeFolders& operator=(MadeFolders&&) = delete;
  ~MadeFolders();

  /// Makes what is missing of `path`, as mkdir -p does, and opens it. Error io, with `subject`.
  Result<Fd> make(const std::string& path);

  void keep() { made_.clear(); }

  /// The folders that something was made in; the first is the one that was there.
  [[nodiscard]] std::vector<int> parents() const;

 private:
  struct Made {
    Fd parent;
    std::string name;
  };
  std::vector<Made> made_;  // the outermost first
};

class OutputDir {
 public:
  /// Makes a staging folder beside `target`, and removes those that dead processes left there.
  /// Neither `target` nor the folders above it need exist; those that were made go again, unless
  /// commit() succeeds.
  ///
  /// Errors, with `subject` set: io.
  static Result<std::unique_ptr<OutputDir>> stage(const std::string& target,
                                                  Durability durability = Durability::synced);

  OutputDir(const OutputDir&) = delete;
  OutputDir& operator=(const OutputDir&) = delete;

  /// Removes the staging folder, unless commit() has succeeded.
  ~OutputDir();

  /// Makes the folders of `path` below the staging folder, where they are missing. From here on all
  /// names are of files in the last of them; after go_to(".") in the staging folder itself again.
  Result<Done> go_to(const RelPath& path);

  /// Makes a new, empty file of mode 0600. Error conflict: there is one of that name.
  Result<OutputFile> create(const FileName& name);

  /// Takes back a file from create(), gives it its mode, and starts writing it out to disk;
  /// commit() waits for that.
  Result<Done> finish(OutputFile file, const FileName& name, FileMode mode);

  Result<Done> write_text(const FileName& name, std::string_view content, FileMode mode);

  /// Makes a symbolic link at `name` to `target`, a name in the same folder.
  Result<Done> link(const FileName& name, const FileName& target);

  Result<Done> rename(const FileName& from, const FileName& to);
  Result<Done> copy(const FileName& from, const FileName& to, FileMode mode);
  Result<Done> remove(const FileName& name);

  /// Waits until every file is on disk, unless Durability::none. Error io.
  Result<Done> sync();

  /// The same, where it was not done, then makes the folder appear at the target.
  ///
  /// Errors: conflict where something stands at the target and may not be replaced; io. The staging
  /// folder is still there after an Error, and goes with this object.
  Result<Done> commit(Replace replace);

  /// The path of the staging folder, to read from what is in it.
  [[nodiscard]] std::string staged_at() const;

  /// What confine() must allow, so that all of the above works, and the tree that stands at the
  /// target can be replaced. One that another process puts there later can be too, but what is
  /// left of it is removed by the next stage(). Valid as long as this.
  std::vector<AllowedFolder> allowed_folders();

  /// Whether files below the target cannot be run or loaded (a noexec mount).
  [[nodiscard]] bool is_noexec() const;

 private:
  OutputDir(std::string target, MadeFolders made, Fd parent, std::string staging_name, Fd staging,
            std::string name);
  [[nodiscard]] std::string shown(const FileName& name) const;
  Result<Done> sync_oldest();
  [[nodiscard]] Result<Done> sync_folder(const Fd& folder) const;
  Result<Done> publish(Replace replace);
  Result<Done> swap_with_target();

  Durability durability_ = Durability::synced;
  MadeFolders made_;    // above the target
  std::string target_;  // as the user wrote it, for messages
  Fd parent_;
  std::string staging_name_;  // below parent_; empty after commit()
  Fd staging_;
  std::vector<Fd> folders_;  // below it, by go_to()
  int current_;              // of staging_ or folders_: where files are made
  std::string at_ = ".";     // its path
  std::string name_;         // of the target, below parent_
  Fd old_;                   // what stands at the target, for allowed_folders()
  struct Unsynced {
    std::string name;
    Fd fd;
  };
  std::deque<Unsynced> unsynced_;  // in the order of finish()
};

struct TargetPath {
  std::string parent;
  std::string name;
};

/// Splits `target` into an existing parent and a last component, taking off slashes at the end.
/// `parent` is "." where the path has one component. Error usage for "", "/", and names "." or
/// "..".
Result<TargetPath> split_target(const std::string& target);

/// Removes what killed runs left beside `target`. stage() does so by itself.
void remove_stale_staging(const std::string& target);

/// The names in the open folder `fd`, sorted, without "." and "..". Error io.
Result<std::vector<std::string>> list_folder(const Fd& fd, const std::string& shown);

/// Removes the file, link or folder `name` in the open folder `parent`, with all that is below it
/// and never through a link. What cannot be removed is left.
void remove_tree(const Fd& parent, const std::string& name);

}  // namespace compatpack::io
