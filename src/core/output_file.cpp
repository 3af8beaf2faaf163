// SPDX-License-Identifier: Apache-2.0
// Writing beside the place and renaming. Files that are not finished are in a list, for a process
// that has to end at once.
#include "warren/core/output_file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <type_traits>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "warren/core/error.hpp"
#include "warren/core/interrupt_point.hpp"
#include "warren/core/stop.hpp"

namespace warren {
namespace {

constexpr std::uint64_t kMostAtOnce = std::uint64_t{1} << 25;
constexpr mode_t kPermissions = 0777;

/// There from the start, without memory of its own, and never destroyed: a signal may come at any
/// time.
struct Unfinished {
  std::mutex mutex;
  OutputFile* first = nullptr;
  unsigned counter = 0;
};
constinit Unfinished unfinished;
static_assert(std::is_trivially_destructible_v<Unfinished>);

/// The descriptor that a name such as /dev/stdout stands for; -1: it is another name.
int named_descriptor(std::string_view path) {
  if (path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  for (const std::string_view prefix : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!path.starts_with(prefix)) continue;
    const std::string_view digits = path.substr(prefix.size());
    int number = -1;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (error == std::errc{} && end == digits.data() + digits.size()) return number;
  }
  return -1;
}

/// What can be done about it.
const char* cure_of(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return "; free some space or name another folder";
    case EACCES:
    case EPERM:
    case EROFS:
      return "; name a file in a folder that may be written to";
    case EFAULT:
      return "; a file that is being read was cut short meanwhile";
    default:
      return "";
  }
}

/// The name is in the folder: that too has to reach the disk. Some file systems cannot be asked.
void bring_folder_to_disk(const std::string& path) {
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  const int folder =
      open(parent.empty() ? "." : parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  (void)fsync(folder);
  (void)close(folder);
}

}  // namespace

bool OutputFile::is_special(const std::string& path) {
  struct stat status {};
  return named_descriptor(path) >= 0 ||
         (stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode));
}

