// SPDX-License-Identifier: Apache-2.0
// One run of one command: its common options checked, its threads, and where its results go.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "warren/api/program.hpp"
#include "warren/api/run.hpp"
#include "warren/core/run_files.hpp"
#include "warren/exec/device.hpp"
#include "warren/traverse/choose_devices.hpp"

#include "options.hpp"
#include "progress.hpp"

namespace warren::app {

using Json = nlohmann::ordered_json;

/// The ranks that a command has: the processes that a launcher started, or what --devices says.
[[nodiscard]] int ranks_of(const CommonOptions& options);

class Session {
 public:
  /// Checks what can be checked before any work. Throws UsageError, InputError.
  Session(const std::string& command, const CommonOptions& options);

  [[nodiscard]] const CommonOptions& options() const { return options_; }
  [[nodiscard]] std::string command() const { return json_["command"]; }
  /// Of a command whose work has no ranks: warns of the options that choose some.
  void runs_on_host_threads() const;
  /// How many ranks run, where --devices leaves it open: before the graph is cut.
  [[nodiscard]] bool chooses_devices() const { return options_.devices == 0 && on_gpu(); }
  void settle_devices(const traverse::DeviceChoice& choice);
  /// Warns of --seed, unless something is drawn by it.
  void warn_of_seed(bool is_used) const;
  [[nodiscard]] bool on_gpu() const { return ran_.device == DeviceKind::cuda; }
  [[nodiscard]] int ranks() const { return ran_.devices; }
  /// Where the library's calls run.
  [[nodiscard]] const warren::Session& library() const { return library_; }
  /// What they run on.
  [[nodiscard]] const RunInfo& ran() const { return ran_; }

  /// Options of a measurement: by --seed, --repeat times, on the session.
  template <class Options>
  [[nodiscard]] Options timed(Options options) const {
    options.seed = options_.seed;
    options.repeat = options_.repeat;
    if constexpr (requires { options.session; }) options.session = library_;
    return options;
  }

  /// Each file that the run reads or writes is told, before the work begins; see RunFiles.
  /// Of several processes the first one writes.
  void reads(const std::string& path) const { files_.reads(path); }
  void writes(const std::string& option, const std::string& path) const {
    if (is_first_process()) files_.writes(option, path);
  }

  /// The result's fields, in the order in which they are set.
  [[nodiscard]] Json& json() { return json_; }
  /// Those of a report's object that are not set yet.
  void add(const std::string& report);
  /// True if text for people is wanted on standard output.
  [[nodiscard]] bool prints() const { return options_.json != "-" && !options_.quiet; }
  template <class... Arguments>
  void print(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    if (prints()) text_ += fmt::format(format, std::forward<Arguments>(arguments)...);
  }
  /// What work() returns, with a line on it where a person watches.
  template <class Work>
  [[nodiscard]] auto during(const std::string& what, Work&& work) const {
    const auto progress = this->progress(what);
    return work();
  }
  [[nodiscard]] std::unique_ptr<Progress> progress(const std::string& what) const {
    return std::make_unique<Progress>(!options_.quiet && is_first_process(), what);
  }

  /// Writes the text, the JSON object and the trace. Called once, at the end.
  void finish();
  /// Adds a report, prints its lines, and finishes. `wrong`: what a check found; empty: nothing.
  [[nodiscard]] ExitStatus end(const std::string& json, const std::string& text,
                               const std::string& wrong = {});

 private:
  CommonOptions options_;
  mutable RunFiles files_;  ///< Which the run's parts tell.
  warren::Session library_;
  RunInfo ran_;
  Json json_ = Json::object();
  std::string text_;
};

/// Why a result is wrong, behind `what`; empty where it is right, or was not to be verified.
[[nodiscard]] std::string fault_of(const RunInfo& info, const std::string& what = {});
/// not_verified, with a line on standard error, for what a check found; empty: done.
[[nodiscard]] ExitStatus status_of(const std::string& wrong);

}  // namespace warren::app
