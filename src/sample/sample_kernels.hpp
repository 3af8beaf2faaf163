// SPDX-License-Identifier: Apache-2.0
// The kernels that choose neighbours: how many each target gets, where its edges go, which ones.
#pragma once

#include "warren/sample/flight.hpp"

#include "sample/choose.hpp"

namespace warren::sample::detail {

/// Numbers the seeds as they come. Tasks: chunks of seeds of each batch.
struct PlaceSeeds {
  Flight flight;
  std::uint64_t chunks;
  const Vertex* seeds;
  std::uint64_t count;
  std::uint64_t batch_seeds;
  std::uint64_t vertices;
  bool disjoint;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t task) const {
    const TaskPlace at(task, chunks);
    const std::uint64_t first = at.batch * batch_seeds;
    const std::uint64_t here = count - first < batch_seeds ? count - first : batch_seeds;
    const VertexTable table = flight.table_of(at.batch);
    BatchCounts& counts = flight.counts[at.batch];
    if (at.chunk == 0 && worker.lane() == 0) counts.vertices[0] = static_cast<std::uint32_t>(here);
    const Stretch<W> mine(worker, at.chunk, here);
    for (std::uint64_t i = mine.begin; i < mine.end; ++i) {
      const Vertex v = seeds[first + i];
      flight.vertices[at.batch * flight.vertex_stride + i] = v;
      if (disjoint)
        flight.trees[at.batch * flight.vertex_stride + i] = static_cast<std::uint32_t>(i);
      if (v >= vertices) {
        exec::atomic_max(counts.status, std::uint32_t{kNoSuchSeed});
      } else if (!disjoint) {
        table.insert(v, static_cast<std::uint32_t>(i));
      }
    }
  }
};

/// Finds the targets' lists and how many neighbours each will get; row offsets within the chunk,
/// and the chunk's sum. Tasks: chunks of targets of each batch.
struct CountNeighbours {
  StoreView store;
  Flight flight;
  Hop hop;
  std::uint64_t chunks;
  const std::int64_t* times;
  std::uint64_t batch_seeds;
  bool replace;
  bool weighted;
  bool once;
  bool temporal_last;

  /// Edges of the list that are not later than `time`.
  [[nodiscard]] WARREN_HD std::uint32_t not_later(const NeighbourList& list,
                                                  std::int64_t time) const {
    if (list.degree == 0) return 0;  // Its rank may have no edges at all.
    const std::int64_t* const first = store.times[list.owner] + list.begin;
    return first_place(list.degree, [&](std::uint32_t place) { return first[place] > time; });
  }
  /// Neighbours that can be chosen at all.
  [[nodiscard]] WARREN_HD std::uint32_t candidates(const NeighbourList& list) const {
    if (!weighted || !store.has_zero_weights) return list.degree;
    std::uint32_t positive = 0;
    for (std::uint32_t i = 0; i < list.degree; ++i)
      positive += store.weight(list.owner, list.begin + i) > 0.0 ? 1 : 0;
    return positive;
  }

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t task) const {
    const TaskPlace at(task, chunks);
    const BatchCounts& counts = flight.counts[at.batch];
    const std::uint64_t targets = counts.vertices[hop.index];
    if (at.chunk * kChunk >= targets || counts.status != kGood) return;
    const Vertex* const vertices = flight.vertices + at.batch * flight.vertex_stride;
    EdgeOffset* const rows = hop.row_offsets + at.batch * hop.row_stride;
    const Stretch<W> mine(worker, at.chunk, targets);
    const std::uint64_t drawn = once && hop.index > 0 ? counts.vertices[hop.index - 1] : 0;
    std::uint64_t sum = 0;
    for (std::uint64_t i = mine.begin; i < mine.end; ++i) {
      if (i < drawn) {  // By an earlier hop.
        flight.degrees[at.batch * flight.target_stride + i] = 0;
        rows[i] = 0;
        continue;
      }
      if constexpr (kIsSerial<W>) foresee(vertices, i, mine.end);
      NeighbourList list = store.list(vertices[i]);
      if (times != nullptr) {
        const std::uint32_t tree = flight.trees[at.batch * flight.vertex_stride + i];
        list.degree = not_later(list, times[at.batch * batch_seeds + tree]);
        if (temporal_last && list.degree > hop.fanout) {  // What is left is taken whole.
          list.begin += list.degree - hop.fanout;
          list.degree = hop.fanout;
        }
      }
      const std::uint32_t n = candidates(list);
      const std::uint32_t all = hop.fanout < n ? hop.fanout : n;
      const std::uint32_t taken =
          replace && n > 0 && hop.fanout != kAllNeighbours ? hop.fanout : all;
      flight.begins[at.batch * flight.target_stride + i] = list.begin;
      flight.degrees[at.batch * flight.target_stride + i] = list.degree;
      rows[i] = taken;
      sum += taken;
    }
    std::uint64_t before = worker.exclusive_scan(sum);
    for (std::uint64_t i = mine.begin; i < mine.end; ++i) {
      const EdgeOffset taken = rows[i];
      rows[i] = before;
      before += taken;
    }
    const std::uint64_t total = worker.reduce(sum, exec::Plus{});
    if (worker.lane() == 0) flight.chunk_sums[at.batch * flight.chunk_stride + at.chunk] = total;
  }

 private:
  WARREN_HD void foresee(const Vertex* vertices, std::uint64_t i, std::uint64_t end) const {
    constexpr std::uint64_t kAhead = 16;
    if (i + kAhead >= end) return;
    const Vertex v = vertices[i + kAhead];
    const int q = store.owner(v);
    exec::prefetch(store.offsets[q] + (v - store.cuts[q]));
  }
};

