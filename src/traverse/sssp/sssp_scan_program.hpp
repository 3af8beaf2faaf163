// SPDX-License-Identifier: Apache-2.0
// Single-source shortest paths without bins' queues, for graphs whose bins hold many vertices: a
// bin's vertices are found by looking at all distances, which are a few bytes for each vertex where
// a neighbour list is hundreds. A relaxation then costs no more than its atomic minimum, and the
// next bin begins at the least distance that was seen beyond this one. Within a bin, vertices that
// fall in it after they were looked for stand in a queue, once.
//
// The words, the queue and the updates between ranks are SsspProgram's.
#pragma once

#include "traverse/sssp/sssp_program.hpp"
#include "traverse/sssp/sssp_scan_state.hpp"

namespace warren::traverse {

/// A block's scratch.
struct SsspScanScratch {
  static constexpr std::uint32_t kMaxWarps = 16;
  static constexpr std::uint32_t kStretch = 128;  ///< Rows of a task.
  SsspStage stage[kMaxWarps];
  /// Found, to be worked off a warp's lanes at a time: of a stretch, and those left before it.
  Vertex rows[kMaxWarps][kStretch + 32];
};

template <class Grid, class Program>
class SsspScan {
 public:
  using Metric = typename Program::Metric;
  using Word = typename Metric::Word;
  using WarpType = typename Grid::Warp;

  WARREN_HD SsspScan(Grid& grid, const Program& program, const SsspScanState& state)
      : grid_(grid),
        all_(program),
        program_(program.memory),
        state_(state),
        block_(grid.block_worker()),
        scratch_(*block_.template scratch<SsspScanScratch>()),
        begin_(program.begin(state)),
        end_(Metric::after(begin_, state.width)),
        targets_(program.targets(state)),
        writer_(targets_, scratch_.stage[block_.lane() / kLanes]),
        rows_(scratch_.rows[block_.lane() / kLanes]),
        edges_(program_) {}

  /// The bin's vertices as they are found.
  WARREN_HD void scan() {
    const WarpType whole;
    const std::uint64_t stretches = (std::uint64_t{program_.out.count} + kStretch - 1) / kStretch;
    grid_.template for_each_claimed<exec::Warp>(
        stretches,
        [&](const WarpType& worker, std::uint64_t task) {
          for_stretch(worker, task * kStretch,
                      [&](Vertex row, bool is_in) { gather(worker, is_in, row); });
          WARREN_ROLLED
          while (held_ >= kLanes) work_off(worker, kLanes);
        },
        stretches / 16, kGrain);
    if (held_ > 0) work_off(whole, held_);
    finish();
  }

  /// The bin's vertices into the bitmap.
  WARREN_HD void mark() {
    BitmapWord* marks = program_.in_bin[0];
    const std::uint64_t first = program_.out.first;
    const std::uint64_t first_word = first / kWordBits;
    const std::uint64_t end_word = bitmap_words(first + program_.out.count);
    constexpr std::uint64_t kWords = kStretch / kWordBits;
    std::uint64_t marked = 0;
    grid_.template for_each<exec::Warp>(
        (end_word - first_word + kWords - 1) / kWords,
        [&](const WarpType& worker, std::uint64_t task) {
          const std::uint64_t begin = (first_word + task * kWords) * kWordBits;
          std::uint64_t word = begin / kWordBits;
          BitmapWord bits = 0;
          std::uint32_t seen = 0;
          // Rows before the first one wrap around, and are none.
          for_stretch(worker, begin - first, [&](Vertex row, bool is_in) {
            is_in = is_in && !is_leaf(row, program_.out.degree(row));
            marked += is_in ? 1 : 0;
            bits |= is_in ? bit_of(static_cast<Vertex>(first + row)) : 0u;
            seen += kLanes;
            if (seen < kWordBits) return;
            bits = worker.reduce(bits, BitOr{});
            if (worker.lane() == 0 && word < end_word) marks[word] = bits;
            ++word;
            bits = 0;
            seen = 0;
          });
        },
        kGrain);
    grid_.sum(kScanMarked, marked);
    finish();
  }

  /// What is marked in a bitmap, in the order of the edges' addresses.
  WARREN_HD void relax_by_address(const BitmapWord* marks) {
    for_marked_by_address(
        grid_, program_.out, program_.chunks, marks,
        [&](const WarpType& worker, graph::ListPiece piece) {
          Word distance = 0;
          if (piece.length > 0)
            distance = exec::atomic_load(program_.distance[program_.out.first + piece.row]);
          relax(worker, distance, piece);
        });
    finish();
  }

