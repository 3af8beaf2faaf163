// SPDX-License-Identifier: Apache-2.0
// The lock is on the folder itself, so that it leaves no file, and goes with the process however
// that ends.
#include "warren/learn/checkpoint_folder.hpp"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include "warren/core/error.hpp"
#include "warren/core/output_file.hpp"
#include "warren/files/folder.hpp"

#include "learn/train/checkpoint_names.hpp"

namespace warren::learn {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw InputError(
      fmt::format("--checkpoint {}: {}; name a folder that may be written to", path, why));
}

}  // namespace

std::vector<std::string> checkpoint_files(const std::string& folder) {
  if (folder.empty()) return {};
  return {(fs::path(folder) / kModel).string(), (fs::path(folder) / kState).string()};
}

CheckpointFolder::CheckpointFolder(const std::string& path) : path_(path) {
  std::error_code error;
  if (fs::exists(path, error) && !fs::is_directory(path, error)) refuse(path, "this is no folder");
  for (fs::path part = fs::absolute(path, error).lexically_normal(); !error;
       part = part.parent_path()) {
    if (part.filename().empty()) part = part.parent_path();  // Of a name that ends in a slash.
    if (fs::exists(part, error) || part == part.root_path()) break;
    made_.push_back(part);
  }
  try {
    error.clear();
    (void)fs::create_directories(path, error);
    if (error) refuse(path, "the folder cannot be made: " + error.message());
    lock();
    sweep();
    for (const std::string& file : checkpoint_files(path)) const OutputFile trial(file);
  } catch (...) {
    remove_empty();
    if (descriptor_ >= 0) (void)close(descriptor_);
    throw;
  }
}

CheckpointFolder::~CheckpointFolder() {
  remove_empty();
  if (descriptor_ >= 0) (void)close(descriptor_);
}

void CheckpointFolder::lock() {
  descriptor_ = open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor_ < 0) refuse(path_, fmt::format("it cannot be opened: {}", std::strerror(errno)));
  // Some file systems have no locks: there the user sees to it.
  if (flock(descriptor_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
  throw InputError(
      fmt::format("--checkpoint {}: another training writes to this folder; wait until it has "
                  "ended, or name another folder",
                  path_));
}

// With the lock, nobody else is writing there.
void CheckpointFolder::sweep() const {
  std::error_code error;
  std::vector<fs::path> left;
  for (const std::string& name : files::names_in(path_)) {
    for (const char* file : {kModel, kState}) {
      if (name.starts_with(std::string(file) + ".partial-")) left.push_back(fs::path(path_) / name);
    }
  }
  for (const fs::path& path : left) fs::remove(path, error);
}

void CheckpointFolder::remove_empty() const noexcept {
  for (const fs::path& folder : made_) (void)rmdir(folder.c_str());
}

}  // namespace warren::learn
