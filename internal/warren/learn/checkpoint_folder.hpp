// SPDX-License-Identifier: Apache-2.0
// The folder of a training's checkpoints, while the training writes to it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace warren::learn {

/// Files that a training keeps in the folder; empty for an empty name.
[[nodiscard]] std::vector<std::string> checkpoint_files(const std::string& folder);

/// A folder that exists, takes files, and is this training's alone. What killed trainings have left
/// unfinished in it goes. A folder that was made for it and is still empty at the end goes, too.
class CheckpointFolder {
 public:
  /// Throws InputError, saying why, where the folder cannot be made or written, or another training
  /// writes to it.
  explicit CheckpointFolder(const std::string& path);
  ~CheckpointFolder();
  CheckpointFolder(const CheckpointFolder&) = delete;
  CheckpointFolder& operator=(const CheckpointFolder&) = delete;

 private:
  void lock();
  void sweep() const;
  void remove_empty() const noexcept;

  std::string path_;
  std::vector<std::filesystem::path> made_;  ///< The folder and those around it, inner ones first.
  int descriptor_ = -1;
};

}  // namespace warren::learn
