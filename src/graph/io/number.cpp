// SPDX-License-Identifier: Apache-2.0
// Text of files in messages: whatever it is, a message stays one short line.
#include "graph/io/number.hpp"

#include <fmt/format.h>

namespace warren::graph::io {

std::string quoted(std::string_view bytes) {
  constexpr std::size_t kLongest = 24;
  std::string text = "'";
  for (const char c : bytes.substr(0, kLongest)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f) {
      text += c;
    } else {
      text += fmt::format("\\x{:02x}", byte);
    }
  }
  return text + (bytes.size() > kLongest ? "...'" : "'");
}

std::string quoted_token(const char* p) {
  return quoted({p, static_cast<std::size_t>(skip_token(p) - p)});
}

}  // namespace warren::graph::io
