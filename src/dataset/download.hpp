// SPDX-License-Identifier: Apache-2.0
// One file from an address (https, http, ftp, file), by the program curl.
#pragma once

#include <string>

namespace warren::learn {

/// How it went: nothing in `trouble` where the file is there, else what curl says.
struct Download {
  std::string trouble;
  bool is_unreachable = false;  ///< There is no network, or no such host or file.
};

/// Writes what is at `address` into `path`. What stays after trouble is the caller's to remove.
/// Throws InputError where there is no curl, Error where the process is asked to end, which
/// ends curl, too.
[[nodiscard]] Download download(const std::string& address, const std::string& path);

}  // namespace warren::learn
