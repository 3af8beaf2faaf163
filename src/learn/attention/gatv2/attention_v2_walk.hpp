// SPDX-License-Identifier: Apache-2.0
// The walk over edges that the passes of GATv2's attention are. A logit is a sum over all columns
// of a head, so that a group of lanes has a task (sparse/spmm_tiles.hpp says what that is) for one
// head: a lane has some packs of 16 bytes of it, four rows are on their way together, and the lanes
// add up their parts of the logits. Groups of a task's heads stand side by side and read rows
// together. Heads of more columns than the group holds are walked over once for each chunk of them.
// Rows are stored as T; all that is computed is float32.
//
// What a pass does is a side:
//
//   kRows, kEntries              rows that it reads of a row, and of each of its entries
//   kColumns                     sums that it has of every column
//   kGradients                   vectors whose gradients it adds to, rows of job.gradients
//   kIsWeighted                  whether logits count the weights of edges, by its side.by_weight
//   row(i, r), entry(i, c)       where they begin; the first of each make the logit
//   row_statistics(r, head), entry_statistics(c, head)
//                                statistics that it needs
//   key(row's, entry's)          the keys of an edge, the target's first
//   add(lane, row, entries, scores, products, factors, sums)
//                                adds entries of a row
//   merge(sums, others)          adds up what two parts of a row have come to
//   finish(lane, row, sums, gradient)
//                                writes a row's results, and adds to the gradients
#pragma once

#include "learn/attention/gat/attention_kernels.hpp"
#include "learn/rows/column_sums.hpp"

namespace warren::learn::detail {

/// The two numbers of a row and head.
inline constexpr std::uint32_t kLogarithm = 0, kProduct = 1, kPair = 2;

/// N numbers of a row of which `left` are left, else 0. On GPUs there are N or none.
template <class W, std::uint32_t N, class T>
WARREN_HD Pack<T, N> load_within(const T* from, std::uint64_t left) {
  if (left >= N) return load_pack<N>(from);
  Pack<T, N> pack = {};
  if constexpr (std::is_same_v<W, exec::Serial>)
    std::memcpy(static_cast<void*>(&pack), from, left * sizeof(T));
  return pack;
}

/// The first `left` of them; at once where `is_aligned` and all are.
template <std::uint32_t N, class T>
WARREN_HD void store_within(const Floats<N>& values, T* to, std::uint64_t left, bool is_aligned) {
  if (left >= N && is_aligned) return store_pack<N>(values, to);
  WARREN_UNROLL
  for (std::uint32_t i = 0; i < N; ++i) {
    if (i < left) to[i] = from_float<T>(values.at[i]);
  }
}

/// What a lane adds up over a row's entries.
template <std::uint32_t N, std::uint32_t kPacks, std::uint32_t kColumns>
struct HeadSums {
  Floats<N> column[kColumns][kPacks] = {};
  float scalar[2] = {};  ///< Of the head, the same in all lanes.

  WARREN_HD void add(const HeadSums& other) {
    WARREN_UNROLL
    for (std::uint32_t c = 0; c < kColumns; ++c) {
      WARREN_UNROLL
      for (std::uint32_t p = 0; p < kPacks; ++p) {
        WARREN_UNROLL
        for (std::uint32_t i = 0; i < N; ++i) column[c][p].at[i] += other.column[c][p].at[i];
      }
    }
    scalar[0] += other.scalar[0];
    scalar[1] += other.scalar[1];
  }
};

/// One walk. Heads are `width` wide, and in rows of z and their like `wide`: up to the row's end
/// where there is one head alone, else as wide.
template <class Side>
struct HeadJob {
  Side side;
  sparse::MatrixView a;
  std::uint64_t heads, width, wide, stride;
  std::uint64_t chunks;
  float slope;
  const float* attention;
  EdgeDropout dropout;
  const sparse::SpmmTask* tasks;
  std::uint64_t task_count;
  const sparse::SplitRow* splits;
  std::uint64_t split_count;
  float* partials;
  std::uint64_t partial_stride;  ///< A multiple of a lane's columns, of at least kScalars strides
                                 ///< + 2 heads.
  float* gradients;  ///< kGradients x (tasks + splits) x heads x width; nullptr: not wanted.

