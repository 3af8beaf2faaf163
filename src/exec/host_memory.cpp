// SPDX-License-Identifier: Apache-2.0
#include "exec/host_memory.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <limits>
#include <optional>
#include <sstream>

namespace warren::exec {
namespace {

constexpr std::uint64_t kUnlimited = std::uint64_t{1} << 60;  // What version 1 says is about 2^63.

std::uint64_t meminfo_bytes(const std::string& key) {
  std::ifstream file("/proc/meminfo");
  std::string name, rest;
  std::uint64_t kibibytes = 0;
  while (file >> name >> kibibytes) {
    std::getline(file, rest);
    if (name == key) return kibibytes * 1024;
  }
  return 0;
}

/// Nothing for a file that is none, or says "max".
std::optional<std::uint64_t> number_in(const std::string& path) {
  std::ifstream file(path);
  std::uint64_t number = 0;
  if (!(file >> number)) return std::nullopt;
  return number;
}

struct Names {
  const char* limit;
  const char* use;
  const char* idle;  ///< In memory.stat.
};
constexpr Names kNames[] = {
    {"memory.max", "memory.current", "inactive_file"},
    {"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"}};

std::optional<std::uint64_t> limit_of(const std::string& folder) {
  for (const Names& names : kNames) {
    const auto limit = number_in(folder + "/" + names.limit);
    if (limit && *limit < kUnlimited) return limit;
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::string> limiting_groups(const std::string& groups, const std::string& root) {
  std::vector<std::string> folders;
  std::istringstream lines(groups);
  std::string line;
  while (std::getline(lines, line)) {
    // "0::/path" of version 2, "5:memory:/path" of version 1.
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const bool is_second = controllers == ",,";
    if (!is_second && controllers.find(",memory,") == std::string::npos) continue;
    std::string path = line.substr(second + 1);
    const std::string top = is_second ? root : root + "/memory";
    for (;;) {
      while (path.ends_with('/')) path.pop_back();
      if (limit_of(top + path)) folders.push_back(top + path);
      if (path.empty()) break;
      path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
    }
  }
  return folders;
}

MemoryInfo group_memory(const std::string& folder) {
  for (const Names& names : kNames) {
    const auto limit = number_in(folder + "/" + names.limit);
    if (!limit || *limit >= kUnlimited) continue;
    std::uint64_t used = number_in(folder + "/" + names.use).value_or(0);
    std::ifstream statistics(folder + "/memory.stat");
    std::string key;
    std::uint64_t value = 0;
    while (statistics >> key >> value) {
      if (key == names.idle) used -= std::min(used, value);
    }
    return {*limit, *limit > used ? *limit - used : 0};
  }
  return {std::numeric_limits<std::uint64_t>::max(), std::numeric_limits<std::uint64_t>::max()};
}

MemoryInfo host_memory() {
  static const std::vector<std::string> folders = [] {
    std::ifstream file("/proc/self/cgroup");
    const std::string groups((std::istreambuf_iterator<char>(file)), {});
    return limiting_groups(groups, "/sys/fs/cgroup");
  }();
  MemoryInfo memory{meminfo_bytes("MemTotal:"), meminfo_bytes("MemAvailable:")};
  for (const std::string& folder : folders) {
    const MemoryInfo group = group_memory(folder);
    memory.total = std::min(memory.total, group.total);
    memory.free = std::min(memory.free, group.free);
  }
  return memory;
}

}  // namespace warren::exec
