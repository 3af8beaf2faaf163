// SPDX-License-Identifier: Apache-2.0
// One run of one command: its common options checked, its threads, and where its results go.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "warren/exec/device.hpp"
#include "warren/team/team.hpp"
#include "warren/traverse/choose_devices.hpp"

#include "files.hpp"
#include "options.hpp"
#include "progress.hpp"

namespace warren::app {

using Json = nlohmann::ordered_json;

class Session {
 public:
  /// Checks what can be checked before any work. Throws UsageError, InputError.
  Session(const std::string& command, const CommonOptions& options);

  [[nodiscard]] const CommonOptions& options() const { return options_; }
  [[nodiscard]] std::string command() const { return json_["command"]; }
  /// Of a command whose work has no ranks: warns of the options that choose some.
  void runs_on_host_threads() const;
  /// How many ranks run, where --devices leaves it open: before the graph is cut.
  void settle_devices(const traverse::TraversalWork& work);
  /// Warns of --seed, unless something is drawn by it.
  void warn_of_seed(bool is_used) const;
  [[nodiscard]] bool on_gpu() const { return team_.kind == exec::DeviceKind::cuda; }
  [[nodiscard]] const team::TeamOptions& team() const { return team_; }
  /// The host's threads, for all that is not the team's work. Of one caller at a time.
  [[nodiscard]] exec::ThreadPool& pool() const { return host_.pool(); }
  [[nodiscard]] const exec::Device& host() const { return host_; }
  /// "cpu, 2 ranks, 4 threads".
  [[nodiscard]] std::string place() const;

  /// Each file that the run reads or writes is told, before the work begins; see RunFiles.
  void reads(const std::string& path) const { files_.reads(path); }
  void writes(const std::string& option, const std::string& path) const {
    files_.writes(option, path);
  }

  /// The result's fields, in the order in which they are set.
  [[nodiscard]] Json& json() { return json_; }
  /// True if text for people is wanted on standard output.
  [[nodiscard]] bool prints() const { return options_.json != "-" && !options_.quiet; }
  template <class... Arguments>
  void print(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    if (prints()) text_ += fmt::format(format, std::forward<Arguments>(arguments)...);
  }
  [[nodiscard]] std::unique_ptr<Progress> progress(const std::string& what) const {
    return std::make_unique<Progress>(!options_.quiet, what);
  }

  /// Writes the text, the JSON object and the trace. Called once, at the end.
  void finish();

 private:
  CommonOptions options_;
  mutable RunFiles files_;  ///< Which the run's parts tell.
  team::TeamOptions team_;
  exec::Device host_;
  Json json_ = Json::object();
  std::string text_;
};

}  // namespace warren::app
