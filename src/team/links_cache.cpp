// SPDX-License-Identifier: Apache-2.0
// Reading and writing the file of measured links.
#include "team/links_cache.hpp"

#include <cstdlib>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "warren/core/log.hpp"
#include "warren/exec/cuda_check.hpp"
#include "warren/team/cache_file.hpp"

namespace warren::team {
namespace {

/// The file's content, or an empty one. `problem` says what is wrong with a file that is there.
nlohmann::json load(const std::string& path, std::string& problem) {
  return read_cache_file(path, "machines", problem)
      .value_or(nlohmann::json{{"format", kCacheFormat}, {"machines", nlohmann::json::object()}});
}

/// False if an entry is not what write_links() writes.
bool parse_entries(const nlohmann::json& entries, KnownLinks& links) {
  if (!entries.is_object()) return false;
  for (const auto& [name, figures] : entries.items()) {
    if (!figures.is_array() || figures.size() != 2 || !figures[0].is_number() ||
        !figures[1].is_number())
      return false;
    const Link link{figures[0].get<double>(), figures[1].get<double>()};
    if (!(link.gigabytes_per_second > 0.0) || !(link.microseconds >= 0.0)) return false;
    links[name] = link;
  }
  return true;
}

}  // namespace

std::string links_cache_path() {
  if (const char* folder = std::getenv("XDG_CACHE_HOME"); folder != nullptr && *folder != '\0') {
    return std::string(folder) + "/warren/links.json";
  }
  if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0')
    return std::string(home) + "/.cache/warren/links.json";
  return {};
}

std::string machine_name() {
  std::string name = fmt::format("{} x {}", exec::Device::cpu(1).model(), exec::hardware_threads());
#if WARREN_HAS_CUDA
  for (int i = 0; i < exec::cuda_device_count(); ++i) {
    cudaDeviceProp properties{};
    exec::cuda_check(cudaGetDeviceProperties(&properties, i), "cudaGetDeviceProperties");
    name += fmt::format("; {} {:04x}:{:02x}:{:02x} ", properties.name, properties.pciDomainID,
                        properties.pciBusID, properties.pciDeviceID);
    for (const char byte : properties.uuid.bytes)
      name += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  }
  if (exec::cuda_device_count() > 0) name += "; driver " + exec::cuda_driver_version();
#endif
  return name;
}

KnownLinks read_links(const std::string& path, const std::string& machine) {
  if (path.empty()) return {};
  std::string problem;
  const nlohmann::json content = load(path, problem);
  const nlohmann::json& machines = content["machines"];
  KnownLinks links;
  if (machines.contains(machine)) {
    if (!parse_entries(machines[machine], links)) problem = "its figures are damaged";
  } else if (!machines.empty()) {
    problem = "it is of other hardware";
  }
  if (problem.empty()) return links;
  log_warning(fmt::format("{} cannot be used ({}): the links are measured again", path, problem));
  return {};
}

void write_links(const std::string& path, const std::string& machine,
                 const KnownLinks& links) noexcept {
  replace_cache_file(path, "the links' figures are", [&] {
    std::string problem;
    nlohmann::json content = load(path, problem);
    nlohmann::json entries = nlohmann::json::object();
    for (const auto& [name, link] : links)
      entries[name] = {link.gigabytes_per_second, link.microseconds};
    content["machines"][machine] = std::move(entries);
    return content;
  });
}

}  // namespace warren::team
