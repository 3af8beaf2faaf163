// SPDX-License-Identifier: Apache-2.0
#include "api/report/rows.hpp"

#include <string>

#include "warren/core/quantity.hpp"

namespace warren::api {

Json rows_json(const graph::MovedRows& rows) {
  return {{"broadcast", rows.broadcast},
          {"per_edge", rows.per_edge},
          {"once", rows.once},
          {"fused", rows.fused},
          {"cover", rows.cover}};
}

Json candidates_json(const std::vector<sparse::Candidate>& candidates) {
  Json list = Json::array();
  for (const sparse::Candidate& candidate : candidates) {
    const auto& o = candidate.options;
    const double measured = candidate.measured_seconds;
    list.push_back({{"strategy", sparse::name_of(o.strategy)},
                    {"workgroup", o.workgroup},
                    {"chunks", o.chunks},
                    {"copy", o.copy_processors},
                    {"ps", o.piece_entries},
                    {"dist", o.interleave},
                    {"wpb", o.warps_per_block},
                    {"rows_moved", candidate.rows_moved},
                    {"predicted_seconds", candidate.predicted_seconds},
                    {"measured_seconds", measured > 0.0 ? Json(measured) : Json(nullptr)}});
  }
  return list;
}

void print_candidates(Text& text, const std::vector<sparse::Candidate>& candidates) {
  if (candidates.empty()) return;
  text.print("\n{:<20} {:>9} {:>6} {:>4} {:>5} {:>5} {:>4} {:>14} {:>11} {:>11}\n", "strategy",
             "workgroup", "chunks", "copy", "ps", "dist", "wpb", "rows moved", "predicted",
             "measured");
  for (const sparse::Candidate& candidate : candidates) {
    const auto& o = candidate.options;
    text.print(
        "{:<20} {:>9} {:>6} {:>4} {:>5} {:>5} {:>4} {:>14} {:>11} {:>11}\n",
        sparse::name_of(o.strategy), o.workgroup == 0 ? "all" : std::to_string(o.workgroup),
        o.chunks == 0 ? "auto" : std::to_string(o.chunks), o.copy_processors, o.piece_entries,
        o.interleave == o.kNoInterleaving ? "off" : std::to_string(o.interleave), o.warps_per_block,
        thousands(candidate.rows_moved), duration(candidate.predicted_seconds),
        candidate.measured_seconds > 0.0 ? duration(candidate.measured_seconds) : "-");
  }
}

}  // namespace warren::api
