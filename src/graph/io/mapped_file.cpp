// SPDX-License-Identifier: Apache-2.0
// Mapping a file with a tail of zeros: an anonymous mapping one page longer is made first, and the
// file laid over its front. What the last page of the file does not fill is zero by the system's
// rule.
#include "graph/io/mapped_file.hpp"

#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "warren/core/error.hpp"

namespace warren::graph::io {
namespace {

constexpr std::uint64_t kPage = 4096;

struct Descriptor {
  int value = -1;
  ~Descriptor() {
    if (value >= 0) close(value);
  }
};

}  // namespace

MappedFile::MappedFile(std::string path) : path_(std::move(path)) {
  const auto refuse = [&](const char* call) {
    throw InputError(fmt::format("{}: cannot {}: {}", path_, call, std::strerror(errno)));
  };
  // Without O_NONBLOCK, opening a pipe that nobody writes would wait for ever.
  const Descriptor file{open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (file.value < 0) refuse("open");
  struct stat status {};
  if (fstat(file.value, &status) != 0) refuse("look at it");
  if (S_ISDIR(status.st_mode))
    throw InputError(path_ + ": is a directory; name a graph file in it");
  if (!S_ISREG(status.st_mode)) {
    throw InputError(path_ + ": is not a regular file; write what it delivers to a file first");
  }
  size_ = static_cast<std::uint64_t>(status.st_size);
  mapped_ = (size_ + kPage - 1) / kPage * kPage + kPage;
  void* base =
      mmap(nullptr, mapped_, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) refuse("map");
  data_ = static_cast<char*>(base);
  if (size_ == 0) return;
  if (mmap(base, size_, PROT_READ, MAP_SHARED | MAP_FIXED, file.value, 0) == MAP_FAILED) {
    const int reason = errno;
    (void)munmap(base, mapped_);
    errno = reason;
    refuse("map");
  }
}

MappedFile::~MappedFile() { (void)munmap(data_, mapped_); }

void MappedFile::will_read(std::uint64_t offset, std::uint64_t length) const noexcept {
  const std::uint64_t begin = offset / kPage * kPage;
  if (begin < size_) (void)madvise(data_ + begin, length + (offset - begin), MADV_WILLNEED);
}

void MappedFile::fail(std::uint64_t offset, const std::string& message) const {
  throw InputError(fmt::format("{}: byte {}: {}", path_, offset, message));
}

}  // namespace warren::graph::io
