// SPDX-License-Identifier: Apache-2.0
#include "candidates.hpp"

#include <fmt/format.h>

#include "text.hpp"

namespace warren::app {
namespace {

Json describe(const sparse::Candidate& candidate) {
  return {{"strategy", sparse::name_of(candidate.options.strategy)},
          {"workgroup", candidate.options.workgroup},
          {"chunks", candidate.options.chunks},
          {"copy", candidate.options.copy_processors},
          {"ps", candidate.options.piece_entries},
          {"dist", candidate.options.interleave},
          {"wpb", candidate.options.warps_per_block},
          {"rows_moved", candidate.rows_moved},
          {"predicted_seconds", candidate.predicted_seconds},
          {"measured_seconds",
           candidate.measured_seconds > 0.0 ? Json(candidate.measured_seconds) : Json(nullptr)}};
}

}  // namespace

void report_candidates(Session& session, const std::vector<sparse::Candidate>& candidates) {
  Json list = Json::array();
  if (!candidates.empty())
    session.print("\n{:<20} {:>9} {:>6} {:>4} {:>5} {:>5} {:>4} {:>14} {:>11} {:>11}\n", "strategy",
                  "workgroup", "chunks", "copy", "ps", "dist", "wpb", "rows moved", "predicted",
                  "measured");
  for (const sparse::Candidate& candidate : candidates) {
    list.push_back(describe(candidate));
    const auto& o = candidate.options;
    session.print(
        "{:<20} {:>9} {:>6} {:>4} {:>5} {:>5} {:>4} {:>14} {:>11} {:>11}\n",
        sparse::name_of(o.strategy), o.workgroup == 0 ? "all" : std::to_string(o.workgroup),
        o.chunks == 0 ? "auto" : std::to_string(o.chunks), o.copy_processors, o.piece_entries,
        o.interleave == o.kNoInterleaving ? "off" : std::to_string(o.interleave), o.warps_per_block,
        thousands(candidate.rows_moved), duration(candidate.predicted_seconds),
        candidate.measured_seconds > 0.0 ? duration(candidate.measured_seconds) : "-");
  }
  session.json()["candidates"] = list;
}

}  // namespace warren::app
