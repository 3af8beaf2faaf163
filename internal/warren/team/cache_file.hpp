// SPDX-License-Identifier: Apache-2.0
// Files that keep what was measured from one run to the next: JSON objects with a format and a
// table of entries. They can always be made again, so that no fault of one is an error.
#pragma once

#include <exception>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace warren::team {

inline constexpr int kCacheFormat = 1;

/// The object at `path`, which has this format and an object of the name `table`. Nothing where
/// there is no file, or where `problem` then says what is wrong with it.
[[nodiscard]] std::optional<nlohmann::json> read_cache_file(const std::string& path,
                                                            const std::string& table,
                                                            std::string& problem);

/// Replaces the file, at once for every reader, and makes its folder. Throws where it cannot.
void write_cache_file(const std::string& path, const nlohmann::json& content);
/// Logs that `what` not kept in `path`.
void log_not_kept(std::string_view what, const std::string& path,
                  const std::exception& error) noexcept;

/// Replaces the file by what content() returns. Never throws: a failure is logged. Does nothing
/// where `path` is empty.
template <class F>
void replace_cache_file(const std::string& path, std::string_view what, F&& content) noexcept {
  if (path.empty()) return;
  try {
    write_cache_file(path, content());
  } catch (const std::exception& error) {
    log_not_kept(what, path, error);
  }
}

}  // namespace warren::team
