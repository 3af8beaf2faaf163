// SPDX-License-Identifier: Apache-2.0
#include "session.hpp"

#include <algorithm>
#include <array>
#include <string_view>

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

/// Processes that a launcher started are a rank each.
void check_processes(const CommonOptions& options, DeviceKind kind) {
  const auto* processes = team::Processes::current();
  if (processes == nullptr) return;
  require(
      kind == DeviceKind::cpu || processes->hosts() == 1,
      fmt::format("--device {}: GPUs of several hosts ({}) are not there yet; use --device cpu, "
                  "or start all ranks on one host",
                  options.device, processes->launcher()));
  require(!options.no_peer,
          fmt::format("--no-peer: {} started {} processes, which reach each other's memory; give "
                      "--devices to one process",
                      processes->launcher(), processes->size()));
  require(options.devices == 0 || options.devices == processes->size(),
          fmt::format("--devices {}: {} started {} processes, which are a rank each; leave "
                      "--devices out",
                      options.devices, processes->launcher(), processes->size()));
}

DeviceKind kind_of(const CommonOptions& options) {
  (void)exec::capability_limit();  // A mistake is told on the CPU, too.
  check_choice("--device", options.device, {"auto", "cpu", "cuda"}, {});
  const auto* processes = team::Processes::current();
  const bool is_on_hosts = processes != nullptr && processes->hosts() > 1;
  const bool cuda = options.device == "cuda" ||
                    (options.device == "auto" && !is_on_hosts && exec::cuda_device_count() > 0);
  const DeviceKind kind = cuda ? DeviceKind::cuda : DeviceKind::cpu;
  check_processes(options, kind);
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

/// Whether kernels of the command run until a search is over.
bool runs_programs(const std::string& command) {
  constexpr std::array<std::string_view, 8> kThese = {"bfs", "sssp", "cc",        "pagerank",
                                                      "bc",  "core", "triangles", "info"};
  return std::ranges::find(kThese, command) != kThese.end();
}

warren::Session session_of(const CommonOptions& options) {
  SessionOptions session;
  session.device = kind_of(options);
  session.devices = options.devices;
  session.threads = options.threads;
  session.share_devices = options.share_devices;
  session.side_by_side = options.side_by_side;
  session.no_peer = options.no_peer;
  if (session.device == DeviceKind::cuda) session.slice_milliseconds = options.slice_milliseconds;
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
  } else if (!runs_programs(command)) {
    warn_without_effect(options, {"--slice-ms"}, "this command's kernels are short");
  }
  if (ranks() == 1)
    warn_without_effect(options, {"--no-peer"}, "one rank has no others (--devices)");
  json_ = Json::parse(to_json(command, ran_));
}

const exec::Device& Session::host() const {
  const auto* processes = team::Processes::current();
  if (!host_)
    host_ = exec::Device::cpu(processes != nullptr ? processes->threads(options_.threads)
                                                   : options_.threads);
  return *host_;
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

ExitStatus verification_status(const RunInfo& info, const std::string& what) {
  if (!info.verdict || info.verdict->correct) return ExitStatus::done;
  print_error(what.empty() ? info.verdict->message
                           : fmt::format("{}: {}", what, info.verdict->message));
  return ExitStatus::not_verified;
}

}  // namespace warren::app
