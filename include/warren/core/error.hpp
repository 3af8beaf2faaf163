// SPDX-License-Identifier: Apache-2.0
// The exceptions that warren throws. Each class is one cause that a caller may want to treat apart;
// the command line maps them to its exit statuses. A message names the failed call, the device, the
// sizes, and what would be right.
#pragma once

#include <cstdint>
#include <source_location>
#include <stdexcept>
#include <string>

namespace warren {

/// Base of everything that warren throws on purpose.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The caller asked for something that cannot be done: an option out of range, a source that is no
/// vertex.
class UsageError : public Error {
 public:
  using Error::Error;
};

/// Input that cannot be used: the message names the file, the line or byte, and what would be
/// right.
class InputError : public Error {
 public:
  using Error::Error;
};

/// Memory that could not be had: carries what was asked for, of whom, and what was free.
class MemoryError : public Error {
 public:
  MemoryError(const std::string& where, std::uint64_t bytes_asked, std::uint64_t bytes_free,
              const std::string& cure = {});
  [[nodiscard]] std::uint64_t bytes_asked() const noexcept { return bytes_asked_; }
  [[nodiscard]] std::uint64_t bytes_free() const noexcept { return bytes_free_; }

 private:
  std::uint64_t bytes_asked_;
  std::uint64_t bytes_free_;
};

/// A device call failed, or a kernel did. After a sticky device error the team ends.
class DeviceError : public Error {
 public:
  using Error::Error;
};

/// Another rank of the team failed first; the message is that rank's.
class TeamError : public Error {
 public:
  using Error::Error;
};

/// Throws UsageError with `message` unless `condition` holds. For preconditions of the public
/// interface: always on.
inline void require(bool condition, const char* message) {
  if (!condition) throw UsageError(message);
}
inline void require(bool condition, const std::string& message) {
  if (!condition) throw UsageError(message);
}

/// Bytes as people read them: "1.50 GiB".
[[nodiscard]] std::string human_bytes(std::uint64_t bytes);

}  // namespace warren
