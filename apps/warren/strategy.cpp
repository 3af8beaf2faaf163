// SPDX-License-Identifier: Apache-2.0
#include "strategy.hpp"

#include <charconv>

#include <fmt/format.h>

#include "warren/core/error.hpp"

namespace warren::app {
namespace {

struct Parameter {
  const char* name;
  sparse::Strategy strategy;
  std::uint32_t sparse::DistributedOptions::*field;
};
constexpr Parameter kParameters[] = {
    {"chunks", sparse::Strategy::staged, &sparse::DistributedOptions::chunks},
    {"copy", sparse::Strategy::staged, &sparse::DistributedOptions::copy_processors},
    {"copy", sparse::Strategy::once, &sparse::DistributedOptions::copy_processors},
    {"copy", sparse::Strategy::fused, &sparse::DistributedOptions::copy_processors},
    {"copy", sparse::Strategy::cover, &sparse::DistributedOptions::copy_processors},
    {"ps", sparse::Strategy::pull, &sparse::DistributedOptions::piece_entries},
    {"dist", sparse::Strategy::pull, &sparse::DistributedOptions::interleave},
    {"wpb", sparse::Strategy::pull, &sparse::DistributedOptions::warps_per_block}};

void set_parameter(const std::string& part, sparse::DistributedOptions& options) {
  const std::size_t equals = part.find('=');
  for (const Parameter& known : kParameters) {
    if (known.strategy != options.strategy || part.substr(0, equals) != known.name) continue;
    const char* const begin =
        equals == std::string::npos ? part.data() + part.size() : part.data() + equals + 1;
    const char* const end = part.data() + part.size();
    std::uint32_t value = 0;
    const auto [stop, error] = std::from_chars(begin, end, value);
    require(error == std::errc{} && stop == end && value >= 1,
            fmt::format("\"{}\" should be {}=N with a whole number N from 1 to 4294967295", part,
                        known.name));
    options.*known.field = value;
    return;
  }
  throw UsageError(fmt::format(
      "strategy {} has no parameter \"{}\"; pull has ps, dist and wpb, staged has chunks and copy, "
      "once, fused and cover have copy",
      sparse::name_of(options.strategy), part.substr(0, equals)));
}

}  // namespace

std::string strategy_name(const std::string& text) { return text.substr(0, text.find(':')); }

sparse::DistributedOptions parse_product(const std::string& text) {
  sparse::DistributedOptions options;
  options.strategy = sparse::parse_strategy(strategy_name(text));
  for (std::size_t colon = text.find(':'); colon != std::string::npos;) {
    const std::size_t next = text.find(':', colon + 1);
    set_parameter(text.substr(colon + 1, next - colon - 1), options);
    colon = next;
  }
  return options;
}

}  // namespace warren::app
