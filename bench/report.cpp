// SPDX-License-Identifier: Apache-2.0
#include "report.hpp"

#include <filesystem>
#include <fstream>

#include "warren/core/error.hpp"
#include "warren/stamp/stamp.hpp"

namespace warren::bench {
namespace {

std::string command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string command;
  for (std::string word; std::getline(file, word, '\0');)
    command += command.empty() ? std::filesystem::path(word).filename().string() : " " + word;
  return command;
}

}  // namespace

nlohmann::json report(const nlohmann::json& results, exec::DeviceKind kind, int ranks) {
  nlohmann::json report = results;
  if (results.is_array()) {
    report = nlohmann::json::object();
    report["results"] = results;
  }
  report.update(nlohmann::json::parse(stamp::origin(kind, ranks)));
  report["command"] = command_line();
  return report;
}

void write_report(const std::string& out, const nlohmann::json& results, exec::DeviceKind kind,
                  int ranks) {
  if (out.empty()) return;
  std::ofstream file(out);
  file << report(results, kind, ranks).dump(1) << '\n';
  if (!file.flush()) throw InputError(out + " cannot be written");
}

}  // namespace warren::bench
