// SPDX-License-Identifier: Apache-2.0
#include "sparse/plan_table.hpp"

#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "warren/core/error.hpp"
#include "warren/core/log.hpp"

namespace warren::sparse {
namespace {

using Json = nlohmann::json;
constexpr int kFormat = 1;

/// The file's content, or an empty one. `problem` says what is wrong with a file that is there.
Json load(const std::string& path, const std::string& machine, std::string& problem) {
  Json empty = {{"format", kFormat}, {"machine", machine}, {"plans", Json::object()}};
  std::ifstream file(path);
  if (!file) return empty;
  Json content = Json::parse(file, nullptr, false);
  if (content.is_discarded()) {
    problem = "it is no JSON";
  } else if (!content.is_object() || content.value("format", Json()) != kFormat ||
             !content.contains("plans") || !content["plans"].is_object()) {
    problem = "it is not of this version of warren";
  } else if (content.value("machine", Json()) != machine) {
    problem = "it is of another machine";
  } else {
    return content;
  }
  return empty;
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
  if (path.empty()) return;
  try {
    const std::filesystem::path target(path);
    std::filesystem::create_directories(target.parent_path());
    std::string problem;
    Json content = load(path, machine, problem);
    content["plans"][key] = {{"strategy", name_of(options.strategy)},
                             {"workgroup", options.workgroup},
                             {"chunks", options.chunks},
                             {"piece_entries", options.piece_entries},
                             {"interleave", options.interleave},
                             {"warps_per_block", options.warps_per_block}};
    // Through a file of our own, so that no reader ever sees half of it.
    const std::filesystem::path draft = path + fmt::format(".{}", getpid());
    {
      std::ofstream file(draft, std::ios::trunc);
      file << content.dump(1) << '\n';
      file.flush();
      if (!file) throw InputError("it cannot be written");
    }
    std::filesystem::rename(draft, target);
  } catch (const std::exception& error) {
    try {
      log_info(fmt::format("the way to multiply is not kept in {}: {}", path, error.what()));
    } catch (...) {
      // There is nobody left to tell.
    }
  }
}

}  // namespace warren::sparse
