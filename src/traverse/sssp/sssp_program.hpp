// SPDX-License-Identifier: Apache-2.0
// Single-source shortest paths as a BSP program: delta-stepping (Meyer and Sanders, Journal of
// Algorithms 2003), with a window of bins of width delta and everything farther in one list, as
// near-far does (Davidson, Baxter, Garland, Owens: Work-Efficient Parallel GPU Methods for
// Single-Source Shortest Paths, IPDPS 2014).
//
// The distance words are the truth, a queue only says where to look: a vertex stands in the bin of
// its distance, entered by the one relaxation that moved it there (the atomic minimum tells), and
// stays behind, to be skipped, in the bins of its former distances. Only what falls in the current
// bin again needs a bit, to stand in the next step's queue once. An empty window is followed by one
// that begins at the nearest far vertex.
//
// Each rank has words for all vertices: of its own the distances, of others the best that it has
// sent. What improves one is sent to the owner once a step, as an id; the owner reads the
// distance in the sender's words after the barrier. Where ranks need windows, and where scans have
// many updates, the distances go with the ids.
#pragma once

#include "traverse/sssp/sssp_relax.hpp"

namespace warren::traverse {

/// `kIsPacked`: the lists are compressed.
template <class MetricType, bool kIsPacked>
struct SsspProgram {
  using State = SsspState;
  using Metric = MetricType;
  using Word = typename Metric::Word;
  static constexpr bool kPacked = kIsPacked;
  static constexpr std::uint32_t kThreadsPerBlock = 512;
  static constexpr std::uint32_t kBlocksPerProcessor = 2;
  static constexpr std::uint32_t kScratchBytes = sizeof(SsspScratch<Word>);
  static constexpr std::uint32_t kClusterBlocks = 1;

  graph::CsrView out;
  graph::PackedRows packed;  ///< The lists of `out`, where kPacked.
  int rank = 0;
  int ranks = 1;
  Vertex source = 0;
  const Vertex* sources = nullptr;  ///< In place of `source`, where source_count > 0; ascending.
  std::uint64_t source_count = 0;
  typename Metric::Real inverse_delta = 1;
  Word bound = Metric::kUnreached;  ///< Tentative distances of this or more are none.
  const Vertex* wanted = nullptr;   ///< The search's targets: all ranks have all of them.
  std::uint64_t wanted_count = 0;
  Word* farthest = nullptr;  ///< Of own targets that are settled.
  std::uint64_t vertices = 0;
  std::uint64_t words = 0;  ///< Of a bitmap over all vertices.
  std::uint64_t cuts[kMaxRanks + 1] = {};

  Word* distance = nullptr;  ///< All vertices.
  const Word* distance_of[kMaxRanks] = {};
  Word* base = nullptr;  ///< Where the window begins.
  /// [2], by parity of the window: of this rank's far vertices. Scans take three, by bin.
  Word* nearest = nullptr;
  const Word* nearest_of[kMaxRanks] = {};
  std::uint64_t capacity = 0;  ///< Of one queue, when every vertex enters once.
  QueueEntry* bins = nullptr;  ///< kSsspBins queues.
  std::uint64_t* bin_counts = nullptr;
  QueueEntry* far[2] = {};
  std::uint64_t* far_count = nullptr;  ///< Two.
  QueueEntry* again[2] = {};
  std::uint64_t* again_count = nullptr;  ///< Three.
  BitmapWord* queued[2] = {};            ///< Own vertices in the again-queue, by its slot's parity.
  graph::EdgeChunks chunks;              ///< Of `out`, where its edges are far.
  BitmapWord* in_bin[2] = {};     ///< Then: own vertices of the current bin, of the next one.
  BitmapWord* sent = nullptr;     ///< Vertices in the send buffer.
  Vertex* send_buffer = nullptr;  ///< Updates for rank q from index cuts[q].
  const Vertex* send_buffer_of[kMaxRanks] = {};
  std::uint64_t* update_counts = nullptr;  ///< [2][kMaxRanks], by parity of the slot.
  const std::uint64_t* update_counts_of[kMaxRanks] = {};
  Word* sent_distances = nullptr;  ///< Distances of what is in the send buffer.
  const Word* sent_distances_of[kMaxRanks] = {};
  bool distances_by_windows = false;  ///< With all updates.

