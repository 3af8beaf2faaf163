// SPDX-License-Identifier: Apache-2.0
#include "warren/api/machine.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <utility>

#include <unistd.h>

#include "warren/api/program.hpp"
#include "warren/core/quantity.hpp"
#include "warren/core/trace.hpp"
#include "warren/stamp/stamp.hpp"

#include "api/measured.hpp"
#include "api/report/writer.hpp"

namespace warren {
namespace {

using api::Json;
using api::Text;

std::string compiler() {
#if defined(__clang__)
  return "clang " __clang_version__;
#else
  return "g++ " __VERSION__;
#endif
}

Json versions() {
  Json versions = Json::object();
  versions["warren"] = stamp::version();
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

std::string cell_of(const team::Link& link) {
  return fmt::format("{:.1f} / {:.1f}", link.gigabytes_per_second, link.microseconds);
}

std::vector<std::string> names_of(const Machine& machine) {
  std::vector<std::string> names;
  names.reserve(static_cast<std::size_t>(machine.links.size()));
  for (int i = 0; i < machine.links.size(); ++i)
    names.push_back(machine.ranks.empty()
                        ? machine.links.devices()[static_cast<std::size_t>(i)].name()
                        : fmt::format("rank {}", i));
  return names;
}

void print_links(Text& text, const Machine& machine) {
  const team::Links& links = machine.links;
  const std::vector<std::string> names = names_of(machine);
  text.print("\n{:<14}", "GB/s / us to");
  for (const std::string& name : names) text.print("  {:>14}", name);
  text.print("\n{:<14}", "from the host");
  for (int to = 0; to < links.size(); ++to) text.print("  {:>14}", cell_of(links.host(to)));
  for (int from = 0; from < links.size(); ++from) {
    text.print("\n{:<14}", "from " + names[static_cast<std::size_t>(from)]);
    for (int to = 0; to < links.size(); ++to)
      text.print("  {:>14}", cell_of(links.between(from, to)));
  }
  text.print("\n");
}

void print_ranks(Text& text, const std::vector<std::string>& ranks) {
  text.print("\n{:<8}  {:<16}  {:<8}  {:>6}  {}\n", "rank", "host", "device", "units", "name");
  for (std::size_t q = 0; q < ranks.size(); ++q) {
    const Json facts = Json::parse(ranks[q]);
    text.print("{:<8}  {:<16}  {:<8}  {:>6}  {}\n", q, facts["host"].get<std::string>(),
               facts["device"].get<std::string>(), facts["processors"].get<int>(),
               facts["name"].get<std::string>());
  }
}

/// How many pairs of ranks have a link of each kind.
void print_kinds(Text& text, const team::Links& links) {
  std::map<std::string, int> pairs;
  for (int from = 0; from < links.size(); ++from) {
    for (int to = 0; to < links.size(); ++to) {
      if (from != to) ++pairs[team::name_of(links.between(from, to).kind)];
    }
  }
  for (const auto& [kind, count] : pairs)
    text.row("links", "{} ({} of {} pairs)", kind, count, links.size() * (links.size() - 1));
}

/// Under a launcher: what each rank runs on, and the links between the ranks.
team::Links look_at_ranks(const api::SessionRanks& session, std::vector<std::string>& places) {
  std::optional<team::Links> links;
  (void)session.run([&](team::Team& team) {
    std::array<char, 256> host{};
    (void)gethostname(host.data(), host.size() - 1);
    Json mine = describe(team.device());
    mine["host"] = host.data();
    const std::string text = api::written(mine);
    places.clear();
    for (const auto& said : team.all_gather_v(std::span<const char>(text)))
      places.emplace_back(said.begin(), said.end());
    links = team::measure_links(team);
  });
  return std::move(*links);
}

}  // namespace

Machine look_at_machine(const std::optional<Session>& session) {
  const api::SessionRanks chosen(session, std::nullopt, 0, true);
  std::optional<exec::Device> host;
  chosen.teams->on_device([&](const exec::Device& device) { host = device; });
  std::vector<exec::Device> devices;
  if (chosen.info.device == DeviceKind::cuda) {
    for (int i = 0; i < exec::cuda_device_count(); ++i) devices.push_back(exec::Device::cuda(i));
  } else {
    devices.push_back(*host);
  }
  std::vector<std::string> ranks;
  const double begin = now_seconds();
  team::Links links =
      is_one_of_several() ? look_at_ranks(chosen, ranks) : team::measure_links(devices);
  return {*host, std::move(devices), std::move(ranks), std::move(links), now_seconds() - begin};
}

std::string to_json(const Machine& machine) {
  Json json = Json::object();
  json["devices"] = Json::array();
  for (const exec::Device& device : machine.devices) json["devices"].push_back(describe(device));
  for (const std::string& rank : machine.ranks) json["ranks"].push_back(Json::parse(rank));
  json["seconds"] = {machine.seconds};
  json["links"] = table_of(machine.links);
  json["host_links"] = Json::array();
  for (int i = 0; i < machine.links.size(); ++i)
    json["host_links"].push_back(describe(machine.links.host(i)));
  json["host"] = describe(machine.host);
  json["versions"] = versions();
  if (!machine.devices.front().is_cuda()) json["no_gpu"] = exec::why_no_cuda_device();
  return api::written(json);
}

std::string to_text(const Machine& machine) {
  Text text;
  text.print("{:<8}  {:>6}  {:>12}  {:>12}  {}\n", "device", "units", "memory", "free", "name");
  for (const exec::Device& device : machine.devices) {
    const exec::MemoryInfo memory = device.memory();
    text.print("{:<8}  {:>6}  {:>12}  {:>12}  {}\n", device.name(), device.processors(),
               human_bytes(memory.total), human_bytes(memory.free), device.model());
  }
  if (!machine.ranks.empty()) print_ranks(text, machine.ranks);
  print_links(text, machine);
  if (!machine.ranks.empty()) print_kinds(text, machine.links);
  text.print("\n");
  const Json built_with = versions();
  for (const auto& [name, version] : built_with.items()) {
    const std::string value = version.is_string() ? version.get<std::string>() : version.dump();
    text.row(name, "{}", value.empty() ? "none" : value);
  }
  if (machine.devices.front().is_cuda()) return text.take();
  const std::string why = exec::why_no_cuda_device();
  const std::size_t end = why.find(": ");  // Then comes the cure.
  if (!why.empty()) text.row("no GPU", "{}", why.substr(0, end));
  if (end != std::string::npos) text.row("", "{}", why.substr(end + 2));
  return text.take();
}

bool have_passed(const std::vector<CheckResult>& results) {
  return std::ranges::none_of(
      results, [](const CheckResult& result) { return result.verdict == CheckVerdict::failed; });
}

std::string to_json(const std::vector<CheckResult>& results) {
  Json json = Json::object();
  json["checks"] = Json::array();
  for (const CheckResult& result : results) {
    json["checks"].push_back({{"name", result.name},
                              {"verdict", name_of(result.verdict)},
                              {"seconds", result.seconds},
                              {"message", result.message}});
  }
  json["verified"] = have_passed(results);
  return api::written(json);
}

std::string to_text(const std::vector<CheckResult>& results) {
  Text text;
  text.print("\n");
  std::array<int, 3> counts{};
  for (const CheckResult& result : results) {
    ++counts.at(static_cast<std::size_t>(result.verdict));
    text.print("{:<12} {}{}{}\n", name_of(result.verdict), result.name,
               result.message.empty() ? "" : ": ", result.message);
  }
  text.print("\n{} checks passed, {} failed, {} unavailable\n", counts[0], counts[1], counts[2]);
  return text.take();
}

}  // namespace warren
