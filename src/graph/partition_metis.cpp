// SPDX-License-Identifier: Apache-2.0
// METIS: its types from its header, its functions from the shared library, loaded when asked for,
// so that warren starts where there is none.
#include "warren/graph/partition_metis.hpp"

#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/core/interrupt_point.hpp"
#include "warren/core/shared_library.hpp"
#include "warren/graph/transform.hpp"

#if WARREN_HAS_METIS
#include <algorithm>
#include <limits>
#include <new>
#include <numeric>
#include <vector>

#include <metis.h>
#endif

namespace warren::graph {

#if WARREN_HAS_METIS
namespace {

constexpr const char* kName = "libmetis.so.5";
constexpr std::uint64_t kFewVertices = 32;  // Of a part: METIS complains of parts without any.

struct MetisLibrary {
  decltype(&::METIS_SetDefaultOptions) set_default_options = nullptr;
  decltype(&::METIS_PartGraphKway) part_graph_kway = nullptr;
  std::string reason;
};

MetisLibrary load() {
  MetisLibrary library;
  SharedLibrary shared({kName});
  shared.find(library.set_default_options, "METIS_SetDefaultOptions");
  shared.find(library.part_graph_kway, "METIS_PartGraphKway");
  if (!shared.reason().empty())
    library.reason = fmt::format("{} (Debian's package libmetis5)", shared.reason());
  return library;
}

const MetisLibrary& metis_library() {
  static const MetisLibrary library = load();
  return library;
}

/// A graph as METIS takes it: undirected, without loops and duplicates.
struct MetisGraph {
  std::vector<idx_t> offsets, targets, weights;
};

MetisGraph to_metis(const Graph& graph, const Graph& undirected) {
  MetisGraph result;
  const auto most = static_cast<std::uint64_t>(std::numeric_limits<idx_t>::max());
  if (undirected.edges() > most || graph.edges() + graph.vertices > most) {
    throw UsageError(fmt::format("METIS counts to {} entries; this graph, undirected, has {}", most,
                                 std::max(undirected.edges(), graph.edges() + graph.vertices)));
  }
  result.offsets.reserve(graph.vertices + std::size_t{1});
  result.offsets.push_back(0);
  result.targets.reserve(undirected.edges());
  result.weights.reserve(graph.vertices);
  SeldomInterruptPoint point;
  for (Vertex v = 0; v < graph.vertices; ++v) {
    point();
    Vertex last = v;
    for (const Vertex u : undirected.neighbours(v)) {
      if (u != v && u != last) result.targets.push_back(static_cast<idx_t>(u));
      last = u;
    }
    result.offsets.push_back(static_cast<idx_t>(result.targets.size()));
    result.weights.push_back(static_cast<idx_t>(graph.degree(v) + 1));
  }
  return result;
}

std::vector<idx_t> parts_of(MetisGraph& graph, int parts, std::uint64_t seed) {
  const MetisLibrary& library = metis_library();
  idx_t options[METIS_NOPTIONS];
  library.set_default_options(options);
  options[METIS_OPTION_NUMBERING] = 0;
  options[METIS_OPTION_SEED] =
      static_cast<idx_t>(seed % static_cast<std::uint64_t>(std::numeric_limits<idx_t>::max()));
  auto vertices = static_cast<idx_t>(graph.weights.size());
  idx_t constraints = 1;
  auto count = static_cast<idx_t>(parts);
  idx_t cut = 0;
  std::vector<idx_t> part(graph.weights.size());
  const int status = library.part_graph_kway(
      &vertices, &constraints, graph.offsets.data(), graph.targets.data(), graph.weights.data(),
      nullptr, nullptr, &count, nullptr, nullptr, options, &cut, part.data());
  if (status == METIS_ERROR_MEMORY) throw std::bad_alloc();
  require(status == METIS_OK, fmt::format("METIS ended with its error {}", status));
  return part;
}

}  // namespace

const std::string& metis_missing() { return metis_library().reason; }

Partition partition_metis(const Graph& graph, int parts, std::uint64_t seed,
                          exec::ThreadPool& pool) {
  Partition partition = partition_ranges(graph, parts);
  if (!metis_missing().empty())
    throw UsageError(fmt::format("the method metis needs METIS: {}", metis_missing()));
  if (parts == 1 || graph.vertices / kFewVertices < static_cast<std::uint64_t>(parts))
    return partition;
  Graph undirected = graph;
  if (!is_symmetric(undirected, pool)) {
    drop_weights(undirected);
    undirected = symmetrize(undirected, false, pool);
  }
  MetisGraph metis = to_metis(graph, undirected);
  undirected = Graph();
  const std::vector<idx_t> part = parts_of(metis, parts, seed);
  metis = MetisGraph();

  partition.cuts.assign(static_cast<std::size_t>(parts) + 1, 0);
  for (const idx_t p : part) ++partition.cuts[static_cast<std::size_t>(p) + 1];
  std::partial_sum(partition.cuts.begin(), partition.cuts.end(), partition.cuts.begin());
  std::vector<std::uint64_t> next(partition.cuts.begin(), partition.cuts.end() - 1);
  partition.new_id = memory::HostArray<Vertex>(graph.vertices);
  partition.old_id = memory::HostArray<Vertex>(graph.vertices);
  for (Vertex v = 0; v < graph.vertices; ++v) {
    const std::uint64_t id = next[static_cast<std::size_t>(part[v])]++;
    partition.new_id[v] = static_cast<Vertex>(id);
    partition.old_id[id] = v;
  }
  return partition;
}
#else
const std::string& metis_missing() {
  static const std::string reason = "warren was built without its header metis.h";
  return reason;
}

Partition partition_metis(const Graph& /*graph*/, int /*parts*/, std::uint64_t /*seed*/,
                          exec::ThreadPool& /*pool*/) {
  throw UsageError(fmt::format("the method metis needs METIS: {}", metis_missing()));
}
#endif

}  // namespace warren::graph
