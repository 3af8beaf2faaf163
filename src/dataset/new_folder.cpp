// SPDX-License-Identifier: Apache-2.0
// Folders are called .NAME.partial-PROCESS-XXXXXX. One is left by a process that was killed if no
// process of this machine has that number, and nobody (of another machine either) holds its lock.
#include "dataset/new_folder.hpp"

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include "warren/core/error.hpp"

namespace warren::learn {
namespace {

namespace fs = std::filesystem;

int open_folder(const fs::path& path) {
  return open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

bool is_alive(const fs::path& path, const char* process) {
  pid_t number = 0;
  (void)std::from_chars(process, process + std::strlen(process), number);
  if (number <= 0 || kill(number, 0) == 0 || errno != ESRCH) return true;
  const int folder = open_folder(path);
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
  for (const fs::path& path : left) fs::remove_all(path, error);
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
  std::string path = (root / fmt::format("{}{}-XXXXXX", prefix, getpid())).string();
  if (mkdtemp(path.data()) == nullptr) refuse(std::strerror(errno));
  path_ = path;
  fs::permissions(path_,
                  fs::perms::group_read | fs::perms::group_exec | fs::perms::others_read |
                      fs::perms::others_exec,
                  fs::perm_options::add, error);
  lock_ = open_folder(path_);
  if (lock_ >= 0) (void)flock(lock_, LOCK_EX | LOCK_NB);
}

NewFolder::~NewFolder() {
  std::error_code error;
  fs::remove_all(path_, error);
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
    const std::string old = path_.string() + ".old";
    if (rename(place.c_str(), old.c_str()) != 0 && errno != ENOENT) refuse();
    const bool is_moved = rename(path_.c_str(), place.c_str()) == 0;
    const int failure = errno;
    std::error_code error;
    if (!is_moved) (void)rename(old.c_str(), place.c_str());
    fs::remove_all(old, error);
    if (is_moved) return;
    errno = failure;
    if (errno != ENOTEMPTY && errno != EEXIST) refuse();
  }
  refuse();
}

}  // namespace warren::learn
