// SPDX-License-Identifier: Apache-2.0
#include "warren/sample/verify.hpp"

#include <algorithm>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "warren/graph/draw.hpp"
#include "warren/sample/random.hpp"

namespace warren::sample {
namespace {

template <class T>
std::vector<T> host_copy(const exec::Stream& stream, const T* data, std::uint64_t count) {
  std::vector<T> values(data == nullptr ? 0 : count);
  exec::copy(stream, values.data(), data, values.size() * sizeof(T));
  return values;
}

class Verifier {
 public:
  Verifier(const graph::Graph& graph, const HostBatch& batch, std::uint64_t seeds,
           const SamplerOptions& options, const SampleTimes& times, const SharedDraws& shared)
      : graph_(graph),
        batch_(batch),
        known_(seeds),
        options_(options),
        times_(times),
        shared_(shared) {
    for (std::uint64_t i = 0; i < seeds && !options.disjoint; ++i)
      numbers_.emplace(batch.vertices[i], static_cast<std::uint32_t>(i));
  }

  std::string run() {
    for (std::size_t h = 0; h < batch_.hops.size(); ++h) {
      std::string wrong = check_hop(h);
      if (!wrong.empty()) return fmt::format("hop {}: {}", h + 1, wrong);
    }
    if (known_ != batch_.vertices.size())
      return fmt::format("{} vertices, of which {} are named by edges", batch_.vertices.size(),
                         known_);
    return {};
  }

 private:
  std::string check_hop(std::size_t h) {
    const HostHop& hop = batch_.hops[h];
    const std::uint64_t targets = known_;
    drawn_ = options_.once ? before_ : 0;
    before_ = targets;
    if (hop.row_offsets.size() != targets + 1 || hop.row_offsets.front() != 0 ||
        hop.row_offsets.back() != hop.columns.size())
      return "the row offsets do not fit the targets and the edges";
    std::vector<std::uint32_t> counted(batch_.vertices.size(), 0);
    for (std::uint64_t i = 0; i < targets; ++i) {
      const EdgeOffset begin = hop.row_offsets[i];
      const EdgeOffset end = hop.row_offsets[i + 1];
      if (begin > end) return fmt::format("row {} ends before it begins", i);
      std::string wrong = check_row(hop, h, i, begin, end);
      if (wrong.empty() && end > begin) wrong = check_choice(h, i);
      for (EdgeOffset e = begin; e < end && wrong.empty(); ++e)
        wrong = check_number(hop.columns[e], i, counted);
      if (!wrong.empty()) return fmt::format("row {}: {}", i, wrong);
    }
    counted.resize(known_);
    if (counted != hop.duplicates) return "the counts of duplicates are not those of the columns";
    return {};
  }

  /// As many edges as there should be, to neighbours, each edge once.
  std::string check_row(const HostHop& hop, std::size_t h, std::uint64_t row, EdgeOffset begin,
                        EdgeOffset end) {
    const Vertex target = batch_.vertices[row];
    const std::uint64_t candidates =
        count_candidates(row, graph_.offsets[target], graph_.offsets[target + 1ull]);
    const std::int64_t fanout = options_.fanouts[h];
    std::uint64_t expected = candidates;
    if (fanout > 0) {
      expected = std::min(candidates, static_cast<std::uint64_t>(fanout));
      if (options_.replace && candidates > 0) expected = static_cast<std::uint64_t>(fanout);
    }
    if (row < drawn_) expected = 0;
    if (end - begin != expected)
      return fmt::format("{} edges, where {} were to be", end - begin, expected);
    ends_.clear();
    for (EdgeOffset e = begin; e < end; ++e) {
      if (hop.columns[e] >= batch_.vertices.size()) return "an edge to a vertex that is not there";
      ends_.push_back(batch_.vertices[hop.columns[e]]);
    }
    std::sort(ends_.begin(), ends_.end());
    const auto neighbours = graph_.neighbours(target);
    for (std::size_t i = 0; i < ends_.size();) {
      const auto [first, last] = std::equal_range(neighbours.begin(), neighbours.end(), ends_[i]);
      std::size_t after = i;
      while (after < ends_.size() && ends_[after] == ends_[i]) ++after;
      const EdgeOffset at =
          graph_.offsets[target] + static_cast<EdgeOffset>(first - neighbours.begin());
      const std::uint64_t present =
          count_candidates(row, at, at + static_cast<EdgeOffset>(last - first));
      if (present == 0 || (!options_.replace && after - i > present))
        return fmt::format("vertex {} is drawn {} times and is {} times {}", ends_[i], after - i,
                           present, options_.temporal ? "a neighbour by then" : "a neighbour");
      i = after;
    }
    if (options_.replace || hop.edge_ids.empty()) return {};
    ids_.assign(hop.edge_ids.begin() + static_cast<std::ptrdiff_t>(begin),
                hop.edge_ids.begin() + static_cast<std::ptrdiff_t>(end));
    std::sort(ids_.begin(), ids_.end());
    if (std::adjacent_find(ids_.begin(), ids_.end()) != ids_.end()) return "an edge is drawn twice";
    return {};
  }

