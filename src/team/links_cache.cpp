// SPDX-License-Identifier: Apache-2.0
// Reading and writing the file of measured links.
#include "team/links_cache.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "warren/core/log.hpp"
#include "warren/exec/cuda_check.hpp"

namespace warren::team {
namespace {

constexpr int kFormat = 1;

/// The file's content, or an empty one of this format. `problem` says what is wrong with a file
/// that is there.
nlohmann::json load(const std::string& path, std::string& problem) {
  nlohmann::json empty = {{"format", kFormat}, {"machines", nlohmann::json::object()}};
  std::ifstream file(path);
  if (!file) return empty;
  nlohmann::json content = nlohmann::json::parse(file, nullptr, false);
  if (content.is_discarded()) {
    problem = "it is no JSON";
  } else if (!content.is_object() || content.value("format", nlohmann::json()) != kFormat ||
             !content.contains("machines") || !content["machines"].is_object()) {
    problem = "it is not of this version of warren";
  } else {
    return content;
  }
  return empty;
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
  if (path.empty()) return;
  try {
    const std::filesystem::path target(path);
    std::filesystem::create_directories(target.parent_path());
    std::string problem;
    nlohmann::json content = load(path, problem);
    nlohmann::json entries = nlohmann::json::object();
    for (const auto& [name, link] : links)
      entries[name] = {link.gigabytes_per_second, link.microseconds};
    content["machines"][machine] = std::move(entries);
    // Through a file of our own, so that no reader ever sees half of it.
    const std::filesystem::path draft = path + fmt::format(".{}", getpid());
    {
      std::ofstream file(draft, std::ios::trunc);
      file << content.dump(1) << '\n';
      file.flush();
      if (!file) throw InputError("it cannot be written");
    }
    std::filesystem::rename(draft, target);
  } catch (const std::exception& error) {
    try {
      log_info(fmt::format("the links' figures are not kept in {}: {}", path, error.what()));
    } catch (...) {
      // There is nobody left to tell.
    }
  }
}

}  // namespace warren::team
