// SPDX-License-Identifier: Apache-2.0
#include "warren/stamp/stamp.hpp"

#include <algorithm>
#include <array>
#include <ctime>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "warren/core/shared_library.hpp"

namespace warren::stamp {
namespace {

using Json = nlohmann::ordered_json;

bool is_version(const std::string& word) {
  return word.find('.') != std::string::npos &&
         word.find_first_not_of("0123456789.") == std::string::npos;
}

/// As NVIDIA's management library tells it; empty where there is no such library.
std::string driver_by_library() {
  SharedLibrary library({"libnvidia-ml.so.1"});
  int (*initialise)() = nullptr;
  int (*version)(char*, unsigned) = nullptr;
  int (*shut_down)() = nullptr;
  library.find(initialise, "nvmlInit_v2");
  library.find(version, "nvmlSystemGetDriverVersion");
  library.find(shut_down, "nvmlShutdown");
  if (!library.reason().empty() || initialise() != 0) return {};
  std::array<char, 96> number{};
  const bool known = version(number.data(), static_cast<unsigned>(number.size())) == 0;
  (void)shut_down();
  return known ? std::string(number.data()) : std::string();
}

/// The number of the kernel's driver: the first word of its own line that is a version. Containers
/// may hide that file.
std::string driver_number() {
  std::ifstream file("/proc/driver/nvidia/version");
  std::string line;
  std::getline(file, line);
  std::istringstream words(line);
  for (std::string word; words >> word;) {
    if (is_version(word)) return word;
  }
  return driver_by_library();
}

Json machine(exec::DeviceKind kind, int ranks) {
  // A null value that becomes an object without memory crashes when it goes.
  Json json = Json::object();
  if (kind == exec::DeviceKind::cuda) {
    json["gpus"] = Json::array();
    const int gpus = std::min(ranks, exec::cuda_device_count());
    for (int i = 0; i < gpus; ++i) json["gpus"].push_back(exec::Device::cuda(i).model());
    const std::string driver = driver_number();
    json["driver"] = driver.empty() ? "CUDA " + exec::cuda_driver_version() : driver;
    json["cuda_runtime"] = exec::cuda_runtime_version();
  }
  json["cpu"] = exec::Device::cpu(1).model();
  json["threads"] = exec::hardware_threads();
  return json;
}

std::string date() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", utc.tm_year + 1900, utc.tm_mon + 1,
                     utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec);
}

}  // namespace

const char* version() noexcept { return WARREN_VERSION; }

std::string origin(exec::DeviceKind kind, int ranks) {
  Json json = Json::object();
  json["warren"] = {{"version", version()}, {"commit", commit()}};
  json["machine"] = machine(kind, ranks);
  json["date"] = date();
  return json.dump();
}

}  // namespace warren::stamp
