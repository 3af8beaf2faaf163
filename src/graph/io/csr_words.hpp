// SPDX-License-Identifier: Apache-2.0
// What readers say of offsets and original ids that are none, however they come to look at them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/core/types.hpp"

namespace warren::graph::io {

/// Of an offset of row 0 that is not 0.
[[nodiscard]] inline std::string first_row_words(EdgeOffset begin) {
  return fmt::format("the first row begins with edge {}; it must begin with edge 0", begin);
}
/// Of a row that ends before it begins, or past the last edge.
[[nodiscard]] inline std::string row_words(std::uint64_t row, EdgeOffset begin, EdgeOffset end,
                                           std::uint64_t edges) {
  return fmt::format(
      "row {} goes from edge {} to {}; offsets must ascend up to {}, the number of edges", row,
      begin, end, edges);
}
/// Of a last row that does not end with the last edge.
[[nodiscard]] inline std::string last_row_words(EdgeOffset end, std::uint64_t edges) {
  return fmt::format("the last row ends with edge {}; it must end with {}, the number of edges",
                     end, edges);
}

/// Original ids, of which some are told at a time, from vertex 0 on.
class AscendingIds {
 public:
  explicit AscendingIds(std::string_view path) : path_(path) {}

  /// Throws InputError, naming the vertex, for an id that is not above the one before.
  void look(std::span<const std::uint64_t> ids) {
    for (const std::uint64_t id : ids) {
      if (vertex_ > 0 && id <= before_)
        throw InputError(
            fmt::format("{}: the original id of vertex {} is not above that of the "
                        "vertex before; ids must ascend",
                        path_, vertex_));
      before_ = id;
      ++vertex_;
    }
  }

 private:
  std::string_view path_;
  std::uint64_t vertex_ = 0, before_ = 0;
};

}  // namespace warren::graph::io
