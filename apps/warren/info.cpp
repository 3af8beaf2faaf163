// SPDX-License-Identifier: Apache-2.0
// warren info: the devices, how they are linked, and what this program was built with.
#include <memory>

#include "warren/core/error.hpp"
#include "warren/core/trace.hpp"
#include "warren/team/links.hpp"

#include "command.hpp"
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
  return json;
}

Json describe(const team::Link& link) {
  return {{"gigabytes_per_second", link.gigabytes_per_second}, {"microseconds", link.microseconds}};
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

void print_links(Session& session, const team::Links& links) {
  const auto cell = [](const team::Link& link) {
    return fmt::format("{:.1f} / {:.1f}", link.gigabytes_per_second, link.microseconds);
  };
  session.print("\n{:<14}", "GB/s / us to");
  for (const exec::Device& device : links.devices()) session.print("  {:>14}", device.name());
  session.print("\n{:<14}", "from the host");
  for (int to = 0; to < links.size(); ++to) session.print("  {:>14}", cell(links.host(to)));
  for (int from = 0; from < links.size(); ++from) {
    const auto& device = links.devices()[static_cast<std::size_t>(from)];
    session.print("\n{:<14}", "from " + device.name());
    for (int to = 0; to < links.size(); ++to)
      session.print("  {:>14}", cell(links.between(from, to)));
  }
  session.print("\n");
}

ExitStatus run_info(const CommonOptions& options) {
  Session session("info", options);
  session.warn_of_seed(false);
  warn_without_effect(options, {"--devices"}, "info tells of all devices");
  warn_without_effect(options, {"--repeat"}, "info measures once");
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
  const double begin = now_seconds();
  auto progress = session.progress("measuring links");
  const team::Links links = team::measure_links(devices);
  progress.reset();
  json["seconds"] = {now_seconds() - begin};
  json["links"] = table_of(links);
  json["host_links"] = Json::array();
  for (int i = 0; i < links.size(); ++i) json["host_links"].push_back(describe(links.host(i)));
  print_links(session, links);
  json["host"] = describe(session.host());
  json["versions"] = versions();

  Table table;
  for (const auto& [name, version] : json["versions"].items()) {
    const std::string text = version.is_string() ? version.get<std::string>() : version.dump();
    table.row(name, text.empty() ? "none" : text);
  }
  session.print("\n{}", table.text());
  session.finish();
  return ExitStatus::done;
}

}  // namespace

void add_info(CLI::App& program, Action& action) {
  auto options = std::make_shared<CommonOptions>();
  CLI::App* info = add_command(program, "info", "Devices, their links, and versions");
  add_common_options(*info, *options);
  info->footer("Example:\n  warren info --json -");
  info->callback([options, &action] { action = [options] { return run_info(*options); }; });
}

}  // namespace warren::app