/// Sums of the chunks before each one, and the hop's edges (of targets' chunks) or the vertices
/// after the hop (of edges' chunks). Tasks: batches.
struct ScanChunks {
  Flight flight;
  Hop hop;
  bool of_targets;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t batch) const {
    BatchCounts& counts = flight.counts[batch];
    if (counts.status != kGood) return;
    const std::uint64_t targets = counts.vertices[hop.index];
    const std::uint64_t chunks = chunk_count(of_targets ? targets : counts.edges[hop.index]);
    std::uint64_t* const sums = flight.chunk_sums + batch * flight.chunk_stride;
    const std::uint64_t each = (chunks + worker.size() - 1) / worker.size();
    const std::uint64_t begin = worker.lane() * each;
    const std::uint64_t end = begin + each < chunks ? begin + each : chunks;
    std::uint64_t sum = 0;
    for (std::uint64_t c = begin; c < end; ++c) sum += sums[c];
    std::uint64_t before = worker.exclusive_scan(sum);
    const std::uint64_t total = worker.reduce(sum, exec::Plus{});
    for (std::uint64_t c = begin; c < end; ++c) {
      const std::uint64_t own = sums[c];
      sums[c] = before;
      before += own;
    }
    worker.sync();
    if (worker.lane() != 0) return;
    if (!of_targets) {
      counts.vertices[hop.index + 1] = static_cast<std::uint32_t>(targets + total);
    } else if (total > hop.most_edges) {
      counts.status = kTooManyEdges;
      counts.needed = total;
    } else {
      counts.edges[hop.index] = static_cast<std::uint32_t>(total);
      hop.row_offsets[batch * hop.row_stride + targets] = total;
    }
  }

 private:
  static WARREN_HD std::uint64_t chunk_count(std::uint64_t items) {
    return (items + kChunk - 1) / kChunk;
  }
};

enum class Choice { uniform, replacement, keys, shared_keys, sums };

