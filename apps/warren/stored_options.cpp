// SPDX-License-Identifier: Apache-2.0
#include "stored_options.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "warren/api/dataset_name.hpp"
#include "warren/api/restored.hpp"
#include "warren/core/error.hpp"

namespace warren::app {
namespace {

std::string value_of(const CLI::App& command, const std::string& option) {
  const CLI::Option* found = command.get_option_no_throw(option);
  return found == nullptr || found->results().empty() ? "" : found->results().front();
}

void restore(CLI::App& command, const std::string& folder, const std::string& name,
             const std::string& value) {
  CLI::Option* option = command.get_option_no_throw("--" + name);
  if (option == nullptr || value.empty() || value == "false" || value == "auto") return;
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
  api::RestoringCall call{
      .folder = folder,
      .graph = value_of(command, "graph"),
      .mode = value_of(command, "--mode"),
      .purpose = command.get_name() == "predict" ? learn::Purpose::predict : learn::Purpose::resume,
      .allows_changes = command.count("--allow-changes") != 0};
  for (const auto& [name, value] : stored) call.given[name] = value_of(command, "--" + name);
  const api::Restored restored = api::restored(stored, call);
  for (const auto& [name, value] : restored.settings) restore(command, folder, name, value);
  return restored.has_changes;
}

learn::Settings input_settings(const DatasetOptions& options, std::uint64_t seed) {
  learn::Settings settings =
      api::input_settings(options.graph.graph, library_options(options, seed));
  settings["normalize"] = options.normalize;
  settings["reorder"] = options.reorder;
  return settings;
}

}  // namespace warren::app