  /// In partials, behind which columns the scalars stand.
  static constexpr std::uint64_t kScalars = Side::kColumns > 2 ? Side::kColumns : 2;
};

/// A lane's columns of the vector that weights of edges are multiplied by.
template <std::uint32_t N, std::uint32_t kPacks>
struct WeightColumns {
  Floats<N> by_weight[kPacks];
};
/// The weight of an entry's edge.
struct EntryWeight {
  float value;
};
struct NoWeights {};

/// A lane's columns of a head.
template <class Side, class W, std::uint32_t N, std::uint32_t kPacks>
struct HeadLane : std::conditional_t<Side::kIsWeighted, WeightColumns<N, kPacks>, NoWeights> {
  using T = typename Side::Element;
  using Sums = HeadSums<N, kPacks, Side::kColumns>;
  struct Row {
    std::uint64_t index;
    std::uint32_t key;
    Floats<kPair> statistics;
    Floats<N> at[Side::kRows][kPacks];
  };
  using Gradients = Floats<N>[Side::kGradients * kPacks];
  struct Entry : std::conditional_t<Side::kIsWeighted, EntryWeight, NoWeights> {
    std::uint64_t index;
    std::uint32_t key;
    Floats<kPair> statistics;
    Pack<T, N> at[Side::kEntries][kPacks];
  };

  const HeadJob<Side>& job;
  std::uint64_t head, chunk;
  std::uint64_t first, step;  ///< Columns of the head: the first, and from pack to pack.
  Floats<N> a[kPacks];

  /// Part `part` of heads x chunks, lane `lane` of `lanes`.
  WARREN_HD HeadLane(const HeadJob<Side>& job_, std::uint64_t part, std::uint32_t lane,
                     std::uint32_t lanes)
      : job(job_),
        head(part / job.chunks),
        chunk(part % job.chunks),
        first((chunk * lanes * kPacks + lane) * N),
        step(std::uint64_t{lanes} * N) {
    WARREN_UNROLL
    for (std::uint32_t p = 0; p < kPacks; ++p) a[p] = load_vector(job.attention, column(p));
    if constexpr (Side::kIsWeighted) {
      WARREN_UNROLL
      for (std::uint32_t p = 0; p < kPacks; ++p)
        this->by_weight[p] = load_vector(job.side.by_weight, column(p));
    }
  }
  [[nodiscard]] WARREN_HD bool is_first() const { return first == 0; }
  [[nodiscard]] WARREN_HD std::uint64_t column(std::uint32_t p) const { return first + p * step; }
  [[nodiscard]] WARREN_HD static std::uint64_t left(std::uint64_t column, std::uint64_t width) {
    return column < width ? width - column : 0;
  }

  [[nodiscard]] WARREN_HD Row row(std::uint64_t index) const {
    Row row;
    row.index = index;
    row.key = job.dropout.key(index);
    row.statistics = job.side.row_statistics(index, head);
    WARREN_UNROLL
    for (std::uint32_t r = 0; r < Side::kRows; ++r) {
      WARREN_UNROLL
      for (std::uint32_t p = 0; p < kPacks; ++p)
        row.at[r][p] = floats_of(load(job.side.row(r, index), column(p)));
    }
    return row;
  }
  /// The matrix' entry at `place`, of column `index`.
  [[nodiscard]] WARREN_HD Entry entry(std::uint64_t index, EdgeOffset place) const {
    Entry entry;
    if constexpr (Side::kIsWeighted) entry.value = job.a.values[place];
    entry.index = index;
    entry.key = job.dropout.key(index);
    entry.statistics = job.side.entry_statistics(index, head);
    WARREN_UNROLL
    for (std::uint32_t e = 0; e < Side::kEntries; ++e) {
      WARREN_UNROLL
      for (std::uint32_t p = 0; p < kPacks; ++p)
        entry.at[e][p] = load(job.side.entry(e, index), column(p));
    }
    return entry;
  }

  /// What an entry's row has in the logit, pack `p`: of a weighted edge with its weight's part.
  [[nodiscard]] WARREN_HD Floats<N> logit_part(const Entry& entry, std::uint32_t p) const {
    Floats<N> part = floats_of(entry.at[0][p]);
    if constexpr (Side::kIsWeighted) add_scaled(entry.value, this->by_weight[p], part);
    return part;
  }

