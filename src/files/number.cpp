// SPDX-License-Identifier: Apache-2.0
// Text of files in messages: whatever it is, a message stays one short line.
#include "warren/files/number.hpp"

#include "warren/core/printable.hpp"

namespace warren::files {

std::string quoted(std::string_view bytes) {
  constexpr std::size_t kLongest = 24;
  return "'" + printable(bytes.substr(0, kLongest)) + (bytes.size() > kLongest ? "...'" : "'");
}

std::string quoted_token(const char* p) {
  return quoted({p, static_cast<std::size_t>(skip_token(p) - p)});
}

}  // namespace warren::files