  /// The queue: every entry is one piece of a list.
  WARREN_HD void again() {
    const QueueEntry* list = program_.again[state_.slot % 2];
    const std::uint64_t entries = program_.again_count[state_.slot % 3];
    const std::uint64_t wanted = 4 * grid_.template workers<exec::Warp>();
    const std::uint64_t fair = (entries + wanted - 1) / wanted;
    const auto per_task = static_cast<std::uint32_t>(fair < 1 ? 1 : fair > kLanes ? kLanes : fair);
    const std::uint64_t tasks = (entries + per_task - 1) / per_task;
    grid_.template for_each_claimed<exec::Warp>(
        tasks,
        [&](const WarpType& worker, std::uint64_t task) {
          const std::uint64_t index = task * per_task + worker.lane();
          Word distance = 0;
          graph::ListPiece piece;
          if (worker.lane() < per_task && index < entries) {
            const QueueEntry entry = list[index];
            if (entry.piece == 0) program_.clear_queued(state_.slot % 2, entry.vertex);
            distance = exec::atomic_load(program_.distance[entry.vertex]);
            piece = piece_of(program_.out, entry);
          }
          relax(worker, distance, piece);
        },
        tasks / 4);
    finish();
  }

  WARREN_HD void receive() {
    for_updates(grid_, program_, (state_.slot + 1) % 2,
                state_.has_published || program_.distances_by_windows,
                [&](const WarpType& worker, Vertex to, Word distance) {
                  relax_edge(worker, to, distance);
                });
    finish();
  }

 private:
  static constexpr std::uint32_t kLanes = Grid::kWarpLanes;
  static constexpr std::uint32_t kStretch = SsspScanScratch::kStretch;
  static constexpr std::uint64_t kGrain = 64;
  /// Lists of more edges are for all warps.
  static constexpr std::uint32_t kOwnEdges = Program::kPacked ? kPieceEdges : 4 * kPieceEdges;

  [[nodiscard]] WARREN_HD std::uint32_t is_receiving() const {
    return state_.phase == SsspScanPhase::receive ? 1u : 0u;
  }
  /// The parity of the queue that this step fills.
  [[nodiscard]] WARREN_HD std::uint32_t filled() const {
    return (state_.slot + 1 - is_receiving()) % 2;
  }
  /// Reached over its only edge, whose reverse leads back to where it is nearer.
  [[nodiscard]] WARREN_HD bool is_leaf(Vertex row, EdgeOffset degree) const {
    return all_.is_symmetric && degree == 1 && program_.out.first + row != program_.source;
  }

  WARREN_HD void see_open(Word distance) {
    ++open_;
    nearest_ = distance < nearest_ ? distance : nearest_;
  }

  /// f(row, whether it is in the bin) for rows [begin, begin + kStretch), a lane each: all are
  /// looked up together. Rows that are none are not in the bin.
  template <class F>
  WARREN_HD void for_stretch(const WarpType& worker, std::uint64_t begin, F&& f) {
    constexpr std::uint32_t kRounds = kLanes > 1 ? 4 : 1;
    static_assert(kStretch % (kLanes * kRounds) == 0);
    for (std::uint32_t base = 0; base < kStretch; base += kLanes * kRounds) {
      Word distance[kRounds];
      WARREN_UNROLL
      for (std::uint32_t j = 0; j < kRounds; ++j) {
        const std::uint64_t row = begin + base + j * kLanes + worker.lane();
        distance[j] = row < program_.out.count
                          ? exec::load_maybe_stale(program_.distance[program_.out.first + row])
                          : Metric::kUnreached;
      }
      WARREN_UNROLL
      for (std::uint32_t j = 0; j < kRounds; ++j) {
        const std::uint64_t row = begin + base + j * kLanes + worker.lane();
        const bool is_in = distance[j] >= begin_ && distance[j] < end_;
        if (distance[j] >= end_ && distance[j] != Metric::kUnreached) see_open(distance[j]);
        f(static_cast<Vertex>(row), is_in);
      }
    }
  }

  /// Rows wait until the stretch is through.
  WARREN_HD void gather(const WarpType& worker, bool has, Vertex row) {
    const std::uint32_t many = worker.count(has);
    if (many == 0) return;
    const std::uint32_t before = worker.count_before(has);
    if (has) rows_[held_ + before] = row;
    held_ += many;
    worker.sync();
  }

