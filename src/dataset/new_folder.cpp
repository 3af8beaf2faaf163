// SPDX-License-Identifier: Apache-2.0
// Folders are called .NAME.partial-PROCESS-XXXXXX. One is left by a process that was killed if no
// process of this machine has that number, and nobody (of another machine either) holds its lock.
#include "dataset/new_folder.hpp"

#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "warren/core/error.hpp"

namespace warren::learn {
namespace {

namespace fs = std::filesystem;

int open_folder(const char* path) { return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC); }

/// By the system's own calls: what takes memory, as fs::remove_all() does, leaves everything where
/// there is none. Closes the folder.
void empty_folder(int folder) noexcept {
  alignas(dirent64) std::array<char, 4096> entries;
  for (;;) {
    // glibc has a function for it since 2.30 only.
    const long bytes = syscall(SYS_getdents64, folder, entries.data(), entries.size());
    if (bytes <= 0) break;
    for (long at = 0; at < bytes;) {
      const auto* entry = reinterpret_cast<const dirent64*>(entries.data() + at);
      at += entry->d_reclen;
      const std::string_view name = entry->d_name;
      if (name == "." || name == ".." || unlinkat(folder, entry->d_name, 0) == 0) continue;
      const int inner =
          openat(folder, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
      if (inner >= 0) empty_folder(inner);
      (void)unlinkat(folder, entry->d_name, AT_REMOVEDIR);
    }
  }
  (void)close(folder);
}

void remove_folder(const char* path) noexcept {
  const int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder >= 0) empty_folder(folder);
  // What was at the place may have been a link to a folder.
  if (rmdir(path) != 0 && errno == ENOTDIR) (void)unlink(path);
}

bool is_alive(const fs::path& path, const char* process) {
  pid_t number = 0;
  (void)std::from_chars(process, process + std::strlen(process), number);
  if (number <= 0 || kill(number, 0) == 0 || errno != ESRCH) return true;
  const int folder = open_folder(path.c_str());
  if (folder < 0) return true;
  const bool is_held = flock(folder, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  (void)close(folder);
  return is_held;
}

void remove_left(const fs::path& root, const std::string& prefix) {
  std::error_code error;
  std::vector<fs::path> left;
  for (const auto& entry : fs::directory_iterator(root, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(prefix) && !is_alive(entry.path(), name.c_str() + prefix.size()))
      left.push_back(entry.path());
  }
  for (const fs::path& path : left) remove_folder(path.c_str());
}

}  // namespace

NewFolder::NewFolder(const fs::path& root, const std::string& name) {
  const auto refuse = [&](const std::string& why) {
    throw InputError(fmt::format("{}: cannot be written ({}): set WARREN_DATA to a folder of yours",
                                 root.string(), why));
  };
  std::error_code error;
  fs::create_directories(root, error);
  if (error) refuse(error.message());
  const std::string prefix = fmt::format(".{}.partial-", name);
  remove_left(root, prefix);
  path_ = (root / fmt::format("{}{}-XXXXXX", prefix, getpid())).string();
  if (mkdtemp(path_.data()) == nullptr) refuse(std::strerror(errno));
  // From here on nothing throws: without an object nobody removes the folder.
  (void)chmod(path_.c_str(), 0755);
  lock_ = open_folder(path_.c_str());
  if (lock_ >= 0) (void)flock(lock_, LOCK_EX | LOCK_NB);
}

NewFolder::~NewFolder() {
  remove_folder(path_.c_str());
  if (lock_ >= 0) (void)close(lock_);
}

void NewFolder::move_to(const fs::path& place) {
  const auto refuse = [&] {
    throw InputError(
        fmt::format("{}: cannot be put in its place: {}", place.string(), std::strerror(errno)));
  };
  // Another process may put its own there in between.
  for (int attempt = 0; attempt < 3; ++attempt) {
    if (renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, place.c_str(), RENAME_NOREPLACE) == 0) return;
    const bool is_known = errno != EINVAL && errno != ENOSYS;
    if (is_known && errno != EEXIST) refuse();
    // What was there goes with this object.
    if (renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, place.c_str(), RENAME_EXCHANGE) == 0) return;
    if (errno == ENOENT) continue;
    if (errno != EINVAL && errno != ENOSYS) refuse();
    // A file system that knows neither: for a moment none is there.
    const std::string old = path_ + ".old";
    if (rename(place.c_str(), old.c_str()) != 0 && errno != ENOENT) refuse();
    const bool is_moved = rename(path_.c_str(), place.c_str()) == 0;
    const int failure = errno;
    if (!is_moved) (void)rename(old.c_str(), place.c_str());
    remove_folder(old.c_str());
    if (is_moved) return;
    errno = failure;
    if (errno != ENOTEMPTY && errno != EEXIST) refuse();
  }
  refuse();
}

}  // namespace warren::learn
