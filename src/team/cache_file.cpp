// SPDX-License-Identifier: Apache-2.0
#include "warren/team/cache_file.hpp"

#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/core/log.hpp"
#include "warren/core/output_file.hpp"

namespace warren::team {

std::optional<nlohmann::json> read_cache_file(const std::string& path, const std::string& table,
                                              std::string& problem) {
  std::ifstream file(path);
  if (!file) return std::nullopt;
  nlohmann::json content = nlohmann::json::parse(file, nullptr, false);
  if (content.is_discarded()) {
    problem = "it is no JSON";
  } else if (!content.is_object() || content.value("format", nlohmann::json()) != kCacheFormat ||
             !content.contains(table) || !content[table].is_object()) {
    problem = "it is not of this version of warren";
  } else {
    return content;
  }
  return std::nullopt;
}

void write_cache_file(const std::string& path, const nlohmann::json& content) {
  const std::filesystem::path target(path);
  std::filesystem::create_directories(target.parent_path());
  OutputFile file(path);
  file.write(content.dump(1) + '\n');
  (void)file.commit();
}

void log_not_kept(std::string_view what, const std::string& path,
                  const std::exception& error) noexcept {
  try {
    log_info(fmt::format("{} not kept in {}: {}", what, path, error.what()));
  } catch (...) {
    // There is nobody left to tell.
  }
}

}  // namespace warren::team