  /// M entries of a row; all lanes of the worker together.
  template <std::uint32_t M>
  WARREN_HD void add(const W& worker, const Row& row, const Entry* entries, Sums& sums) const {
    float scores[M], products[M], factors[M];
    WARREN_UNROLL
    for (std::uint32_t u = 0; u < M; ++u) {
      scores[u] = products[u] = 0.0f;
      WARREN_UNROLL
      for (std::uint32_t p = 0; p < kPacks; ++p) {
        Floats<N> others[Side::kEntries];
        WARREN_UNROLL
        for (std::uint32_t e = 0; e < Side::kEntries; ++e)
          others[e] = floats_of(entries[u].at[e][p]);
        if constexpr (Side::kIsWeighted) {
          multiply(a[p], row.at[0][p], row.at[Side::kRows - 1][p], others,
                   logit_part(entries[u], p), scores[u], products[u]);
        } else {
          multiply(a[p], row.at[0][p], row.at[Side::kRows - 1][p], others, others[0], scores[u],
                   products[u]);
        }
      }
      if (job.chunks > 1) add_other_chunks(row.index, entries[u], scores[u], products[u]);
    }
    WARREN_UNROLL
    for (std::uint32_t u = 0; u < M; ++u) {
      scores[u] = worker.reduce(scores[u], exec::Plus{});
      if constexpr (kHasProducts) products[u] = worker.reduce(products[u], exec::Plus{});
      factors[u] =
          job.side.factor(job.dropout, row.key, entries[u].key, static_cast<std::uint32_t>(head));
    }
    job.side.template add<M>(*this, row, entries, scores, products, factors, sums);
  }

  /// To and from columns of rows that are padded.
  template <class To>
  WARREN_HD void store_row(std::uint32_t p, const Floats<N>& values, To* to) const {
    store_within<N>(values, to + head * job.wide + column(p), left(column(p), job.wide), true);
  }
  /// To columns of rows without gaps.
  template <class To>
  WARREN_HD void store_packed(std::uint32_t p, const Floats<N>& values, To* to) const {
    store_within<N>(values, to + head * job.width + column(p), left(column(p), job.width),
                    job.heads * job.width % N == 0);
  }
  /// A piece's sums to their place, and back.
  WARREN_HD void store(std::uint64_t piece, const Sums& sums) const {
    float* const to = job.partials + piece * job.partial_stride;
    WARREN_UNROLL
    for (std::uint32_t c = 0; c < Side::kColumns; ++c) {
      WARREN_UNROLL
      for (std::uint32_t p = 0; p < kPacks; ++p)
        store_row(p, sums.column[c][p], to + c * job.stride);
    }
    if (!is_first()) return;
    to[job.kScalars * job.stride + head] = sums.scalar[0];
    to[job.kScalars * job.stride + job.heads + head] = sums.scalar[1];
  }
  [[nodiscard]] WARREN_HD Sums load(std::uint64_t piece) const {
    const float* const from = job.partials + piece * job.partial_stride;
    Sums sums;
    WARREN_UNROLL
    for (std::uint32_t c = 0; c < Side::kColumns; ++c) {
      WARREN_UNROLL
      for (std::uint32_t p = 0; p < kPacks; ++p)
        sums.column[c][p] = floats_of(load(from + c * job.stride, column(p)));
    }
    sums.scalar[0] = from[job.kScalars * job.stride + head];
    sums.scalar[1] = from[job.kScalars * job.stride + job.heads + head];
    return sums;
  }
  /// The parts of gradients that task or split `index` has.
  WARREN_HD void store_gradients(std::uint64_t index, const Gradients& gradients) const {
    if (job.gradients == nullptr) return;
    const std::uint64_t parts = job.task_count + job.split_count;
    WARREN_UNROLL
    for (std::uint32_t g = 0; g < Side::kGradients; ++g) {
      WARREN_UNROLL
      for (std::uint32_t p = 0; p < kPacks; ++p)
        store_packed(p, gradients[g * kPacks + p],
                     job.gradients + (g * parts + index) * job.heads * job.width);
    }
  }

 private:
  static constexpr bool kHasProducts = Side::kRows + Side::kEntries > 2;