  /// The last `many` rows that were gathered.
  WARREN_HD void work_off(const WarpType& worker, std::uint32_t many) {
    held_ -= many;
    Word distance = 0;
    graph::ListPiece piece;
    Vertex vertex = 0;
    std::uint32_t queue = kNoQueue;
    if (worker.lane() < many) {
      const Vertex row = rows_[held_ + worker.lane()];
      vertex = program_.out.first + row;
      const EdgeOffset degree = program_.out.degree(row);
      // What has fallen in the bin meanwhile is worked off in the next step.
      if (is_leaf(row, degree) || test_bit_maybe_stale(program_.queued[filled()], vertex)) {
      } else if (degree <= kOwnEdges) {
        piece = {row, program_.out.begin(row), static_cast<std::uint32_t>(degree)};
        distance = exec::atomic_load(program_.distance[vertex]);
      } else if (program_.claim_queued(filled(), vertex)) {
        queue = kAgainQueue;
      }
    }
    worker.sync();
    writer_.put(worker, vertex, queue);
    relax(worker, distance, piece);
  }

  WARREN_HD void relax(const WarpType& worker, Word distance, const graph::ListPiece& piece) {
    edges_.relax(worker, distance, piece, [this](const WarpType& w, Vertex to, Word tentative) {
      relax_edge(w, to, tentative);
    });
  }

  /// Every lane calls, with kUnreached for nothing.
  WARREN_HD void relax_edge(const WarpType& worker, Vertex to, Word tentative) {
    bool is_improved = false;
    if (tentative < program_.bound)
      is_improved = tentative < exec::atomic_min(program_.distance[to], tentative);
    if (!worker.any(is_improved)) return;
    std::uint32_t queue = kNoQueue;
    if (is_improved && program_.ranks > 1 && !program_.owns(to)) {
      if (claim_bit(program_.sent, to)) queue = kRemoteQueue;
    } else if (is_improved && tentative >= end_) {
      see_open(tentative);
    } else if (is_improved && program_.claim_queued(filled(), to)) {
      queue = kAgainQueue;
    }
    writer_.put(worker, to, queue);
  }

  WARREN_HD void finish() {
    const WarpType worker;
    writer_.finish(worker);
    const Word nearest = block_.reduce(nearest_, exec::Minimum{});
    if (block_.lane() == 0 && nearest != Metric::kUnreached)
      exec::atomic_min(program_.nearest[(state_.bin + 1) % 3], nearest);
    grid_.sum(kScanAgain, writer_.have_put().again);
    grid_.sum(kScanSent, writer_.have_put().sent);
    grid_.sum(kScanOpen, open_);
    grid_.sum(kScanEdges, edges_.edges());
    grid_.sum(kScanOverflow, edges_.overflows());
    if constexpr (Program::kPacked) grid_.sum(kScanFarBytes, edges_.far_bytes());
  }

  Grid& grid_;
  const Program& all_;
  const typename Program::Memory& program_;
  const SsspScanState& state_;
  decltype(std::declval<Grid&>().block_worker()) block_;
  SsspScanScratch& scratch_;
  Word begin_;  ///< The bin: [begin, end).
  Word end_;
  SsspTargets targets_;
  SsspWriter<WarpType> writer_;
  Vertex* rows_;
  std::uint32_t held_ = 0;
  Word nearest_ = Metric::kUnreached;  ///< Beyond the bin.
  std::uint64_t open_ = 0;
  SsspEdges<WarpType, typename Program::Memory> edges_;
};

/// `kIsPacked`: the lists are compressed.
template <class MetricType, bool kIsPacked>
struct SsspScanProgram {
  using State = SsspScanState;
  using Metric = MetricType;
  using Memory = SsspProgram<Metric, kIsPacked>;
  using Word = typename Metric::Word;
  static constexpr bool kPacked = kIsPacked;
  static constexpr std::uint32_t kThreadsPerBlock = 512;
  static constexpr std::uint32_t kBlocksPerProcessor = 2;
  static constexpr std::uint32_t kScratchBytes = sizeof(SsspScanScratch);
  static constexpr std::uint32_t kClusterBlocks = 1;

  Memory memory;
  /// Every edge has its reverse, and there is one source: only then are leaves passed over.
  bool is_symmetric = false;

  WARREN_HD static State next(const State& state, const team::Sums& sums) {
    return next_scan(state, sums);
  }
  WARREN_HD static bool finished(const State& state) { return state.phase == SsspScanPhase::done; }

  /// Remote updates to their readers, and where the bin begins to all.
  template <class Show>
  void show(const State& next, Show&& show) const {
    if (next.phase == SsspScanPhase::receive) {
      show_updates(memory, (next.slot + 1) % 2, show);
    } else if (next.phase == SsspScanPhase::mark || next.phase == SsspScanPhase::scan) {
      show(team::kShowAll, memory.nearest + next.bin % 3, sizeof(Word));
    }
  }

