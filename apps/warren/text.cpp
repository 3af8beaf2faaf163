// SPDX-License-Identifier: Apache-2.0
#include "text.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace warren::app {

std::string Table::take() {
  std::size_t width = 0;
  for (const auto& [label, value] : rows_) width = std::max(width, label.size());
  std::string text;
  for (const auto& [label, value] : rows_) text += fmt::format("{:<{}}  {}\n", label, width, value);
  rows_.clear();
  return text;
}

}  // namespace warren::app