  WARREN_HD static State next(const State& state, const team::Sums& sums) {
    return next_phase(state, sums);
  }
  WARREN_HD static bool finished(const State& state) { return state.phase == SsspPhase::done; }

  /// Remote updates to their readers, and where the next window may begin to all.
  template <class Show>
  void show(const State& next, Show&& show) const {
    if (next.phase == SsspPhase::receive) {
      show_updates(*this, (next.slot + 1) % 2, show);
    } else if (next.phase == SsspPhase::refill) {
      show(team::kShowAll, nearest + next.window % 2, sizeof(Word));
    }
  }

  template <class Grid>
  WARREN_HD void step(Grid& grid, const State& state) const {
    switch (state.phase) {
      case SsspPhase::clear:
        clear(grid);
        break;
      case SsspPhase::seed:
        if (source_count > 0)
          seed_all(grid);
        else
          seed(grid);
        break;
      case SsspPhase::mark:
        mark(grid, state);
        break;
      case SsspPhase::relax:
        relax(grid, state);
        break;
      case SsspPhase::receive:
        receive(grid, state);
        break;
      case SsspPhase::survey:
        survey(grid, state);
        break;
      case SsspPhase::refill:
        refill(grid, state);
        break;
      case SsspPhase::check:
        check(grid, state);
        break;
      case SsspPhase::done:
        break;
    }
  }

  [[nodiscard]] WARREN_HD bool owns(Vertex v) const { return v - out.first < out.count; }
  [[nodiscard]] WARREN_HD bool is_source(Vertex v) const {
    if (source_count == 0) return v == source;
    std::uint64_t begin = 0, end = source_count;
    while (begin < end) {
      const std::uint64_t middle = begin + (end - begin) / 2;
      if (sources[middle] < v)
        begin = middle + 1;
      else
        end = middle;
    }
    return begin < source_count && sources[begin] == v;
  }
  [[nodiscard]] WARREN_HD bool claim_queued(std::uint32_t parity, Vertex v) const {
    return claim_bit(queued[parity], v);
  }
  /// Nobody sets a bit of the parity that is being worked off: the whole word may go.
  WARREN_HD void clear_queued(std::uint32_t parity, Vertex v) const {
    exec::atomic_store(queued[parity][v / kWordBits], BitmapWord{0});
  }
  [[nodiscard]] WARREN_HD std::uint64_t update_count(int from, int to, std::uint32_t parity) const {
    return update_counts_of[from][parity * kMaxRanks + static_cast<std::uint32_t>(to)];
  }
  /// Whether this rank works the bin off in the order of the edges' addresses.
  [[nodiscard]] WARREN_HD bool goes_by_address(const State& state) const {
    return state.may_go_by_address && state.is_first && bin_counts[state.bin] >= kByAddressVertices;
  }
  /// The queues that a step of this state writes.
  [[nodiscard]] WARREN_HD SsspTargets targets(const State& state) const {
    const std::uint32_t slot = state.phase == SsspPhase::receive ? state.slot : state.slot + 1;
    const std::uint32_t pile =
        (state.phase == SsspPhase::survey ? state.window + 1 : state.window) % 2;
    return {out.offsets,
            out.first,
            bins,
            capacity,
            bin_counts,
            far[pile],
            far_count + pile,
            again[slot % 2],
            again_count + slot % 3,
            send_buffer_of_slot(state.slot)};
  }
  /// f(distance) says whether no later step can improve it. Returns how many own targets of the
  /// calling thread's are settled so, and keeps the farthest.
  template <class Grid, class F>
  [[nodiscard]] WARREN_HD std::uint64_t settled_targets(Grid& grid, F&& f) const {
    std::uint64_t settled = 0;
    grid.template for_each<exec::Thread>(wanted_count, [&](auto&, std::uint64_t i) {
      if (!owns(wanted[i])) return;
      const Word value = distance[wanted[i]];
      if (value == Metric::kUnreached || !f(value)) return;
      exec::atomic_max(*farthest, value);
      ++settled;
    });
    return settled;
  }
  /// Where a step that relaxes puts its remote updates.
  [[nodiscard]] WARREN_HD SsspSendBuffer send_buffer_of_slot(std::uint32_t slot) const {
    return {send_buffer, update_counts + std::uint64_t{slot % 2} * kMaxRanks, cuts, ranks};
  }

