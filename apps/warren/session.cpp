// SPDX-License-Identifier: Apache-2.0
#include "session.hpp"

#include "warren/api/checks.hpp"
#include "warren/api/report.hpp"
#include "warren/core/error.hpp"
#include "warren/core/log.hpp"
#include "warren/core/output_file.hpp"
#include "warren/core/printable.hpp"
#include "warren/core/standard_streams.hpp"
#include "warren/core/trace.hpp"
#include "warren/team/processes.hpp"
#include "warren/team/team.hpp"

namespace warren::app {
namespace {

DeviceKind kind_of(const CommonOptions& options) {
  (void)exec::capability_limit();  // A mistake is told on the CPU, too.
  check_choice("--device", options.device_name, {"auto", "cpu", "cuda"}, {});
  const auto* processes = team::Processes::current();
  const bool is_on_hosts = processes != nullptr && processes->hosts() > 1;
  const bool cuda =
      options.device_name == "cuda" ||
      (options.device_name == "auto" && !is_on_hosts && exec::cuda_device_count() > 0);
  const DeviceKind kind = cuda ? DeviceKind::cuda : DeviceKind::cpu;
  api::check_processes(options, kind);
  return kind;
}

/// In the command line's words.
RunInfo info_of(const warren::Session& session, const CommonOptions& options) {
  RunInfo info = run_info(session);
  const bool is_asked = options.devices != 0 || is_one_of_several();
  if (info.device == DeviceKind::cuda && !is_asked)
    info.devices_reason = "this command takes several where --devices says so";
  return info;
}

warren::Session session_of(const CommonOptions& options) {
  SessionOptions session = options;
  session.device = kind_of(options);
  if (session.device == DeviceKind::cpu) session.slice_milliseconds = 0.0;
  return warren::Session(session);
}

}  // namespace

int ranks_of(const CommonOptions& options) {
  const auto* processes = team::Processes::current();
  return processes != nullptr ? processes->size() : options.ranks();
}

Session::Session(const std::string& command, const CommonOptions& options)
    : options_(options), library_(session_of(options)), ran_(info_of(library_, options)) {
  if (!options.json.empty() && options.json != "-") writes("--json", options.json);
  if (!options.trace.empty()) {
    writes("--trace", options.trace);
    trace_start();
  }
  if (options.quiet) set_log_level(LogLevel::quiet);
  if (options.verbose) set_log_level(LogLevel::info);
  if (!on_gpu()) {
    warn_without_effect(options, {"--share-devices", "--side-by-side"},
                        "ranks share GPUs, and this run has none");
    warn_without_effect(options, {"--slice-ms"}, "kernels of GPUs leave, and this run has none");
  } else if (!traverses(command) && command != "info") {
    warn_without_effect(options, {"--slice-ms"}, "this command's kernels are short");
  }
  if (ranks() == 1)
    warn_without_effect(options, {"--no-peer"}, "one rank has no others (--devices)");
  json_ = Json::parse(to_json(command, ran_));
}

void Session::settle_devices(const traverse::DeviceChoice& choice) {
  ran_.devices = choice.devices;
  ran_.devices_reason = choice.reason;
  json_.update(Json::parse(to_json(command(), ran_)));
  if (const int gpus = team::connected_cuda_devices(); gpus > 1)
    print("on {} of {} GPUs ({})\n", choice.devices, gpus, choice.reason);
}

void Session::add(const std::string& report) {
  const Json fields = Json::parse(report);
  for (const auto& [name, value] : fields.items()) {
    if (!json_.contains(name)) json_[name] = value;
  }
}

void Session::runs_on_host_threads() const {
  const std::string why = "this command's work is done by the host's threads (--threads)";
  warn_without_effect(options_, {"--devices"}, why);
  if (ranks() != 1) warn_without_effect(options_, {"--no-peer"}, why);
  if (on_gpu()) warn_without_effect(options_, {"--device"}, why);
}

void Session::warn_of_seed(bool is_used) const {
  if (!is_used) warn_without_effect(options_, {"--seed"}, "nothing in this run is drawn");
}

void Session::finish() {
  if (!is_first_process()) return;
  if (!text_.empty()) write_standard_output(printable_lines(text_));
  log_info(fmt::format("{}: done on {}", command(), place_of(ran_)));
  if (!options_.trace.empty()) trace_write(options_.trace);
  if (options_.json.empty()) return;
  // File names may hold bytes that are no UTF-8.
  const std::string text = json_.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  if (options_.json == "-") return write_standard_output(text);
  OutputFile file(options_.json, OutputFile::Special::in_place);
  file.write(text);
  (void)file.commit();
}

ExitStatus Session::end(const std::string& json, const std::string& text,
                        const std::string& wrong) {
  add(json);
  print("{}", text);
  finish();
  return status_of(wrong);
}

std::string fault_of(const RunInfo& info, const std::string& what) {
  if (!info.verdict || info.verdict->correct) return {};
  return what.empty() ? info.verdict->message : fmt::format("{}: {}", what, info.verdict->message);
}

ExitStatus status_of(const std::string& wrong) {
  if (wrong.empty()) return ExitStatus::done;
  print_error(wrong);
  return ExitStatus::not_verified;
}

}  // namespace warren::app
