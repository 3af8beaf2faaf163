// SPDX-License-Identifier: Apache-2.0
#include "sparse/plan_table.hpp"

#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "warren/core/error.hpp"
#include "warren/core/log.hpp"
#include "warren/team/cache_file.hpp"

namespace warren::sparse {
namespace {

using Json = nlohmann::json;

/// The file's content, or an empty one. `problem` says what is wrong with a file that is there.
Json load(const std::string& path, const std::string& machine, std::string& problem) {
  const auto content = team::read_cache_file(path, "plans", problem);
  if (content && content->value("machine", Json()) == machine) return *content;
  if (content) problem = "it is of another machine";
  return {{"format", team::kCacheFormat}, {"machine", machine}, {"plans", Json::object()}};
}

Json describe(const DistributedOptions& options) {
  return {{"strategy", name_of(options.strategy)},
          {"workgroup", options.workgroup},
          {"chunks", options.chunks},
          {"copy_processors", options.copy_processors},
          {"piece_entries", options.piece_entries},
          {"interleave", options.interleave},
          {"warps_per_block", options.warps_per_block}};
}

/// Throws where the entry is not what describe() makes.
DistributedOptions parse_options(const Json& entry) {
  DistributedOptions options;
  options.strategy = parse_strategy(entry.at("strategy").get<std::string>());
  const auto number = [&](const char* name, std::int64_t least,
                          std::int64_t most = std::numeric_limits<std::uint32_t>::max()) {
    const auto value = entry.at(name).get<std::int64_t>();
    require(value >= least && value <= most, "a number out of range");
    return static_cast<std::uint32_t>(value);
  };
  options.workgroup = static_cast<int>(number("workgroup", 0, kMaxRanks));
  options.chunks = number("chunks", 0);
  options.copy_processors = number("copy_processors", 1);
  options.piece_entries = number("piece_entries", 1);
  options.interleave = number("interleave", 1);
  options.warps_per_block = number("warps_per_block", 1);
  return options;
}

/// Throws where the entry is not what write_plan() writes.
KnownPlan parse(const Json& entry) {
  KnownPlan plan{parse_options(entry), {}};
  const auto seconds = [](const Json& value) {
    const auto number = value.get<double>();
    require(number >= 0.0, "a time out of range");
    return number;
  };
  for (const Json& candidate : entry.at("candidates")) {
    plan.candidates.push_back(
        {parse_options(candidate), candidate.at("rows_moved").get<std::uint64_t>(),
         seconds(candidate.at("predicted_seconds")), seconds(candidate.at("measured_seconds"))});
  }
  return plan;
}

void warn(const std::string& path, const std::string& problem) {
  log_warning(
      fmt::format("{} cannot be used ({}): ways to multiply are measured again", path, problem));
}

}  // namespace

std::string machine_of(const team::Team& team) {
  const int devices =
      team.device().is_cuda() ? exec::cuda_device_count() : exec::hardware_threads();
  return fmt::format("{} x {}", devices, team.device().model());
}

std::optional<KnownPlan> read_plan(const std::string& path, const std::string& machine,
                                   const std::string& key) {
  if (path.empty()) return std::nullopt;
  std::string problem;
  const Json content = load(path, machine, problem);
  if (!problem.empty()) {
    warn(path, problem);
    return std::nullopt;
  }
  const Json& plans = content["plans"];
  // Entries without candidates are of before these were kept.
  if (!plans.contains(key) || (plans[key].is_object() && !plans[key].contains("candidates")))
    return std::nullopt;
  try {
    return parse(plans[key]);
  } catch (const std::exception&) {
    warn(path, "an entry is damaged");
    return std::nullopt;
  }
}

void write_plan(const std::string& path, const std::string& machine, const std::string& key,
                const KnownPlan& plan) noexcept {
  team::replace_cache_file(path, "the way to multiply is", [&] {
    std::string problem;
    Json content = load(path, machine, problem);
    Json entry = describe(plan.best);
    entry["candidates"] = Json::array();
    for (const Candidate& candidate : plan.candidates) {
      Json one = describe(candidate.options);
      one["rows_moved"] = candidate.rows_moved;
      one["predicted_seconds"] = candidate.predicted_seconds;
      one["measured_seconds"] = candidate.measured_seconds;
      entry["candidates"].push_back(one);
    }
    content["plans"][key] = entry;
    return content;
  });
}

}  // namespace warren::sparse