 private:
  template <class Grid>
  WARREN_HD void clear(Grid& grid) const {
    grid.template for_each<exec::Thread>(
        vertices, [&](auto&, std::uint64_t v) { distance[v] = Metric::kUnreached; });
    grid.template for_each<exec::Thread>(words, [&](auto&, std::uint64_t w) {
      queued[0][w] = 0;
      queued[1][w] = 0;
      if (ranks > 1) sent[w] = 0;
      for (int i = 0; i < 2 && in_bin[i] != nullptr; ++i) in_bin[i][w] = 0;
    });
    if (grid.block() != 0) return;
    const auto worker = grid.block_worker();
    worker.for_each(kSsspBins, [&](std::uint64_t i) { bin_counts[i] = 0; });
    worker.for_each(3, [&](std::uint64_t i) { again_count[i] = 0; });
    worker.for_each(2 * kMaxRanks, [&](std::uint64_t i) { update_counts[i] = 0; });
    worker.for_each(2, [&](std::uint64_t i) {
      far_count[i] = 0;
      nearest[i] = Metric::kUnreached;
    });
    if (worker.lane() == 0) *base = 0;
  }

  template <class Grid>
  WARREN_HD void seed(Grid& grid) const {
    if (grid.block() != 0) return;
    const auto worker = grid.block_worker();
    if (worker.lane() == 0) distance[source] = 0;
    if (!owns(source)) return;
    const std::uint32_t pieces = pieces_of(out.degree(source - out.first));
    worker.for_each(pieces, [&](std::uint64_t p) {
      bins[p] = {source, static_cast<std::uint32_t>(p)};
    });
    if (worker.lane() == 0) bin_counts[0] = pieces;
    grid.sum(kBinned, worker.lane() == 0 ? pieces : 0);
  }

  /// The same of several sources.
  template <class Grid>
  WARREN_HD void seed_all(Grid& grid) const {
    std::uint64_t binned = 0;
    grid.template for_each<exec::Thread>(source_count, [&](auto&, std::uint64_t i) {
      const Vertex v = sources[i];
      distance[v] = 0;
      if (!owns(v)) return;
      const std::uint32_t pieces = pieces_of(out.degree(v - out.first));
      const std::uint64_t at = exec::atomic_add(bin_counts[0], std::uint64_t{pieces});
      for (std::uint32_t p = 0; p < pieces; ++p) bins[at + p] = {v, p};
      binned += pieces;
    });
    grid.sum(kBinned, binned);
  }

  template <class Grid>
  WARREN_HD void mark(Grid& grid, const State& state) const {
    if (!goes_by_address(state)) return;
    const QueueEntry* list = bins + state.bin * capacity;
    BitmapWord* marks = in_bin[state.flip];
    grid.template for_each<exec::Thread>(bin_counts[state.bin], [&](auto&, std::uint64_t i) {
      const Vertex v = list[i].vertex;
      if (list[i].piece == 0) exec::atomic_or(marks[v / kWordBits], bit_of(v));
    });
  }

  template <class Grid>
  WARREN_HD void relax(Grid& grid, const State& state) const {
    SsspRelax<Grid, SsspProgram>(grid, *this, state).run();
    if (state.may_go_by_address && state.is_first) {
      BitmapWord* marks = in_bin[state.flip ^ 1u];
      grid.template for_each<exec::Thread>(words, [&](auto&, std::uint64_t w) { marks[w] = 0; });
    }
    if (grid.block() != 0) return;
    const auto worker = grid.block_worker();
    worker.for_each(kMaxRanks, [&](std::uint64_t q) {
      update_counts[(state.slot + 1) % 2 * kMaxRanks + q] = 0;
    });
    if (worker.lane() == 0) again_count[(state.slot + 2) % 3] = 0;
  }

