// SPDX-License-Identifier: Apache-2.0
#include "fanouts.hpp"

#include <charconv>

#include <fmt/format.h>

#include "warren/api/checks.hpp"
#include "warren/core/error.hpp"

namespace warren::app {

std::vector<std::int64_t> parse_fanouts(const std::string& text) {
  std::vector<std::int64_t> fanouts;
  const char* at = text.data();
  const char* const last = text.data() + text.size();
  for (;;) {
    std::int64_t fanout = 0;
    const auto [end, error] = std::from_chars(at, last, fanout);
    require(error == std::errc{} && (end == last || *end == ','),
            fmt::format("--fanout \"{}\" should be whole numbers with commas between, such as "
                        "15,10,5",
                        text));
    fanouts.push_back(fanout);
    if (end == last) break;
    at = end + 1;
  }
  api::check_fanouts(fanouts);
  return fanouts;
}

}  // namespace warren::app
