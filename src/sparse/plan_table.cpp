// SPDX-License-Identifier: Apache-2.0
#include "sparse/plan_table.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "warren/core/error.hpp"
#include "warren/core/log.hpp"

#include "team/cache_file.hpp"

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

/// Throws where the entry is not what write_plan() writes.
DistributedOptions parse(const Json& entry) {
  DistributedOptions options;
  options.strategy = parse_strategy(entry.at("strategy").get<std::string>());
  options.workgroup = entry.at("workgroup").get<int>();
  const auto positive = [&](const char* name) {
    const auto value = entry.at(name).get<std::int64_t>();
    require(value >= 1 && value <= 1 << 20, "a number out of range");
    return static_cast<std::uint32_t>(value);
  };
  options.chunks = positive("chunks");
  options.copy_processors = positive("copy_processors");
  options.piece_entries = positive("piece_entries");
  options.interleave = positive("interleave");
  options.warps_per_block = positive("warps_per_block");
  return options;
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

std::optional<DistributedOptions> read_plan(const std::string& path, const std::string& machine,
                                            const std::string& key) {
  if (path.empty()) return std::nullopt;
  std::string problem;
  const Json content = load(path, machine, problem);
  if (!problem.empty()) {
    warn(path, problem);
    return std::nullopt;
  }
  const Json& plans = content["plans"];
  if (!plans.contains(key)) return std::nullopt;
  try {
    return parse(plans[key]);
  } catch (const std::exception&) {
    warn(path, "an entry is damaged");
    return std::nullopt;
  }
}

void write_plan(const std::string& path, const std::string& machine, const std::string& key,
                const DistributedOptions& options) noexcept {
  team::replace_cache_file(path, "the way to multiply is", [&] {
    std::string problem;
    Json content = load(path, machine, problem);
    content["plans"][key] = {{"strategy", name_of(options.strategy)},
                             {"workgroup", options.workgroup},
                             {"chunks", options.chunks},
                             {"copy_processors", options.copy_processors},
                             {"piece_entries", options.piece_entries},
                             {"interleave", options.interleave},
                             {"warps_per_block", options.warps_per_block}};
    return content;
  });
}

}  // namespace warren::sparse
