// SPDX-License-Identifier: Apache-2.0
#include "stored_options.hpp"

#include <algorithm>
#include <filesystem>
#include <string_view>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "warren/api/dataset_name.hpp"
#include "warren/core/error.hpp"
#include "warren/core/log.hpp"
#include "warren/graph/generate.hpp"

namespace warren::app {
namespace {

constexpr std::string_view kOfBatches[] = {"fanout", "batch", "negatives", "replace", "weighted"};
constexpr std::string_view kOfGenerators[] = {"features", "classes"};
constexpr std::string_view kOfFiles[] = {"weights", "labels"};
constexpr std::string_view kOfReading[] = {"one-based", "compact", "ids", "headings"};

template <std::size_t N>
bool is_of(const std::string_view (&names)[N], std::string_view name) {
  return std::find(names, names + N, name) != names + N;
}

std::string value_of(const CLI::App& command, const std::string& option) {
  const CLI::Option* found = command.get_option_no_throw(option);
  return found == nullptr || found->results().empty() ? "" : found->results().front();
}

/// Of one file, however its path is written; or of one generator.
bool is_same(const std::string& graph, const std::string& other) {
  if (graph == other) return true;
  std::error_code error;
  return std::filesystem::equivalent(graph, other, error) && !error;
}

/// How a file is read is a fact of the file: the same one is not read in another way. Nor is a set
/// drawn anew, unless that is asked for: then true.
bool refuse_contradiction(const CLI::App& command, const std::string& folder,
                          const std::string& name, const std::string& value, bool may_change) {
  const CLI::Option* option = command.get_option_no_throw("--" + name);
  if (option == nullptr || option->count() == 0) return false;
  const std::string& given = option->results().front();
  if (given == value || given == "auto" || value.empty()) return false;
  if (may_change && command.count("--allow-changes") != 0) return true;
  learn::refuse_change(folder, learn::Purpose::predict, name, value, given, may_change);
}

bool weighs_edges(const learn::Settings& stored) {
  const auto found = stored.find("edge-weights");
  return found != stored.end() && found->second == "true";
}
/// Whether the seed decides about weights that a model's edges count.
bool draws_weights(const learn::Settings& stored) {
  const auto found = stored.find("weights");
  return weighs_edges(stored) && found != stored.end() && found->second.starts_with("uniform");
}

void restore(CLI::App& command, const std::string& folder, const std::string& name,
             const std::string& value) {
  CLI::Option* option = command.get_option_no_throw("--" + name);
  if (option == nullptr || value.empty() || value == "false" || value == "auto") return;
  if (option->count() != 0 && option->results().front() != "auto") return;
  option->clear();
  try {
    option->add_result(value);
    option->run_callback();
  } catch (const CLI::ParseError& error) {
    throw InputError(fmt::format("{}: what its checkpoint keeps of the options is damaged: {}",
                                 folder, error.what()));
  }
  // The value stays, and the command line has not given it.
  option->clear();
}

}  // namespace

bool restore_options(CLI::App& command, const std::string& folder, const learn::Settings& stored) {
  const std::string graph = value_of(command, "graph");
  const bool is_generator = graph::parse_generator(graph, 1).has_value();
  const auto trained_on = stored.find("graph");
  const bool is_same_graph = trained_on != stored.end() && is_same(trained_on->second, graph);
  std::string mode = value_of(command, "--mode");
  if (const auto before = stored.find("mode"); mode.empty() && before != stored.end())
    mode = before->second;
  bool has_passed = false;
  for (const auto& [name, value] : stored) {
    if (is_of(kOfBatches, name) && mode != "sampled") continue;
    if (is_of(kOfGenerators, name) && !is_generator) continue;
    const bool is_of_reading = is_of(kOfReading, name);
    if ((is_of_reading || is_of(kOfFiles, name)) && !is_same_graph) continue;
    const bool draws_set =
        name == "seed" && is_same_graph && (is_generator || draws_weights(stored));
    if ((is_of_reading || draws_set) && command.get_name() == "predict")
      has_passed |= refuse_contradiction(command, folder, name, value, draws_set);
    // Of models whose edges count 1 they steer what batches draw, and nothing else.
    if (name == "weights" && command.get_name() == "predict" && !weighs_edges(stored)) continue;
    restore(command, folder, name, value);
  }
  return has_passed;
}

learn::Settings input_settings(const DatasetOptions& options, std::uint64_t seed) {
  learn::Settings settings =
      api::input_settings(options.graph.graph, library_options(options, seed));
  settings["normalize"] = options.normalize;
  settings["reorder"] = options.reorder;
  return settings;
}

void warn_of_old_checkpoint(const std::string& folder) {
  log_warning(fmt::format(
      "{}: this checkpoint does not keep how its inputs were made: give --normalize, --symmetrize "
      "and the like as they were given when it was trained",
      folder));
}

}  // namespace warren::app