  /// That the ends of a row, sorted in `ends_`, are those that the options leave no choice of.
  std::string check_choice(std::size_t h, std::uint64_t row) {
    const Vertex target = batch_.vertices[row];
    const EdgeOffset begin = graph_.offsets[target], end = graph_.offsets[target + 1ull];
    if (ends_.size() == count_candidates(row, begin, end)) return {};
    if (options_.labor) return check_shared(h, begin, end);
    return options_.temporal_last ? check_last(row, begin, end) : std::string();
  }

  /// The smallest numbers, of equal ones the first in the store's list.
  std::string check_shared(std::size_t h, EdgeOffset begin, EdgeOffset end) {
    const NeighbourDraws draws(
        options_.seed, shared_.batch,
        options_.layer_dependency ? NeighbourDraws::kAllHops : static_cast<std::uint32_t>(h));
    keys_.clear();
    for (EdgeOffset e = begin; e < end; ++e) {
      const Vertex v = graph_.targets[e];
      const Vertex id = shared_.store_ids.empty() ? v : shared_.store_ids[v];
      const double weight = options_.weighted ? weight_of(e) : 1.0;
      if (weight > 0.0) keys_.emplace_back(draws.uniform(id) / weight, id, v);
    }
    const auto taken = static_cast<std::ptrdiff_t>(ends_.size());
    std::nth_element(keys_.begin(), keys_.begin() + taken, keys_.end());
    std::vector<Vertex> expected;
    for (std::ptrdiff_t i = 0; i < taken; ++i)
      expected.push_back(std::get<2>(keys_[static_cast<std::size_t>(i)]));
    std::sort(expected.begin(), expected.end());
    if (expected == ends_) return {};
    return "the neighbours are not those with the smallest numbers";
  }

  /// As many of the latest: of their times' multiset the largest.
  std::string check_last(std::uint64_t row, EdgeOffset begin, EdgeOffset end) {
    const std::int64_t now = times_.seeds[batch_.trees[row]];
    std::vector<std::pair<std::int64_t, Vertex>> early;
    for (EdgeOffset e = begin; e < end; ++e) {
      if (times_.edges[e] <= now) early.emplace_back(times_.edges[e], graph_.targets[e]);
    }
    const auto left = static_cast<std::ptrdiff_t>(early.size() - ends_.size());
    std::nth_element(early.begin(), early.begin() + left, early.end());
    const std::int64_t first = early[static_cast<std::size_t>(left)].first;
    // Those of the first time may be others among equals.
    std::vector<Vertex> must, may;
    for (const auto& [time, v] : early) {
      if (time > first) must.push_back(v);
      if (time >= first) may.push_back(v);
    }
    std::sort(must.begin(), must.end());
    std::sort(may.begin(), may.end());
    if (std::includes(ends_.begin(), ends_.end(), must.begin(), must.end()) &&
        std::includes(may.begin(), may.end(), ends_.begin(), ends_.end()))
      return {};
    return "the edges are not the latest by then";
  }

  [[nodiscard]] double weight_of(EdgeOffset e) const {
    return graph_.weight_type == graph::WeightType::int32
               ? static_cast<double>(graph_.weights_int[e])
               : static_cast<double>(graph_.weights_float[e]);
  }