  template <class From>
  [[nodiscard]] WARREN_HD Pack<From, N> load(const From* row, std::uint64_t c) const {
    return load_within<W, N>(row + head * job.wide + c, left(c, job.wide));
  }
  /// Of one that has heads x width columns.
  [[nodiscard]] WARREN_HD Floats<N> load_vector(const float* from, std::uint64_t c) const {
    Floats<N> values;
    WARREN_UNROLL
    for (std::uint32_t i = 0; i < N; ++i)
      values.at[i] = c + i < job.width ? from[head * job.width + c + i] : 0.0f;
    return values;
  }
  /// Some columns of a logit, in which `logit_part` is the entry's, and of <dy_i, z_j>, whose z is
  /// the first row of one side, and whose dy the last of the other one.
  WARREN_HD void multiply(const Floats<N>& weights, const Floats<N>& row_first,
                          const Floats<N>& row_last, const Floats<N> (&entry)[Side::kEntries],
                          const Floats<N>& logit_part, float& score, float& product) const {
    score += leaky_product(weights, row_first, logit_part, job.slope);
    if constexpr (kHasProducts) product += inner_product(row_last, entry[Side::kEntries - 1]);
  }
  /// The columns of the head that other chunks have.
  WARREN_HD void add_other_chunks(std::uint64_t row, const Entry& entry, float& score,
                                  float& product) const {
    const std::uint64_t chunk_step = step * kPacks;
    for (std::uint64_t c = first % step; c < job.wide; c += step) {
      if (c / chunk_step == chunk) continue;
      Floats<N> others[Side::kEntries];
      WARREN_UNROLL
      for (std::uint32_t e = 0; e < Side::kEntries; ++e)
        others[e] = floats_of(load(job.side.entry(e, entry.index), c));
      Floats<N> part = others[0];
      if constexpr (Side::kIsWeighted)
        add_scaled(entry.value, load_vector(job.side.by_weight, c), part);
      multiply(load_vector(job.attention, c), floats_of(load(job.side.row(0, row), c)),
               floats_of(load(job.side.row(Side::kRows - 1, row), c)), others, part, score,
               product);
    }
  }
};

/// Heads and chunks of task `index / (heads x chunks)`, by a group of lanes that go together.
template <class Side, std::uint32_t N, std::uint32_t kPacks>
struct HeadWalk {
  /// 128 registers a thread.
  static constexpr std::uint32_t kMostThreads = 512;
  HeadJob<Side> job;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t index) const {
    using Lane = HeadLane<Side, W, N, kPacks>;
    // A CPU finds the next rows by itself.
    constexpr std::uint32_t kInFlight = std::is_same_v<W, exec::Serial> ? 1 : kPacks == 1 ? 4 : 2;
    const std::uint64_t parts = job.heads * job.chunks;
    const sparse::SpmmTask task = job.tasks[index / parts];
    const Lane lane(job, index % parts, worker.lane(), worker.size());
    sparse::detail::TileRows rows(job.a.offsets, task);
    typename Lane::Row row = lane.row(task.row);
    typename Lane::Sums sums = Side::template start<typename Lane::Sums>();
    typename Lane::Gradients gradients = {};
    const auto next = [&] {
      job.side.finish(lane, row, sums, gradients);
      sums = Side::template start<typename Lane::Sums>();
      rows.advance();
      if (rows.row() < task.rows) row = lane.row(std::uint64_t{task.row} + rows.row());
    };
    const auto total = static_cast<std::uint32_t>(task.end - task.begin);
    Vertex to[kInFlight];
    if (total > 0) sparse::detail::find_columns(job.a, task, total, 0, to);
    for (std::uint32_t i = 0; i < total; i += kInFlight) {
      typename Lane::Entry entries[kInFlight];
      WARREN_UNROLL
      for (std::uint32_t u = 0; u < kInFlight; ++u)
        entries[u] = lane.entry(to[u], task.begin + sparse::detail::entry_or_last(i + u, total));
      sparse::detail::find_columns(job.a, task, total, i + kInFlight, to);
      if (kInFlight > 1 && i + kInFlight <= total && i + kInFlight <= rows.end()) {
        lane.template add<kInFlight>(worker, row, entries, sums);
        continue;
      }
      WARREN_UNROLL
      for (std::uint32_t u = 0; u < kInFlight; ++u) {
        if (i + u >= total) break;
        while (i + u >= rows.end()) next();
        lane.template add<1>(worker, row, entries + u, sums);
      }
    }
    if (task.partial != sparse::SpmmTask::kWhole) {
      lane.store(task.partial, sums);
    } else {
      while (rows.row() < task.rows) next();
    }
    lane.store_gradients(index / parts, gradients);
  }
};

