// SPDX-License-Identifier: Apache-2.0
// Mapping a file with a tail of zeros: an anonymous mapping one page longer is made first, and the
// file laid over its front. What the last page of the file does not fill is zero by the system's
// rule.
#include "warren/files/mapped_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "warren/core/error.hpp"
#include "warren/core/page.hpp"
#include "warren/core/printable.hpp"
#include "warren/exec/device.hpp"

namespace warren::files {
namespace {

constexpr std::uint64_t kTail = 4096;  ///< Zeros behind the end, at least.

struct Descriptor {
  int value = -1;
  ~Descriptor() {
    if (value >= 0) close(value);
  }
};

// Without O_NONBLOCK, opening a pipe that nobody writes would wait for ever: right where pipes are
// read, wrong where they are refused.
int open_file(const std::string& path, MappedFile::Pipes pipes) {
  if (pipes == MappedFile::Pipes::refused)
    return open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  // As it was handed over: a socket has no name to be opened by.
  if (path == "/dev/stdin") return fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
  return open(path.c_str(), O_RDONLY | O_CLOEXEC);
}

}  // namespace

MappedFile::Mapping::~Mapping() {
  if (data != nullptr) (void)munmap(data, bytes);
}

MappedFile::MappedFile(std::string path, Pipes pipes) : path_(std::move(path)) {
  const Descriptor file{open_file(path_, pipes)};
  if (file.value < 0) refuse("open");
  struct stat status {};
  if (fstat(file.value, &status) != 0) refuse("look at it");
  if (S_ISDIR(status.st_mode))
    throw InputError(path_ + ": is a directory; name a graph file in it");
  if (S_ISREG(status.st_mode) && lseek(file.value, 0, SEEK_CUR) == 0) {
    size_ = static_cast<std::uint64_t>(status.st_size);
    map(file.value);
  } else if (pipes == Pipes::read) {
    take(file.value);
  } else {
    throw InputError(path_ +
                     ": is not a regular file; write what it delivers to a file first (a GRAPH is "
                     "read from pipes where --format says what comes)");
  }
}

void MappedFile::map(int file) {
  mapping_.bytes = in_pages(size_) + in_pages(kTail);
  void* base =
      mmap(nullptr, mapping_.bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) refuse("map");
  mapping_.data = static_cast<char*>(base);
  if (size_ != 0 && mmap(base, size_, PROT_READ, MAP_SHARED | MAP_FIXED, file, 0) == MAP_FAILED)
    refuse("map");
  range_.emplace(base, mapping_.bytes, path_.c_str());
}

// Reads to the end, into memory that grows by doubling. The tail of zeros is left behind the end.
void MappedFile::take(int file) {
  for (;;) {
    if (size_ + kTail >= mapping_.bytes) grow();
    const ssize_t got = read(file, mapping_.data + size_, mapping_.bytes - kTail - size_);
    if (got == 0) return;
    if (got < 0 && errno != EINTR) refuse("read");
    if (got > 0) size_ += static_cast<std::uint64_t>(got);
  }
}

void MappedFile::grow() {
  constexpr std::uint64_t kFirst = std::uint64_t{1} << 20;
  const std::uint64_t bytes = std::max(kFirst, 2 * mapping_.bytes);
  const std::uint64_t free = exec::Device::cpu(1).memory().free;
  if (free != 0 && bytes - mapping_.bytes > free) {
    throw MemoryError("the host", bytes, free,
                      "write what " + path_ + " delivers to a file, which is read where it lies");
  }
  void* base = mapping_.data == nullptr
                   ? mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
                   : mremap(mapping_.data, mapping_.bytes, bytes, MREMAP_MAYMOVE);
  if (base == MAP_FAILED) throw MemoryError("the host (address space)", bytes, free);
  mapping_.data = static_cast<char*>(base);
  mapping_.bytes = bytes;
}

void MappedFile::refuse(const char* call) const {
  if (errno == ENOMEM)
    throw MemoryError(fmt::format("the host (address space to {} {})", call, path_), mapping_.bytes,
                      exec::Device::cpu(1).memory().free);
  throw InputError(fmt::format("{}: cannot {}: {}", path_, call, std::strerror(errno)));
}

void MappedFile::will_read(std::uint64_t offset, std::uint64_t length) const noexcept {
  const std::uint64_t begin = offset / bytes_of_page() * bytes_of_page();
  if (begin < size_) (void)madvise(mapping_.data + begin, length + (offset - begin), MADV_WILLNEED);
}

void MappedFile::drop(std::uint64_t offset, std::uint64_t length) const noexcept {
  if (!range_) return;  // What a pipe delivered would be gone.
  const std::uint64_t page = bytes_of_page();
  const std::uint64_t begin = (offset + page - 1) / page * page;
  const std::uint64_t end = std::min(offset + length, size_) / page * page;
  if (begin < end) (void)madvise(mapping_.data + begin, end - begin, MADV_DONTNEED);
}

void MappedFile::fail(std::uint64_t offset, const std::string& message) const {
  throw InputError(fmt::format("{}: byte {}: {}", path_, offset, printable(message)));
}

}  // namespace warren::files