  /// Of the edges [begin, end) those that may be drawn for a row: of weights above 0, not later
  /// than the time of its seed.
  [[nodiscard]] std::uint64_t count_candidates(std::uint64_t row, EdgeOffset begin,
                                               EdgeOffset end) const {
    if (!options_.weighted && !options_.temporal) return end - begin;
    std::uint64_t count = 0;
    for (EdgeOffset e = begin; e < end; ++e) {
      const bool is_positive = !options_.weighted || weight_of(e) > 0.0;
      const bool is_early =
          !options_.temporal || times_.edges[e] <= times_.seeds[batch_.trees[row]];
      count += is_positive && is_early ? 1 : 0;
    }
    return count;
  }

  /// New vertices take the next number; others have one.
  std::string check_number(Vertex column, std::uint64_t row, std::vector<std::uint32_t>& counted) {
    ++counted[column];
    if (options_.disjoint) {
      if (column != known_) return "a vertex of another edge";
      if (batch_.trees[column] != batch_.trees[row]) return "an edge from one tree to another";
      ++known_;
      return {};
    }
    const auto next = static_cast<std::uint32_t>(known_);
    const auto [at, is_new] = numbers_.emplace(batch_.vertices[column], next);
    known_ += is_new ? 1 : 0;
    if (at->second != column)
      return fmt::format("vertex {} has the number {} and should have {}", at->first, column,
                         at->second);
    return {};
  }

  const graph::Graph& graph_;
  const HostBatch& batch_;
  std::uint64_t known_;       // Vertices numbered so far.
  std::uint64_t before_ = 0;  // Those before the last hop.
  std::uint64_t drawn_ = 0;   // Of `once`: rows of this hop that have no edges.
  const SamplerOptions& options_;
  const SampleTimes& times_;
  const SharedDraws& shared_;
  std::unordered_map<Vertex, std::uint32_t> numbers_;
  std::vector<Vertex> ends_;
  std::vector<EdgeOffset> ids_;
  std::vector<std::tuple<double, Vertex, Vertex>> keys_;  // With the id in the store, and here.
};

}  // namespace

HostBatch fetch(const exec::Stream& stream, const NeighbourSampler& sampler, std::uint32_t b,
                const BatchCounts& counts) {
  const SampledBatch batch = sampler.batch(b);
  HostBatch result;
  const std::uint64_t vertices = counts.vertices[sampler.hops()];
  result.vertices = host_copy(stream, batch.vertices, vertices);
  result.trees = host_copy(stream, batch.trees, vertices);
  for (std::uint32_t h = 0; h < sampler.hops(); ++h) {
    const SampledHop& hop = batch.hops[h];
    HostHop copy;
    copy.row_offsets = host_copy(stream, hop.row_offsets, std::uint64_t{counts.vertices[h]} + 1);
    copy.columns = host_copy(stream, hop.columns, counts.edges[h]);
    copy.edge_ids = host_copy(stream, hop.edge_ids, counts.edges[h]);
    copy.duplicates = host_copy(stream, hop.duplicates, counts.vertices[h + 1]);
    result.hops.push_back(std::move(copy));
  }
  stream.synchronize();
  return result;
}

std::string verify(const graph::Graph& graph, const HostBatch& batch, std::uint64_t seeds,
                   const SamplerOptions& options, const SampleTimes& times,
                   const SharedDraws& shared) {
  if (seeds > batch.vertices.size()) return "fewer vertices than seeds";
  for (const Vertex v : batch.vertices) {
    if (v >= graph.vertices) return fmt::format("vertex {} is not in the graph", v);
  }
  const bool has_times = times.edges.size() == graph.edges() && times.seeds.size() == seeds;
  if (options.temporal && !has_times) return "there are no times of all edges and seeds";
  return Verifier(graph, batch, seeds, options, times, shared).run();
}

std::uint64_t digest(const HostBatch& batch) {
  std::uint64_t state = 1;
  const auto take = [&](std::uint64_t value) {
    state = graph::detail::mix((state ^ value) + 0x9e3779b97f4a7c15ull);
  };
  const auto take_all = [&](const auto& values) {
    take(values.size());
    for (const auto value : values) take(value);
  };
  take_all(batch.vertices);
  for (const HostHop& hop : batch.hops) {
    take_all(hop.row_offsets);
    take_all(hop.columns);
  }
  return state;
}

}  // namespace warren::sample
