// SPDX-License-Identifier: Apache-2.0
// What reports are made of: JSON whose fields keep their order, and aligned text.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace warren::api {

using Json = nlohmann::ordered_json;

/// In one line. Names may hold bytes that are no UTF-8, which are replaced.
[[nodiscard]] std::string written(const Json& json);

/// Lines for people: what is printed, and tables of two columns, labels to the left.
class Text {
 public:
  template <class... Arguments>
  void print(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    end_table();
    text_ += fmt::format(format, std::forward<Arguments>(arguments)...);
  }
  /// A row of the table that stands behind what was printed so far.
  template <class... Arguments>
  void row(std::string label, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    rows_.emplace_back(std::move(label),
                       fmt::format(format, std::forward<Arguments>(arguments)...));
  }
  /// All of it, which is gone then.
  [[nodiscard]] std::string take();

 private:
  void end_table();

  std::string text_;
  std::vector<std::pair<std::string, std::string>> rows_;
};

}  // namespace warren::api
