// SPDX-License-Identifier: Apache-2.0
#include "warren/sparse/strategy_text.hpp"

#include <charconv>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/core/nearest.hpp"
#include "warren/sparse/tuner.hpp"

namespace warren::sparse {
namespace {

struct NamedParameter {
  const char* name;
  Strategy strategy;
  std::uint32_t DistributedOptions::*field;
};
constexpr NamedParameter kNamedParameters[] = {
    {"chunks", Strategy::staged, &DistributedOptions::chunks},
    {"chunks", Strategy::once, &DistributedOptions::chunks},
    {"copy", Strategy::staged, &DistributedOptions::copy_processors},
    {"copy", Strategy::once, &DistributedOptions::copy_processors},
    {"copy", Strategy::fused, &DistributedOptions::copy_processors},
    {"copy", Strategy::cover, &DistributedOptions::copy_processors},
    {"ps", Strategy::pull, &DistributedOptions::piece_entries},
    {"dist", Strategy::pull, &DistributedOptions::interleave},
    {"wpb", Strategy::pull, &DistributedOptions::warps_per_block}};

constexpr auto kDistance = &DistributedOptions::interleave;
constexpr std::string_view kOff = "off";

/// The parameter of the strategy, or the word instead of some, that a mistyped one was meant to be.
std::string nearest_parameter(const std::string& name, Strategy strategy) {
  std::vector<std::string> names;
  for (const NamedParameter& known : kNamedParameters)
    if (known.strategy == strategy) names.emplace_back(known.name);
  if (strategy == Strategy::pull) names.emplace_back("mgg");
  if (has_parameters(strategy)) names.emplace_back("auto");
  return did_you_mean(name, names);
}

void set_parameter(const std::string& part, DistributedOptions& options) {
  if (options.strategy == Strategy::pull && part == "mgg") {
    options = mgg_options();
    return;
  }
  const std::size_t equals = part.find('=');
  for (const NamedParameter& known : kNamedParameters) {
    if (known.strategy != options.strategy || part.substr(0, equals) != known.name) continue;
    const char* const begin =
        equals == std::string::npos ? part.data() + part.size() : part.data() + equals + 1;
    const char* const end = part.data() + part.size();
    std::uint32_t value = 0;
    if (known.field == kDistance && std::string_view(begin, end) == kOff) {
      options.interleave = DistributedOptions::kNoInterleaving;
      return;
    }
    const auto [stop, error] = std::from_chars(begin, end, value);
    require(error == std::errc{} && stop == end && value >= 1,
            fmt::format("\"{}\" should be {}=N with a whole number N from 1 to 4294967295{}", part,
                        known.name, known.field == kDistance ? ", or dist=off" : ""));
    options.*known.field = value;
    return;
  }
  throw UsageError(fmt::format(
      "strategy {} has no parameter \"{}\"{}; pull has ps, dist and wpb (pull:mgg: the paper's), "
      "staged and once have chunks and copy, fused and cover have copy; pull:auto, staged:auto, "
      "fused:auto and cover:auto measure which are best",
      name_of(options.strategy), part.substr(0, equals),
      nearest_parameter(part.substr(0, equals), options.strategy)));
}

}  // namespace

std::string strategy_name(const std::string& text) { return text.substr(0, text.find(':')); }

DistributedOptions parse_product(const std::string& text) {
  DistributedOptions options;
  options.strategy = parse_strategy(strategy_name(text));
  std::set<std::string> given;
  for (std::size_t colon = text.find(':'); colon != std::string::npos;) {
    const std::size_t next = text.find(':', colon + 1);
    const std::string part = text.substr(colon + 1, next - colon - 1);
    const std::string name = part.substr(0, part.find('='));
    set_parameter(part, options);
    require(given.insert(name).second,
            fmt::format("strategy \"{}\" gives {} twice; give one value", text, name));
    colon = next;
  }
  return options;
}

std::string product_text(const DistributedOptions& options) {
  std::string text = name_of(options.strategy);
  for (const NamedParameter& known : kNamedParameters) {
    if (known.strategy != options.strategy) continue;
    const std::uint32_t value = options.*known.field;
    const bool is_off = known.field == kDistance && value == options.kNoInterleaving;
    if (is_off) {
      text += fmt::format(":{}={}", known.name, kOff);
    } else if (value != 0) {  // 0 is a choice by sizes, which has no text.
      text += fmt::format(":{}={}", known.name, value);
    }
  }
  return text;
}

bool is_tuned(const std::string& text) {
  return text == "auto" || tuned_strategy(text).has_value();
}

std::optional<Strategy> tuned_strategy(const std::string& text) {
  const std::string name = strategy_name(text);
  if (name == "auto" || text != name + ":auto") return std::nullopt;
  const Strategy strategy = parse_strategy(name);
  require(
      has_parameters(strategy),
      fmt::format("strategy {} has no parameters that the tuner chooses: leave :auto out", name));
  return strategy;
}

}  // namespace warren::sparse