/// Chooses the neighbours of targets. Tasks: groups of targets of each batch.
template <Choice kChoice>
struct ChooseNeighbours {
  StoreView store;
  Flight flight;
  Hop hop;
  std::uint64_t groups;       // Of one batch.
  std::uint64_t group;        // Targets of a task.
  std::uint64_t tasks;        // Of all batches.
  std::uint64_t task_stride;  // A task of the launch does every task_stride-th one.
  std::uint64_t seed;
  std::uint64_t first_batch;
  bool weighted;          // Of shared keys.
  bool layer_dependency;  // Likewise.
  std::uint64_t* scratch;
  std::uint64_t scratch_words;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t launched) const {
    std::uint64_t* const own = scratch == nullptr ? worker.template scratch<std::uint64_t>()
                                                  : scratch + launched * scratch_words;
    for (std::uint64_t task = launched; task < tasks; task += task_stride) {
      const TaskPlace at(task, groups);
      const BatchCounts& counts = flight.counts[at.batch];
      const std::uint64_t targets = counts.vertices[hop.index];
      const std::uint64_t first = at.chunk * group;
      if (first >= targets || counts.status != kGood) continue;
      const std::uint64_t end = first + group < targets ? first + group : targets;
      for (std::uint64_t i = first; i < end; ++i) choose(worker, at.batch, i, own, targets);
    }
  }

 private:
  template <class W>
  WARREN_HD void choose(const W& worker, std::uint64_t batch, std::uint64_t i, std::uint64_t* own,
                        std::uint64_t targets) const {
    const std::uint64_t at = batch * flight.target_stride + i;
    if constexpr (kIsSerial<W>) foresee(batch, i, targets);
    EdgeOffset& row = hop.row_offsets[batch * hop.row_stride + i];
    const EdgeOffset out = row + flight.chunk_sums[batch * flight.chunk_stride + i / kChunk];
    const std::uint32_t n = flight.degrees[at];
    worker.sync();
    if (worker.lane() == 0) row = out;
    if (n == 0) return;
    const EdgeOffset begin = flight.begins[at];
    const Vertex target = flight.vertices[batch * flight.vertex_stride + i];
    const int q = store.owner(target);
    const Vertex* const list = store.targets[q] + begin;
    Vertex* const columns = hop.columns + batch * hop.most_edges + out;
    EdgeOffset* const ids =
        hop.edge_ids == nullptr ? nullptr : hop.edge_ids + batch * hop.most_edges + out;
    float* const weights =
        hop.weights == nullptr ? nullptr : hop.weights + batch * hop.most_edges + out;
    const TargetDraws draws(seed, first_batch + batch, hop.index, static_cast<std::uint32_t>(i));
    const auto emit = [&](std::uint32_t slot, std::uint32_t place) {
      columns[slot] = list[place];
      if (ids != nullptr) ids[slot] = store.edge_id(q, begin + place);
      if (weights != nullptr) weights[slot] = static_cast<float>(store.weight(q, begin + place));
    };
    if constexpr (kChoice == Choice::uniform) {
      choose_uniformly(worker, draws, n, hop.fanout, own, emit);
    } else if constexpr (kChoice == Choice::replacement) {
      choose_with_replacement(worker, draws, n, hop.fanout, emit);
    } else if constexpr (kChoice == Choice::sums) {
      const double* const sums = store.cumulative[q] + begin;
      if (sums[n - 1] > 0.0) choose_by_sums(worker, draws, sums, n, hop.fanout, emit);
    } else if constexpr (kChoice == Choice::keys) {
      const auto key_of = [&](std::uint32_t place) {
        return weighted_key(draws, place, store.weight(q, begin + place));
      };
      if (!takes_all(worker, q, begin, n, true, emit))
        choose_by_keys(worker, n, hop.fanout, own, key_of, emit);
    } else {
      const NeighbourDraws shared(seed, first_batch + batch,
                                  layer_dependency ? NeighbourDraws::kAllHops : hop.index);
      const auto key_of = [&](std::uint32_t place) {
        return shared_key(shared, list[place], weighted ? store.weight(q, begin + place) : 1.0);
      };
      if (!takes_all(worker, q, begin, n, weighted, emit))
        choose_by_keys(worker, n, hop.fanout, own, key_of, emit);
    }
  }

  /// Takes the whole list in order, of weights those above 0, where it is no longer than the
  /// fanout.
  template <class W, class Emit>
  WARREN_HD bool takes_all(const W& worker, int q, EdgeOffset begin, std::uint32_t n,
                           bool has_weights, Emit&& emit) const {
    if (n > hop.fanout) return false;
    if (!has_weights || !store.has_zero_weights) {
      worker.for_each(n, [&](std::uint64_t i) {
        emit(static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(i));
      });
      return true;
    }
    std::uint32_t before = 0;
    for (std::uint32_t base = 0; base < n; base += worker.size()) {
      const std::uint32_t place = base + worker.lane();
      const bool is_taken = place < n && store.weight(q, begin + place) > 0.0;
      const std::uint32_t rank = worker.exclusive_scan(is_taken ? 1u : 0u);
      if (is_taken) emit(before + rank, place);
      before += worker.count(is_taken);
      if (n - base <= worker.size()) break;
    }
    return true;
  }

  /// Asks for the list of a target further on.
  WARREN_HD void foresee(std::uint64_t batch, std::uint64_t i, std::uint64_t targets) const {
    constexpr std::uint64_t kAhead = 6;
    constexpr std::uint32_t kLine = 64 / sizeof(Vertex);
    constexpr std::uint32_t kMost = 8 * kLine;
    if (i + kAhead >= targets) return;
    const std::uint64_t next = batch * flight.target_stride + i + kAhead;
    const std::uint32_t n = flight.degrees[next] < kMost ? flight.degrees[next] : kMost;
    if (n == 0) return;
    const int q = store.owner(flight.vertices[batch * flight.vertex_stride + i + kAhead]);
    const Vertex* const list = store.targets[q] + flight.begins[next];
    for (std::uint32_t place = 0; place < n; place += kLine) exec::prefetch(list + place);
  }
};

}  // namespace warren::sample::detail
