// SPDX-License-Identifier: Apache-2.0
#include "warren/files/positioned_file.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "warren/core/error.hpp"
#include "warren/core/printable.hpp"

namespace warren::files {
namespace {

/// Reads until `bytes` are there or the file, of `size` bytes, ends; how many there are. -1: errno
/// says why. A file system may give less than was asked for at any place: what follows is read on
/// from there, by direct reads from the unit that was begun.
ssize_t read_all(int file, char* buffer, std::uint64_t bytes, std::uint64_t offset,
                 std::uint64_t size, bool is_direct) {
  std::uint64_t there = 0;
  while (there < bytes) {
    const ssize_t got =
        pread(file, buffer + there, bytes - there, static_cast<off_t>(offset + there));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return -1;
    const std::uint64_t before = there;
    there += static_cast<std::uint64_t>(got);
    if (got == 0 || offset + there >= size) break;
    if (!is_direct || there % PositionedFile::kAlignment == 0) continue;
    const std::uint64_t whole = there / PositionedFile::kAlignment * PositionedFile::kAlignment;
    if (whole <= before) break;
    there = whole;
  }
  return static_cast<ssize_t>(there);
}

}  // namespace

PositionedFile::PositionedFile(std::string path) : path_(std::move(path)) {
  const auto refuse = [&](const char* call) {
    const int error = errno;
    if (file_ >= 0) close(file_);
    throw InputError(fmt::format("{}: cannot {}: {}", path_, call, std::strerror(error)));
  };
  file_ = open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file_ < 0) refuse("open");
  if (fstat(file_, &status_) != 0) refuse("look at it");
  if (!S_ISREG(status_.st_mode)) {
    close(file_);
    throw InputError(path_ + ": is not a regular file, which alone is read at places");
  }
  size_ = static_cast<std::uint64_t>(status_.st_size);
  open_direct();
  if (!is_direct_) (void)posix_fadvise(file_, 0, 0, POSIX_FADV_RANDOM);
}

PositionedFile::~PositionedFile() { close(file_); }

// Some file systems open a file so and refuse to read it.
void PositionedFile::open_direct() {
#if defined(O_DIRECT)
  const int direct = open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_DIRECT);
  if (direct < 0) return;
  struct stat status {};
  const std::unique_ptr<void, decltype(&std::free)> unit(std::aligned_alloc(kAlignment, kAlignment),
                                                         &std::free);
  const bool is_same = fstat(direct, &status) == 0 && status.st_ino == status_.st_ino &&
                       status.st_dev == status_.st_dev;
  if (unit == nullptr || !is_same || pread(direct, unit.get(), kAlignment, 0) < 0) {
    close(direct);
    return;
  }
  close(file_);
  file_ = direct;
  is_direct_ = true;
#endif
}

const char* PositionedFile::read(std::uint64_t offset, std::uint64_t bytes, char* buffer) const {
  if (bytes == 0) return buffer;
  const std::uint64_t begin = offset / kAlignment * kAlignment;
  const std::uint64_t length = disk_bytes(offset, bytes);
  const ssize_t got = read_all(file_, buffer, length, begin, size_, is_direct_);
  if (got < 0) fail(offset, fmt::format("cannot read: {}", std::strerror(errno)));
  check_unchanged();
  const auto there = static_cast<std::uint64_t>(got);
  if (there < offset - begin + bytes) {
    fail(begin + there, fmt::format("the file ends here, {} bytes too early; was it cut off?",
                                    offset - begin + bytes - there));
  }
  if (!is_direct_)
    (void)posix_fadvise(file_, static_cast<off_t>(begin), static_cast<off_t>(length),
                        POSIX_FADV_DONTNEED);
  return buffer + (offset - begin);
}

void PositionedFile::check_unchanged() const {
  struct stat now {};
  if (fstat(file_, &now) != 0)
    throw InputError(fmt::format("{}: cannot look at it: {}", path_, std::strerror(errno)));
  if (now.st_size != status_.st_size) {
    throw InputError(fmt::format(
        "{}: the file had {} bytes and has {} now: it was changed while it was read; leave it as "
        "it is, and run again",
        path_, status_.st_size, now.st_size));
  }
  if (now.st_mtim.tv_sec != status_.st_mtim.tv_sec ||
      now.st_mtim.tv_nsec != status_.st_mtim.tv_nsec) {
    throw InputError(path_ +
                     ": the file was written to while it was read; leave it as it is, and run "
                     "again");
  }
}

void PositionedFile::fail(std::uint64_t offset, const std::string& message) const {
  throw InputError(fmt::format("{}: byte {}: {}", path_, offset, printable(message)));
}

}  // namespace warren::files
