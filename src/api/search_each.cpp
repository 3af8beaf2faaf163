// SPDX-License-Identifier: Apache-2.0
#include "warren/api/search_each.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

#include "warren/core/error.hpp"
#include "warren/memory/host_array.hpp"

#include "api/array_memory.hpp"
#include "api/call.hpp"
#include "api/interrupt.hpp"
#include "api/progress.hpp"

namespace warren {
namespace {

/// Arrays of equal size, one behind the other in host memory.
template <class T>
class SharedRows {
 public:
  SharedRows(std::uint64_t rows, std::uint64_t size) : size_(size), values_(rows * size) {}

  /// Moves the array into a row.
  void take(std::uint64_t row, Array<T>& array) {
    const std::span<const T> from = array.host();
    std::ranges::copy(from, values_.data() + row * size_);
    array = part(row * size_, size_);
  }
  [[nodiscard]] Array<T> all() { return part(0, values_.size()); }

 private:
  [[nodiscard]] Array<T> part(std::uint64_t begin, std::uint64_t size) {
    if (size == 0) return {};
    auto* data = reinterpret_cast<std::byte*>(values_.data() + begin);
    const memory::HostArray<std::byte> bytes(data, size * sizeof(T),
                                             std::make_shared<memory::HostArray<T>>(values_));
    return {std::make_shared<api::ArrayMemory>(bytes), size};
  }

  std::uint64_t size_;
  memory::HostArray<T> values_;
};

template <class Options>
void check_each(const Graph& graph, std::span<const Vertex> sources, const Options& options) {
  require(!sources.empty(), "sources: got none, expected one vertex or more");
  require(options.source == 0 && options.sources.empty(),
          "options: got a source, but searches start from each of `sources`: leave it out");
  require(options.run.arrays != ResultArrays::none,
          "options.run.arrays: got none, expected arrays: bfs_together() makes none");
  for (const Vertex source : sources) api::check_vertex(graph, source, "sources");
}

/// After each search: short ones end before they look whether they are interrupted.
void tell_one_more(ProgressCount& count) {
  count.advance(1);
  if (api::should_interrupt()) throw Interrupted("the call was interrupted");
  api::tell_progress(count);
}

}  // namespace

BfsSearches bfs_from_each(const Graph& graph, std::span<const Vertex> sources, BfsOptions options) {
  check_each(graph, sources, options);
  BfsSearches found;
  SharedRows<Vertex> depth(sources.size(), graph.vertices()),
      parent(sources.size(), graph.vertices());
  ProgressCount count;
  count.expect("sources", sources.size());
  for (std::size_t s = 0; s < sources.size(); ++s) {
    options.source = sources[s];
    BfsResult& result = found.each.emplace_back(bfs(graph, options));
    depth.take(s, result.depth);
    parent.take(s, result.parent);
    tell_one_more(count);
  }
  found.depth = depth.all();
  found.parent = parent.all();
  return found;
}

SsspSearches sssp_from_each(const Graph& graph, std::span<const Vertex> sources,
                            SsspOptions options) {
  check_each(graph, sources, options);
  SsspSearches found;
  std::optional<SharedRows<std::int64_t>> distance;
  std::optional<SharedRows<double>> real_distance;
  const auto take = [&](auto& rows, std::size_t s, auto& array) {
    if (!rows) rows.emplace(sources.size(), graph.vertices());
    rows->take(s, array);
  };
  ProgressCount count;
  count.expect("sources", sources.size());
  for (std::size_t s = 0; s < sources.size(); ++s) {
    options.source = sources[s];
    SsspResult& result = found.each.emplace_back(sssp(graph, options));
    if (result.is_integer)
      take(distance, s, result.distance);
    else
      take(real_distance, s, result.real_distance);
    tell_one_more(count);
  }
  if (distance) found.distance = distance->all();
  if (real_distance) found.real_distance = real_distance->all();
  return found;
}

}  // namespace warren