/// Heads and chunks of split row `index / (heads x chunks)`: groups of `lanes` lanes add up every
/// so many-th of its pieces, the first one adds up the groups' sums.
template <class Side, std::uint32_t N, std::uint32_t kPacks>
struct HeadCombine {
  HeadJob<Side> job;
  std::uint32_t lanes;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t index) const {
    using Lane = HeadLane<Side, W, N, kPacks>;
    const std::uint64_t parts = job.heads * job.chunks;
    const sparse::SplitRow split = job.splits[index / parts];
    const std::uint32_t group = worker.lane() / lanes;
    const std::uint32_t groups = worker.size() / lanes;
    const Lane lane(job, index % parts, worker.lane() % lanes, lanes);
    auto sums = Side::template start<typename Lane::Sums>();
    for (std::uint32_t p = group; p < split.count; p += groups)
      Side::merge(sums, lane.load(std::uint64_t{split.first} + p));
    add_groups(worker, group, groups, sums);
    if (group != 0) return;
    typename Lane::Gradients gradients = {};
    job.side.finish(lane, lane.row(split.row), sums, gradients);
    lane.store_gradients(job.task_count + index / parts, gradients);
  }

 private:
  /// The first group's sums and those of all others.
  template <class W, class Sums>
  WARREN_HD void add_groups(const W& worker, std::uint32_t group, std::uint32_t groups,
                            Sums& sums) const {
    if (groups == 1) return;
    auto* const shared = worker.template scratch<Sums>();
    shared[worker.lane()] = sums;
    worker.sync();
    for (std::uint32_t g = 1; group == 0 && g < groups; ++g)
      Side::merge(sums, shared[g * lanes + worker.lane()]);
    worker.sync();
  }
};

template <class Backend, class W, class Side, std::uint32_t N, std::uint32_t kPacks>
void launch_heads(const exec::Stream& stream, HeadJob<Side> job, std::uint32_t lanes) {
  const std::uint64_t columns = std::uint64_t{lanes} * N * kPacks;
  job.chunks = (job.wide + columns - 1) / columns;
  const std::uint64_t parts = job.heads * job.chunks;
  exec::launch_wide<Backend, W>(stream, job.task_count * parts, HeadWalk<Side, N, kPacks>{job});
  exec::LaunchOptions block;
  block.scratch_bytes = (std::is_same_v<Backend, exec::Cpu> ? 1 : block.threads_per_block) *
                        static_cast<std::uint32_t>(sizeof(HeadSums<N, kPacks, Side::kColumns>));
  // Of few rows: not worth code for each width of a CPU's vectors.
  exec::launch<Backend, exec::Block>(stream, job.split_count * parts,
                                     HeadCombine<Side, N, kPacks>{job, lanes}, block);
}

/// A lane reads 16 bytes of a row at once where heads and addresses allow.
template <class Backend, class Side>
void run_heads(const exec::Stream& stream, const HeadJob<Side>& job) {
  if constexpr (std::is_same_v<Backend, exec::Cpu>) {
    if (job.wide <= 16) return launch_heads<Backend, exec::Serial, Side, 16, 1>(stream, job, 1);
    launch_heads<Backend, exec::Serial, Side, 64, 1>(stream, job, 1);
  } else {
    constexpr std::uint32_t kN = 16 / sizeof(typename Side::Element);
    constexpr std::uintptr_t kAligned = kN * sizeof(float);
    if (job.wide % kN != 0 || job.stride % kN != 0 || job.side.addresses() % kAligned != 0) {
      if (job.wide <= 8) return launch_heads<Backend, exec::Tile<8>, Side, 1, 1>(stream, job, 8);
      return launch_heads<Backend, exec::Warp, Side, 1, 2>(stream, job, 32);
    }
    const std::uint64_t packs = job.wide / kN;
    if (packs > 32) return launch_heads<Backend, exec::Warp, Side, kN, 2>(stream, job, 32);
    if (packs > 16) return launch_heads<Backend, exec::Warp, Side, kN, 1>(stream, job, 32);
    if (packs > 8) return launch_heads<Backend, exec::Tile<16>, Side, kN, 1>(stream, job, 16);
    if (packs > 4) return launch_heads<Backend, exec::Tile<8>, Side, kN, 1>(stream, job, 8);
    launch_heads<Backend, exec::Tile<4>, Side, kN, 1>(stream, job, 4);
  }
}

}  // namespace warren::learn::detail
