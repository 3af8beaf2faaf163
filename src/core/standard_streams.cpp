// SPDX-License-Identifier: Apache-2.0
// Straight to the descriptors: nothing is kept in a buffer whose last bytes fail unseen.
#include "warren/core/standard_streams.hpp"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

namespace warren {
namespace {

/// Waits for a descriptor that does not block.
bool can_write(int descriptor) noexcept {
  pollfd file{descriptor, POLLOUT, 0};
  return poll(&file, 1, -1) >= 0 || errno == EINTR;
}

/// Whether all was written.
bool write_all(int descriptor, std::string_view text) noexcept {
  while (!text.empty()) {
    const ssize_t written = write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EAGAIN && can_write(descriptor)) continue;
    if (written < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

void open_standard_streams() noexcept {
  for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; ++descriptor) {
    if (fcntl(descriptor, F_GETFD) >= 0 || errno != EBADF) continue;
    // The lowest free descriptor is this one. Against its direction: reading or writing it fails.
    (void)open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

void write_standard_error(std::string_view text) noexcept { (void)write_all(STDERR_FILENO, text); }

void write_standard_output(std::string_view text) {
  if (write_all(STDOUT_FILENO, text)) return;
  if (errno == EPIPE) throw ClosedPipeError("standard output is a pipe that nobody reads any more");
  throw InputError(
      fmt::format("standard output cannot be written: {}; send it to a file on which there is "
                  "space",
                  std::strerror(errno)));
}

}  // namespace warren
