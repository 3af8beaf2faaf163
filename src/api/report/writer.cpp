// SPDX-License-Identifier: Apache-2.0
#include "api/report/writer.hpp"

#include <algorithm>

namespace warren::api {

std::string written(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void Text::end_table() {
  std::size_t width = 0;
  for (const auto& [label, value] : rows_) width = std::max(width, label.size());
  for (const auto& [label, value] : rows_)
    text_ += fmt::format("{:<{}}  {}\n", label, width, value);
  rows_.clear();
}

std::string Text::take() {
  end_table();
  return std::exchange(text_, {});
}

}  // namespace warren::api
