// SPDX-License-Identifier: Apache-2.0
// One run of one command: its common options checked, its threads, and where its results go.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "warren/api/session.hpp"
#include "warren/core/run_files.hpp"
#include "warren/exec/device.hpp"
#include "warren/traverse/choose_devices.hpp"

#include "files.hpp"
#include "launched.hpp"
#include "options.hpp"
#include "progress.hpp"
#include "text.hpp"

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
  [[nodiscard]] bool on_gpu() const { return kind_ == DeviceKind::cuda; }
  [[nodiscard]] int ranks() const { return ranks_; }
  /// Where the library's calls run.
  [[nodiscard]] const warren::Session& library() const { return library_; }
  /// The host's threads, for all that is not the team's work and no call of the library's. Of one
  /// caller at a time.
  [[nodiscard]] exec::ThreadPool& pool() const { return host().pool(); }
  [[nodiscard]] const exec::Device& host() const;
  /// "cpu, 2 ranks, 4 threads".
  [[nodiscard]] std::string place() const;
  /// Of the CPU, in all.
  [[nodiscard]] int threads() const;

  /// Each file that the run reads or writes is told, before the work begins; see RunFiles.
  /// Of several processes the first one writes.
  void reads(const std::string& path) const { files_.reads(path); }
  void writes(const std::string& option, const std::string& path) const {
    if (is_first_process()) files_.writes(option, path);
  }

  /// The result's fields, in the order in which they are set.
  [[nodiscard]] Json& json() { return json_; }
  /// True if text for people is wanted on standard output.
  [[nodiscard]] bool prints() const { return options_.json != "-" && !options_.quiet; }
  template <class... Arguments>
  void print(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    if (prints())
      text_ += rows_.take() + fmt::format(format, std::forward<Arguments>(arguments)...);
  }
  /// A row of the table that stands behind what was printed so far.
  template <class... Arguments>
  void row(const std::string& label, fmt::format_string<Arguments...> format,
           Arguments&&... arguments) {
    if (prints()) rows_.row(label, fmt::format(format, std::forward<Arguments>(arguments)...));
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

 private:
  CommonOptions options_;
  mutable RunFiles files_;  ///< Which the run's parts tell.
  DeviceKind kind_;
  int ranks_;
  warren::Session library_;
  mutable std::optional<exec::Device> host_;  ///< Made when it is first needed.
  Json json_ = Json::object();
  std::string text_;
  Table rows_;  ///< Behind the text.
};

}  // namespace warren::app
