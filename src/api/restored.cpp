// SPDX-License-Identifier: Apache-2.0
#include "warren/api/restored.hpp"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "warren/graph/generate.hpp"

namespace warren::api {
namespace {

constexpr std::string_view kOfBatches[] = {"fanout", "batch", "negatives", "replace", "weighted"};
constexpr std::string_view kOfGenerators[] = {"features", "classes"};
constexpr std::string_view kOfFiles[] = {"weights", "labels"};
constexpr std::string_view kOfReading[] = {"one-based", "compact", "ids", "headings"};

template <std::size_t N>
bool is_of(const std::string_view (&names)[N], std::string_view name) {
  return std::find(names, names + N, name) != names + N;
}

std::string value_of(const learn::Settings& settings, const std::string& name) {
  const auto found = settings.find(name);
  return found == settings.end() ? "" : found->second;
}

/// Of one file, however its path is written; or of one generator.
bool is_same(const std::string& graph, const std::string& other) {
  if (graph == other) return true;
  std::error_code error;
  return std::filesystem::equivalent(graph, other, error) && !error;
}

/// How a file is read is a fact of the file: the same one is not read in another way. Nor is a set
/// drawn anew, unless that is asked for: then true.
bool refuse_contradiction(const RestoringCall& call, const std::string& name,
                          const std::string& value, bool may_change) {
  const std::string given = value_of(call.given, name);
  if (given.empty() || given == value || given == "auto" || value.empty()) return false;
  if (may_change && call.allows_changes) return true;
  learn::refuse_change(call.folder, learn::Purpose::predict, name, value, given, may_change);
}

}  // namespace

Restored restored(const learn::Settings& stored, const RestoringCall& call) {
  const bool predicts = call.purpose == learn::Purpose::predict;
  const bool is_generator = graph::parse_generator(call.graph, 1).has_value();
  const bool is_same_graph = stored.contains("graph") && is_same(stored.at("graph"), call.graph);
  const std::string mode = call.mode.empty() ? value_of(stored, "mode") : call.mode;
  // Of models whose edges count 1 weights steer what batches draw, and nothing else.
  const bool weighs_edges = value_of(stored, "edge-weights") == "true";
  const bool draws_weights = weighs_edges && value_of(stored, "weights").starts_with("uniform");
  Restored restored;
  for (const auto& [name, value] : stored) {
    if (is_of(kOfBatches, name) && mode != "sampled") continue;
    if (is_of(kOfGenerators, name) && !is_generator) continue;
    const bool is_of_reading = is_of(kOfReading, name);
    if ((is_of_reading || is_of(kOfFiles, name)) && !is_same_graph) continue;
    const bool draws_set = name == "seed" && is_same_graph && (is_generator || draws_weights);
    if ((is_of_reading || draws_set) && predicts)
      restored.has_changes |= refuse_contradiction(call, name, value, draws_set);
    if (name == "weights" && predicts && !weighs_edges) continue;
    const std::string given = value_of(call.given, name);
    if (given.empty() || given == "auto") restored.settings[name] = value;
  }
  return restored;
}

std::string old_checkpoint_warning(const std::string& folder) {
  return fmt::format(
      "{}: this checkpoint does not keep how its inputs were made: give --normalize, --symmetrize "
      "and the like as they were given when it was trained",
      folder);
}

}  // namespace warren::api
