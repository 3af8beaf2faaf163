// SPDX-License-Identifier: Apache-2.0
// What must hold of a graph's arrays, checked.
#include "warren/graph/graph.hpp"

#include <atomic>
#include <mutex>
#include <optional>

#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/graph/transform.hpp"

namespace warren::graph {
namespace {

constexpr std::uint64_t kCheckGrain = std::uint64_t{1} << 16;

// The smallest i in [0, size) for which bad(i), found in parallel.
template <class Bad>
std::optional<std::uint64_t> find_first(std::uint64_t size, exec::ThreadPool& pool, Bad&& bad) {
  std::atomic<std::uint64_t> first{size};
  pool.parallel_for(0, size, kCheckGrain, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t i = begin; i < end && i < first.load(std::memory_order_relaxed); ++i) {
      if (!bad(i)) continue;
      std::uint64_t seen = first.load(std::memory_order_relaxed);
      while (i < seen && !first.compare_exchange_weak(seen, i, std::memory_order_relaxed)) {
      }
      return;
    }
  });
  if (first == size) return std::nullopt;
  return first.load();
}

void check_weights(const Graph& graph, const std::string& name) {
  const EdgeOffset m = graph.edges();
  const std::uint64_t want_int = graph.weight_type == WeightType::int32 ? m : 0;
  const std::uint64_t want_float = graph.weight_type == WeightType::float32 ? m : 0;
  if (graph.weights_int.size() != want_int || graph.weights_float.size() != want_float) {
    throw InputError(fmt::format(
        "{}: {} integer and {} float weights for {} edges; there should be {} and {}", name,
        graph.weights_int.size(), graph.weights_float.size(), m, want_int, want_float));
  }
}

}  // namespace

void validate(const Graph& graph, const std::string& name, exec::ThreadPool& pool) {
  const std::uint64_t n = graph.vertices;
  const EdgeOffset m = graph.edges();
  const EdgeOffset* offsets = graph.offsets.data();
  if (graph.offsets.size() != n + 1) {
    throw InputError(
        fmt::format("{}: {} offsets for {} vertices; there should be one more than vertices", name,
                    graph.offsets.size(), n));
  }
  if (offsets[0] != 0)
    throw InputError(fmt::format("{}: the first offset is {}; it should be 0", name, offsets[0]));
  if (const auto v =
          find_first(n, pool, [&](std::uint64_t i) { return offsets[i] > offsets[i + 1]; })) {
    throw InputError(
        fmt::format("{}: the offsets of vertex {} fall from {} to {}; they should ascend", name, *v,
                    offsets[*v], offsets[*v + 1]));
  }
  if (offsets[n] != m) {
    throw InputError(fmt::format("{}: the last offset is {} for {} edges; they should be equal",
                                 name, offsets[n], m));
  }
  const Vertex* targets = graph.targets.data();
  if (const auto e = find_first(m, pool, [&](std::uint64_t i) { return targets[i] >= n; })) {
    throw InputError(fmt::format("{}: edge {} leads to vertex {}; ids should be below {}", name, *e,
                                 targets[*e], n));
  }
  check_weights(graph, name);
  if (!graph.original_ids.empty() && graph.original_ids.size() != n) {
    throw InputError(fmt::format("{}: {} original ids for {} vertices; there should be one each",
                                 name, graph.original_ids.size(), n));
  }
}

}  // namespace warren::graph
