// SPDX-License-Identifier: Apache-2.0
#include "fanouts.hpp"

#include <charconv>

#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/sample/sampler.hpp"

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
    require(fanout == -1 || fanout >= 1,
            fmt::format("--fanout {}: a hop takes 1 neighbour or more, or -1 for all", fanout));
    fanouts.push_back(fanout);
    if (end == last) break;
    at = end + 1;
  }
  require(fanouts.size() <= sample::kMaxHops,
          fmt::format("--fanout: {} hops are more than {}", fanouts.size(), sample::kMaxHops));
  return fanouts;
}

}  // namespace warren::app