  template <class Grid>
  WARREN_HD void receive(Grid& grid, const State& state) const {
    SsspRelax<Grid, SsspProgram>(grid, *this, state).receive();
    clear_sent(grid, *this, (state.slot + 1) % 2);
  }

  /// f(worker, has, vertex, distance) for the far entries, by whole warps.
  template <class Grid, class F>
  WARREN_HD void for_far(Grid& grid, std::uint32_t pile, F&& f) const {
    using WarpType = typename Grid::Warp;
    constexpr std::uint32_t kLanes = Grid::kWarpLanes;
    constexpr std::uint64_t kAhead = 16;
    const std::uint64_t count = far_count[pile];
    const QueueEntry* list = far[pile];
    grid.template for_each<exec::Warp>((count + kLanes - 1) / kLanes,
                                       [&](const WarpType& worker, std::uint64_t task) {
                                         const std::uint64_t index = task * kLanes + worker.lane();
                                         if constexpr (kLanes == 1) {
                                           if (index + kAhead < count)
                                             exec::prefetch(&distance[list[index + kAhead].vertex]);
                                         }
                                         const bool has = index < count;
                                         const Vertex v = has ? list[index].vertex : 0;
                                         f(worker, has, v, has ? distance[v] : Metric::kUnreached);
                                       });
  }

  template <class Grid>
  WARREN_HD SsspStage& stage_of(Grid& grid) const {
    const auto block = grid.block_worker();
    return block.template scratch<SsspScratch<Word>>()->stage[block.lane() / Grid::kWarpLanes];
  }

  /// The bin, and all before it, are done; and with them the search where nothing else is queued.
  template <class Grid>
  WARREN_HD void check(Grid& grid, const State& state) const {
    const Word begin = *base;
    const bool is_last = state.binned == 0 && state.far == 0;
    grid.sum(kSsspSettled, settled_targets(grid, [&](Word value) {
               return is_last || value < begin ||
                      sssp_bin<Metric>(begin, value, inverse_delta) <= state.bin;
             }));
  }

  template <class Grid>
  WARREN_HD void survey(Grid& grid, const State& state) const {
    using WarpType = typename Grid::Warp;
    const SsspTargets to = targets(state);
    SsspWriter<WarpType> writer(to, stage_of(grid));
    const Word begin = *base;
    Word low = Metric::kUnreached;
    for_far(grid, state.window % 2, [&](const WarpType& worker, bool has, Vertex v, Word d) {
      const bool is_open = has && sssp_bin<Metric>(begin, d, inverse_delta) == kSsspBins;
      if (is_open && d < low) low = d;
      writer.put(worker, v, is_open ? kFarQueue : kNoQueue);
    });
    const WarpType worker;
    writer.finish(worker);
    low = worker.reduce(low, exec::Minimum{});
    if (worker.lane() == 0 && low != Metric::kUnreached)
      exec::atomic_min(nearest[(state.window + 1) % 2], low);
    grid.sum(kFar, writer.have_put().far);
    if (grid.block() == 0)
      grid.block_worker().for_each(kSsspBins, [&](std::uint64_t i) { bin_counts[i] = 0; });
  }

  template <class Grid>
  WARREN_HD void refill(Grid& grid, const State& state) const {
    using WarpType = typename Grid::Warp;
    Word begin = Metric::kUnreached;
    for (int q = 0; q < ranks; ++q) {
      const Word low = nearest_of[q][state.window % 2];
      begin = low < begin ? low : begin;
    }
    const SsspTargets to = targets(state);
    SsspWriter<WarpType> writer(to, stage_of(grid));
    for_far(grid, state.window % 2, [&](const WarpType& worker, bool has, Vertex v, Word d) {
      const std::uint32_t bin = has ? sssp_bin<Metric>(begin, d, inverse_delta) : kSsspBins;
      writer.put(worker, v, bin < kSsspBins ? bin : kNoQueue);
    });
    const WarpType worker;
    writer.finish(worker);
    grid.sum(kBinned, writer.have_put().binned);
    if (grid.block() != 0 || grid.block_worker().lane() != 0) return;
    *base = begin;
    nearest[(state.window + 1) % 2] = Metric::kUnreached;
    far_count[(state.window + 1) % 2] = 0;
  }
};

}  // namespace warren::traverse
