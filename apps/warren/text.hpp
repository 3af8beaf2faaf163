// SPDX-License-Identifier: Apache-2.0
// Aligned tables of what a run tells.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "warren/core/quantity.hpp"

namespace warren::app {

/// Two columns: labels to the left, values behind them. Ends with a newline.
class Table {
 public:
  void row(std::string label, std::string value) {
    rows_.emplace_back(std::move(label), std::move(value));
  }
  /// The text of all rows, which are gone then; empty without any.
  [[nodiscard]] std::string take();

 private:
  std::vector<std::pair<std::string, std::string>> rows_;
};

}  // namespace warren::app