OutputFile::OutputFile(std::string path, Special special) : path_(std::move(path)) {
  check_stop();
  const bool in_place = is_special(path_);
  struct stat status {};
  if (stat(path_.c_str(), &status) == 0 && S_ISDIR(status.st_mode))
    throw InputError(path_ + ": cannot write: it is a folder; name a file in it");
  if (in_place && special == Special::refused)
    throw InputError(path_ + ": cannot write: it is no regular file; name one to write");
  if (!in_place) {
    make_temporary();
    return;
  }
  const int given = named_descriptor(path_);
  descriptor_ = given >= 0 ? fcntl(given, F_DUPFD_CLOEXEC, 0)
                           : open(path_.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
  if (descriptor_ < 0) refuse("write");
}

void OutputFile::make_temporary() {
  constexpr int kMostNames = 1000;
  Unfinished& list = unfinished;
  const std::scoped_lock lock(list.mutex);
  // A name may be taken: by a file of a killed process that had this one's number, or by a planted
  // link.
  for (int i = 0; i < kMostNames; ++i) {
    temporary_ = fmt::format("{}.partial-{}-{}", path_, getpid(), list.counter++);
    descriptor_ =
        open(temporary_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (descriptor_ >= 0 || errno != EEXIST) break;
  }
  if (descriptor_ < 0) refuse("create it");
  next_ = std::exchange(list.first, this);
  struct stat replaced {};
  if (lstat(path_.c_str(), &replaced) == 0 && S_ISREG(replaced.st_mode))
    (void)fchmod(descriptor_, replaced.st_mode & kPermissions);
}

void OutputFile::leave_list() noexcept {
  OutputFile** at = &unfinished.first;
  while (*at != nullptr && *at != this) at = &(*at)->next_;
  if (*at != nullptr) *at = next_;
}

OutputFile::~OutputFile() {
  if (descriptor_ < 0) return;
  (void)close(descriptor_);
  if (temporary_.empty()) return;
  const std::scoped_lock lock(unfinished.mutex);
  (void)unlink(temporary_.c_str());
  leave_list();
}

void OutputFile::remove_unfinished() noexcept {
  Unfinished& list = unfinished;
  list.mutex.lock();  // For good.
  for (const OutputFile* file = list.first; file != nullptr; file = file->next_)
    (void)unlink(file->temporary_.c_str());
}

void OutputFile::refuse(const char* what) const {
  const int error = errno;
  throw InputError(
      fmt::format("{}: cannot {}: {}{}", path_, what, std::strerror(error), cure_of(error)));
}

void OutputFile::write(const void* data, std::uint64_t bytes) {
  const char* p = static_cast<const char*>(data);
  while (bytes != 0) {
    check_stop();
    interrupt_point();
    const ssize_t written = ::write(descriptor_, p, std::min(bytes, kMostAtOnce));
    if (written < 0) {
      if (errno == EINTR) continue;
      refuse("write");
    }
    p += written;
    bytes -= static_cast<std::uint64_t>(written);
    bytes_ += static_cast<std::uint64_t>(written);
  }
}

void OutputFile::fill_up_to(std::uint64_t offset) {
  static constexpr std::array<char, 4096> kZeros{};
  while (bytes_ < offset) {
    write(kZeros.data(), std::min<std::uint64_t>(kZeros.size(), offset - bytes_));
  }
}

void OutputFile::replace(std::uint64_t offset, const void* data, std::uint64_t bytes) {
  const char* p = static_cast<const char*>(data);
  while (bytes != 0) {
    const ssize_t written = pwrite(descriptor_, p, bytes, static_cast<off_t>(offset));
    if (written < 0) {
      if (errno == EINTR) continue;
      refuse("write");
    }
    p += written;
    offset += static_cast<std::uint64_t>(written);
    bytes -= static_cast<std::uint64_t>(written);
  }
}

void OutputFile::reserve(std::uint64_t bytes) {
  if (bytes == 0) return;
  int status = EINTR;
  while (status == EINTR) status = posix_fallocate(descriptor_, 0, static_cast<off_t>(bytes));
  errno = status;
  if (status != 0) refuse("write");
}

void OutputFile::bring_to_disk() {
  if (temporary_.empty()) return;
  // Parts first, as nothing ends fsync(): it then finds little left. Some file systems know none.
  const auto each_part = [&](unsigned what) {
    in_pieces(0, bytes_, kMostAtOnce, [&](std::uint64_t begin, std::uint64_t end) {
      const int status = sync_file_range(descriptor_, static_cast<off64_t>(begin),
                                         static_cast<off64_t>(end - begin), what);
      if (status != 0 && (errno == EIO || errno == ENOSPC)) refuse("bring it to the disk");
    });
  };
  each_part(SYNC_FILE_RANGE_WRITE);
  each_part(SYNC_FILE_RANGE_WAIT_BEFORE);
  if (fsync(descriptor_) != 0) refuse("bring it to the disk");
}

// Called with the list's lock.
void OutputFile::take_place() {
  if (!temporary_.empty()) {
    if (rename(temporary_.c_str(), path_.c_str()) != 0) refuse("rename it to its place");
    leave_list();
  }
  (void)close(std::exchange(descriptor_, -1));
}

std::uint64_t OutputFile::commit() {
  OutputFile* const alone = this;
  commit({&alone, 1});
  return bytes_;
}

void OutputFile::commit(std::span<OutputFile* const> files) {
  check_stop();
  for (OutputFile* file : files) file->bring_to_disk();
  {
    const std::scoped_lock lock(unfinished.mutex);
    for (OutputFile* file : files) file->take_place();
  }
  for (const OutputFile* file : files) {
    if (!file->temporary_.empty()) bring_folder_to_disk(file->path_);
  }
}

}  // namespace warren