  template <class Grid>
  WARREN_HD void step(Grid& grid, const State& state) const {
    using Scan = SsspScan<Grid, SsspScanProgram>;
    switch (state.phase) {
      case SsspScanPhase::clear:
        clear(grid);
        break;
      case SsspScanPhase::mark:
        forget_last(grid, state);
        Scan(grid, *this, state).mark();
        break;
      case SsspScanPhase::relax_by_address:
        prepare_queues(grid, state);
        Scan(grid, *this, state).relax_by_address(memory.in_bin[0]);
        break;
      case SsspScanPhase::scan:
        forget_last(grid, state);
        prepare_queues(grid, state);
        Scan(grid, *this, state).scan();
        break;
      case SsspScanPhase::again:
        prepare_queues(grid, state);
        Scan(grid, *this, state).again();
        break;
      case SsspScanPhase::again_by_address:
        prepare_queues(grid, state);
        Scan(grid, *this, state).relax_by_address(memory.queued[state.slot % 2]);
        break;
      case SsspScanPhase::forget:
        forget_queue(grid, state);
        break;
      case SsspScanPhase::publish:
        tell_distances(grid, memory, (state.slot + 1) % 2);
        break;
      case SsspScanPhase::receive:
        Scan(grid, *this, state).receive();
        if (!state.has_published) clear_sent(grid, memory, (state.slot + 1) % 2);
        break;
      case SsspScanPhase::check: {
        const Word end = Metric::after(begin(state), state.width);
        grid.sum(kScanSettled, memory.settled_targets(grid, [&](Word value) {
          return !state.is_open || value < end;
        }));
        break;
      }
      case SsspScanPhase::done:
        break;
    }
  }

  /// Where the bin begins.
  [[nodiscard]] WARREN_HD Word begin(const State& state) const {
    Word begin = Metric::kUnreached;
    WARREN_ROLLED
    for (int q = 0; q < memory.ranks; ++q) {
      const Word low = memory.nearest_of[q][state.bin % 3];
      begin = low < begin ? low : begin;
    }
    return begin;
  }
  /// The queue that a step of this state writes.
  [[nodiscard]] WARREN_HD SsspTargets targets(const State& state) const {
    const std::uint32_t slot = state.phase == SsspScanPhase::receive ? state.slot : state.slot + 1;
    return {memory.out.offsets,
            memory.out.first,
            nullptr,
            0,
            nullptr,
            nullptr,
            nullptr,
            memory.again[slot % 2],
            memory.again_count + slot % 3,
            memory.send_buffer_of_slot(state.slot)};
  }

 private:
  template <class Grid>
  WARREN_HD void clear(Grid& grid) const {
    grid.template for_each<exec::Thread>(memory.vertices, [&](auto&, std::uint64_t v) {
      memory.distance[v] = memory.is_source(static_cast<Vertex>(v)) ? Word{0} : Metric::kUnreached;
    });
    grid.template for_each<exec::Thread>(memory.words, [&](auto&, std::uint64_t w) {
      memory.queued[0][w] = 0;
      memory.queued[1][w] = 0;
      if (memory.ranks > 1) memory.sent[w] = 0;
    });
    if (grid.block() != 0) return;
    const auto worker = grid.block_worker();
    worker.for_each(3, [&](std::uint64_t i) {
      memory.again_count[i] = 0;
      memory.nearest[i] = i == 0 ? Word{0} : Metric::kUnreached;
    });
    worker.for_each(2 * kMaxRanks, [&](std::uint64_t i) { memory.update_counts[i] = 0; });
  }

  /// The bin before this one's begin makes room for that of the one after the next.
  template <class Grid>
  WARREN_HD void forget_last(Grid& grid, const State& state) const {
    if (grid.block() == 0 && grid.block_worker().lane() == 0)
      memory.nearest[(state.bin + 2) % 3] = Metric::kUnreached;
  }
  /// Of the step before, which went through the bitmap of its queue by address.
  template <class Grid>
  WARREN_HD void forget_queue(Grid& grid, const State& state) const {
    const std::uint32_t parity = (state.slot + 1) % 2;
    const QueueEntry* list = memory.again[parity];
    grid.template for_each<exec::Thread>(
        memory.again_count[(state.slot + 2) % 3],
        [&](auto&, std::uint64_t i) { memory.clear_queued(parity, list[i].vertex); });
  }
  template <class Grid>
  WARREN_HD void prepare_queues(Grid& grid, const State& state) const {
    if (grid.block() != 0) return;
    const auto worker = grid.block_worker();
    worker.for_each(kMaxRanks, [&](std::uint64_t q) {
      memory.update_counts[(state.slot + 1) % 2 * kMaxRanks + q] = 0;
    });
    if (worker.lane() == 0) memory.again_count[(state.slot + 2) % 3] = 0;
  }
};

}  // namespace warren::traverse
