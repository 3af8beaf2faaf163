// SPDX-License-Identifier: Apache-2.0
// warren info: the devices, how they are linked, and what this program was built with.

#include <array>
#include <map>
#include <optional>
#include <span>

#include <unistd.h>

#include "warren/api/check_machine.hpp"
#include "warren/core/error.hpp"
#include "warren/core/trace.hpp"
#include "warren/team/links.hpp"

#include "command.hpp"
#include "launched.hpp"
#include "option_rules.hpp"
#include "session.hpp"
#include "stamp/commit.hpp"
#include "text.hpp"

namespace warren::app {
namespace {

std::string compiler() {
#if defined(__clang__)
  return "clang " __clang_version__;
#else
  return "g++ " __VERSION__;
#endif
}

Json versions() {
  Json versions = Json::object();
  versions["warren"] = WARREN_VERSION;
  versions["commit"] = stamp::commit();
  versions["compiler"] = compiler();
  versions["cuda_backend"] = WARREN_HAS_CUDA != 0;
  versions["cuda_runtime"] = exec::cuda_runtime_version();
  versions["cuda_driver"] = exec::cuda_driver_version();
  return versions;
}

Json describe(const exec::Device& device) {
  const exec::MemoryInfo memory = device.memory();
  Json json = Json::object();
  json["name"] = device.model();
  json["device"] = device.name();
  json["memory"] = memory.total;
  json["memory_free"] = memory.free;
  json["processors"] = device.processors();
  if (device.is_cuda()) {
    json["capability"] = exec::capability_name(device.capability());
    json["shared_memory_of_block"] = device.limits().shared_block_bytes;
    json["limits_kernel_time"] = device.limits_kernel_time();
  }
  return json;
}

Json describe(const team::Link& link) {
  Json json = {{"gigabytes_per_second", link.gigabytes_per_second},
               {"microseconds", link.microseconds}};
  if (link.kind != team::LinkKind::unknown) json["kind"] = team::name_of(link.kind);
  return json;
}

/// Row: from, column: to; the diagonal is a device's copy within its own memory.
Json table_of(const team::Links& links) {
  Json table = Json::array();
  for (int from = 0; from < links.size(); ++from) {
    Json row = Json::array();
    for (int to = 0; to < links.size(); ++to) row.push_back(describe(links.between(from, to)));
    table.push_back(row);
  }
  return table;
}

/// `names`: of the devices, or the ranks.
void print_links(Session& session, const team::Links& links,
                 const std::vector<std::string>& names) {
  const auto cell = [](const team::Link& link) {
    return fmt::format("{:.1f} / {:.1f}", link.gigabytes_per_second, link.microseconds);
  };
  session.print("\n{:<14}", "GB/s / us to");
  for (const std::string& name : names) session.print("  {:>14}", name);
  session.print("\n{:<14}", "from the host");
  for (int to = 0; to < links.size(); ++to) session.print("  {:>14}", cell(links.host(to)));
  for (int from = 0; from < links.size(); ++from) {
    session.print("\n{:<14}", "from " + names[static_cast<std::size_t>(from)]);
    for (int to = 0; to < links.size(); ++to)
      session.print("  {:>14}", cell(links.between(from, to)));
  }
  session.print("\n");
}

/// Under a launcher: what each rank runs on, and the links between the ranks.
team::Links tell_ranks(Session& session, const CommonOptions& options) {
  Json& json = session.json()["ranks"] = Json::array();
  std::optional<team::Links> links;
  team::TeamOptions team;
  team.kind = session.on_gpu() ? exec::DeviceKind::cuda : exec::DeviceKind::cpu;
  team.ranks = session.ranks();
  team.threads = options.threads;
  if (options.share_devices) team.sharing = team::Sharing::turns;
  team::run_team(team, [&](team::Team& ranks) {
    std::array<char, 256> host{};
    (void)gethostname(host.data(), host.size() - 1);
    Json mine = describe(ranks.device());
    mine["host"] = host.data();
    const std::string text = mine.dump(-1, ' ', false, Json::error_handler_t::replace);
    for (const auto& said : ranks.all_gather_v(std::span<const char>(text)))
      json.push_back(Json::parse(said.begin(), said.end()));
    links = team::measure_links(ranks);
  });
  session.print("{:<8}  {:<16}  {:<8}  {:>6}  {}\n", "rank", "host", "device", "units", "name");
  for (std::size_t q = 0; q < json.size(); ++q) {
    session.print("{:<8}  {:<16}  {:<8}  {:>6}  {}\n", q, json[q]["host"].get<std::string>(),
                  json[q]["device"].get<std::string>(), json[q]["processors"].get<int>(),
                  json[q]["name"].get<std::string>());
  }
  return std::move(*links);
}

/// How many pairs of ranks have a link of each kind.
void print_kinds(Session& session, const team::Links& links) {
  std::map<std::string, int> pairs;
  for (int from = 0; from < links.size(); ++from) {
    for (int to = 0; to < links.size(); ++to) {
      if (from != to) ++pairs[team::name_of(links.between(from, to).kind)];
    }
  }
  for (const auto& [kind, count] : pairs)
    session.row("links", "{} ({} of {} pairs)", kind, count, links.size() * (links.size() - 1));
}

struct InfoCommand : CommonOptions {
  bool check = false;
};

/// With as many ranks as --check takes where nobody says.
CommonOptions with_ranks(const InfoCommand& options) {
  CommonOptions asked = options;
  if (!options.check || options.devices != 0) return asked;
  const bool is_cpu = options.device == "cpu" || exec::cuda_device_count() == 0;
  asked.devices = check_ranks(is_cpu ? DeviceKind::cpu : DeviceKind::cuda);
  return asked;
}

/// Runs the checks, a line each. False if one failed.
bool check(Session& session) {
  const CheckOptions options{.devices = session.ranks(), .session = session.library()};
  const std::vector<CheckResult> results =
      session.during("checking", [&] { return check_machine(options); });
  session.print("\n");
  Json& json = session.json()["checks"] = Json::array();
  std::array<int, 3> counts{};
  for (const CheckResult& result : results) {
    ++counts.at(static_cast<std::size_t>(result.verdict));
    json.push_back({{"name", result.name},
                    {"verdict", name_of(result.verdict)},
                    {"seconds", result.seconds},
                    {"message", result.message}});
    session.print("{:<12} {}{}{}\n", name_of(result.verdict), result.name,
                  result.message.empty() ? "" : ": ", result.message);
  }
  const bool has_failed = counts[1] > 0;
  session.json()["verified"] = !has_failed;
  session.print("\n{} checks passed, {} failed, {} unavailable\n", counts[0], counts[1], counts[2]);
  return !has_failed;
}

ExitStatus run_info(const InfoCommand& options) {
  Session session("info", with_ranks(options));
  session.warn_of_seed(false);
  if (!options.check) {
    if (!is_one_of_several())
      warn_without_effect(options, {"--devices"}, "info tells of all devices");
    if (options.devices != 1)
      warn_without_effect(options, {"--no-peer"}, "info looks at links alone, but for --check");
  }
  warn_without_effect(options, {"--repeat"}, "info measures once");
  const bool has_ranks = is_one_of_several();
  require(!has_ranks || !options.check,
          "--check tries the devices of one process: start one, with --devices N");
  std::vector<exec::Device> devices;
  if (session.on_gpu()) {
    for (int i = 0; i < exec::cuda_device_count(); ++i) devices.push_back(exec::Device::cuda(i));
  } else {
    devices.push_back(session.host());
  }
  Json& json = session.json();
  json["devices"] = Json::array();
  session.print("{:<8}  {:>6}  {:>12}  {:>12}  {}\n", "device", "units", "memory", "free", "name");
  for (const exec::Device& device : devices) {
    json["devices"].push_back(describe(device));
    const exec::MemoryInfo memory = device.memory();
    session.print("{:<8}  {:>6}  {:>12}  {:>12}  {}\n", device.name(), device.processors(),
                  human_bytes(memory.total), human_bytes(memory.free), device.model());
  }
  if (has_ranks) session.print("\n");
  const double begin = now_seconds();
  const team::Links links = session.during("measuring links", [&] {
    return has_ranks ? tell_ranks(session, options) : team::measure_links(devices);
  });
  json["seconds"] = {now_seconds() - begin};
  std::vector<std::string> names;
  names.reserve(links.devices().size());
  for (int i = 0; i < links.size(); ++i)
    names.push_back(has_ranks ? fmt::format("rank {}", i)
                              : links.devices()[static_cast<std::size_t>(i)].name());
  json["links"] = table_of(links);
  json["host_links"] = Json::array();
  for (int i = 0; i < links.size(); ++i) json["host_links"].push_back(describe(links.host(i)));
  print_links(session, links, names);
  if (has_ranks) print_kinds(session, links);
  json["host"] = describe(session.host());
  json["versions"] = versions();

  session.print("\n");
  for (const auto& [name, version] : json["versions"].items()) {
    const std::string text = version.is_string() ? version.get<std::string>() : version.dump();
    session.row(name, "{}", text.empty() ? "none" : text);
  }
  if (!session.on_gpu()) {
    const std::string why = exec::why_no_cuda_device();
    json["no_gpu"] = why;
    const std::size_t end = why.find(": ");  // Then comes the cure.
    if (!why.empty()) session.row("no GPU", "{}", why.substr(0, end));
    if (end != std::string::npos) session.row("", "{}", why.substr(end + 2));
  }
  const bool is_right = !options.check || check(session);
  session.finish();
  return is_right ? ExitStatus::done : ExitStatus::not_verified;
}

}  // namespace

void add_info(CLI::App& program, Action& action) {
  const auto [info, options] =
      add_command<InfoCommand>(program, action, "info", "Devices, their links, and versions",
                               "Example:\n  warren info --json -\n  warren info --check", run_info);
  info.add_flag("--check", options.check,
                "Try memory, copies, barriers and every algorithm: a line each (exit status 4)");
  add_common_options(info, options);
}

}  // namespace warren::app
