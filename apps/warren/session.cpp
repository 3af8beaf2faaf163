// SPDX-License-Identifier: Apache-2.0
#include "session.hpp"

#include <cstdlib>

#include "warren/core/error.hpp"
#include "warren/core/log.hpp"
#include "warren/core/output_file.hpp"
#include "warren/core/printable.hpp"
#include "warren/core/standard_streams.hpp"
#include "warren/core/trace.hpp"

#include "stamp/stamp.hpp"
#include "text.hpp"

namespace warren::app {
namespace {

// Started by a launcher of processes, every process would do and print the whole.
void refuse_processes() {
  for (const char* variable : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {
    const char* value = std::getenv(variable);
    require(value == nullptr || std::atoi(value) <= 1,
            "processes as ranks (mpirun) are not there yet; start one process with --devices N");
  }
}

team::TeamOptions team_of(const CommonOptions& options) {
  refuse_processes();
  check_choice("--device", options.device, {"auto", "cpu", "cuda"}, {});
  const bool cuda =
      options.device == "cuda" || (options.device == "auto" && exec::cuda_device_count() > 0);
  team::TeamOptions team;
  team.kind = cuda ? exec::DeviceKind::cuda : exec::DeviceKind::cpu;
  team.ranks = options.ranks();
  team.threads = options.threads;
  if (options.share_devices) team.sharing = team::Sharing::turns;
  if (options.side_by_side) team.sharing = team::Sharing::side_by_side;
  team::validate(team);
  return team;
}

}  // namespace

Session::Session(const std::string& command, const CommonOptions& options)
    : options_(options), team_(team_of(options)), host_(exec::Device::cpu(options.threads)) {
  if (!options.json.empty() && options.json != "-") writes("--json", options.json);
  if (!options.trace.empty()) {
    writes("--trace", options.trace);
    trace_start();
  }
  if (options.quiet) set_log_level(LogLevel::quiet);
  if (options.verbose) set_log_level(LogLevel::info);
  if (!on_gpu())
    warn_without_effect(options, {"--share-devices", "--side-by-side"},
                        "ranks share GPUs, and this run has none");
  json_["command"] = command;
  json_["device"] = on_gpu() ? "cuda" : "cpu";
  json_["devices"] = team_.ranks;
  json_["devices_reason"] = options.devices != 0 ? "asked for"
                            : on_gpu() ? "this command takes several where --devices says so"
                                       : "on the CPU one rank uses all threads";
  stamp::add(json_, team_.kind, team_.ranks);
  json_["threads"] = host_.pool().size();
}

void Session::settle_devices(const traverse::TraversalWork& work) {
  if (options_.devices != 0 || !on_gpu()) return;
  const int gpus = team::connected_cuda_devices();
  const traverse::DeviceChoice choice = traverse::choose_devices(work, gpus);
  team_.ranks = choice.devices;
  json_["devices"] = team_.ranks;
  json_["devices_reason"] = choice.reason;
  stamp::add(json_, team_.kind, team_.ranks);
  if (gpus > 1) print("on {} of {} GPUs ({})\n", choice.devices, gpus, choice.reason);
}

void Session::runs_on_host_threads() const {
  const std::string why = "this command's work is done by the host's threads (--threads)";
  warn_without_effect(options_, {"--devices"}, why);
  if (on_gpu()) warn_without_effect(options_, {"--device"}, why);
}

void Session::warn_of_seed(bool is_used) const {
  if (!is_used) warn_without_effect(options_, {"--seed"}, "nothing in this run is drawn");
}

std::string Session::place() const {
  const std::string ranks = counted(static_cast<std::uint64_t>(team_.ranks), "rank", "ranks");
  if (on_gpu()) return fmt::format("{}, {}", exec::Device::cuda(0).model(), ranks);
  const auto threads = static_cast<std::uint64_t>(host_.pool().size());
  return fmt::format("cpu, {}, {}", ranks, counted(threads, "thread", "threads"));
}

void Session::finish() {
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
