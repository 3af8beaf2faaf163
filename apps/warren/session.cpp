// SPDX-License-Identifier: Apache-2.0
#include "session.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "warren/core/error.hpp"
#include "warren/core/log.hpp"
#include "warren/core/output_file.hpp"
#include "warren/core/printable.hpp"
#include "warren/core/standard_streams.hpp"
#include "warren/core/trace.hpp"
#include "warren/team/processes.hpp"
#include "warren/team/team.hpp"

#include "launched.hpp"
#include "stamp/stamp.hpp"
#include "text.hpp"

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

std::string reason_of(const CommonOptions& options, bool on_gpu) {
  if (const auto* processes = team::Processes::current())
    return fmt::format("a rank for each process ({})", processes->launcher());
  if (options.devices != 0) return "asked for";
  return on_gpu ? "this command takes several where --devices says so"
                : "on the CPU one rank uses all threads";
}

/// Whether kernels of the command run until a search is over.
bool runs_programs(const std::string& command) {
  constexpr std::array<std::string_view, 8> kThese = {"bfs", "sssp", "cc",        "pagerank",
                                                      "bc",  "core", "triangles", "info"};
  return std::ranges::find(kThese, command) != kThese.end();
}

}  // namespace

int ranks_of(const CommonOptions& options) {
  const auto* processes = team::Processes::current();
  return processes != nullptr ? processes->size() : options.ranks();
}

Session::Session(const std::string& command, const CommonOptions& options)
    : options_(options),
      kind_(kind_of(options)),
      ranks_(ranks_of(options)),
      library_({.device = kind_,
                .devices = options.devices,
                .threads = options.threads,
                .share_devices = options.share_devices,
                .side_by_side = options.side_by_side,
                .no_peer = options.no_peer,
                .slice_milliseconds = on_gpu() ? options.slice_milliseconds : 0.0}) {
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
  if (ranks_ == 1)
    warn_without_effect(options, {"--no-peer"}, "one rank has no others (--devices)");
  json_["command"] = command;
  json_["device"] = on_gpu() ? "cuda" : "cpu";
  json_["devices"] = ranks_;
  json_["devices_reason"] = reason_of(options, on_gpu());
  if (const auto* processes = team::Processes::current()) {
    json_["processes"] = processes->size();
    if (processes->hosts() > 1) json_["hosts"] = processes->hosts();
  }
  stamp::add(json_, kind_, ranks_);
  json_["threads"] = threads();
}

int Session::threads() const {
  if (options_.threads != 0) return options_.threads;
  const auto* processes = team::Processes::current();
  return processes != nullptr ? processes->all_threads() : exec::hardware_threads();
}

const exec::Device& Session::host() const {
  const auto* processes = team::Processes::current();
  if (!host_)
    host_ = exec::Device::cpu(processes != nullptr ? processes->threads(options_.threads)
                                                   : options_.threads);
  return *host_;
}

void Session::settle_devices(const traverse::DeviceChoice& choice) {
  ranks_ = choice.devices;
  json_["devices"] = ranks_;
  json_["devices_reason"] = choice.reason;
  stamp::add(json_, kind_, ranks_);
  if (const int gpus = team::connected_cuda_devices(); gpus > 1)
    print("on {} of {} GPUs ({})\n", choice.devices, gpus, choice.reason);
}

void Session::runs_on_host_threads() const {
  const std::string why = "this command's work is done by the host's threads (--threads)";
  warn_without_effect(options_, {"--devices"}, why);
  if (ranks_ != 1) warn_without_effect(options_, {"--no-peer"}, why);
  if (on_gpu()) warn_without_effect(options_, {"--device"}, why);
}

void Session::warn_of_seed(bool is_used) const {
  if (!is_used) warn_without_effect(options_, {"--seed"}, "nothing in this run is drawn");
}

std::string Session::place() const {
  const std::string ranks = counted(static_cast<std::uint64_t>(ranks_), "rank", "ranks");
  const auto* processes = team::Processes::current();
  std::string where = processes != nullptr ? " in processes" : "";
  if (on_gpu()) return fmt::format("{}, {}{}", exec::Device::cuda(0).model(), ranks, where);
  if (processes != nullptr && processes->hosts() > 1)
    where += fmt::format(" on {} hosts", processes->hosts());
  return fmt::format("cpu, {}{}, {}", ranks, where,
                     counted(static_cast<std::uint64_t>(threads()), "thread", "threads"));
}

void Session::finish() {
  if (!is_first_process()) return;
  text_ += rows_.take();
  if (!text_.empty()) write_standard_output(printable_lines(text_));
  log_info(fmt::format("{}: done on {}", json_["command"].get<std::string>(), place()));
  if (!options_.trace.empty()) trace_write(options_.trace);
  if (options_.json.empty()) return;
  // File names may hold bytes that are no UTF-8.
  const std::string text = json_.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  if (options_.json == "-") return write_standard_output(text);
  OutputFile file(options_.json, OutputFile::Special::in_place);
  file.write(text);
  (void)file.commit();
}

}  // namespace warren::app
