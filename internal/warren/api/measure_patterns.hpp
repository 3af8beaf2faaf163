// SPDX-License-Identifier: Apache-2.0
// Timed breadth-first searches whose neighbour lists lie in host memory, by the pattern in which
// they are read, and by warren's own traversals (EMOGI: Min et al., VLDB 2020).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "warren/api/graph.hpp"
#include "warren/api/ranks.hpp"

namespace warren::api {

/// One way of searching, over all sources.
struct PatternFigures {
  std::string name;
  std::vector<double> seconds;  ///< One a source.
  double mean_seconds = 0.0;
  double bytes = 0.0;               ///< Read from host memory, the mean over the sources.
  double rate = 0.0;                ///< `bytes` a second.
  double amplification = 0.0;       ///< `bytes` over those of all lists.
  bool has_requests = false;        ///< The reads were counted:
  double requests = 0.0;            ///< of a search in the mean,
  std::array<double, 4> by_size{};  ///< and those of 32, 64, 96 and 128 bytes.
  bool has_pages = false;           ///< `bytes` are those of the pages in which lists were read.
};

struct PatternsResult {
  std::uint64_t graph_edges = 0;
  double list_bytes = 0.0;       ///< Of all neighbour lists.
  double sequential_rate = 0.0;  ///< Bytes a second, read from first to last.
  std::uint64_t page_bytes = 0;  ///< The least that a driver moves between a host and a GPU.
  std::vector<PatternFigures> figures;
  std::string left_out;  ///< Why lists were not in managed memory; empty where they were.
};

/// The paper's patterns (strided, merged, merged and aligned), managed memory where that is safe,
/// and warren's traversals, each from every one of `sources` after a search that warms up, on one
/// rank. `where` places the lists in host memory. Throws UsageError for several ranks and for no
/// sources, MemoryError.
[[nodiscard]] PatternsResult measure_patterns(const Graph& graph, const WhereOptions& where,
                                              const std::vector<Vertex>& sources);

}  // namespace warren::api
