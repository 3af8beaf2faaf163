// SPDX-License-Identifier: Apache-2.0
// The kernels that draw a generator's edges into one rank's rows, for either backend.
#pragma once

#include "warren/exec/atomic.hpp"
#include "warren/exec/launch.hpp"
#include "warren/graph/builder.hpp"
#include "warren/graph/draw.hpp"

namespace warren::graph {

/// What is drawn: which direction, and what is left out.
struct DrawRule {
  GeneratorSpec spec;
  bool symmetrize = false;
  bool drop_self_loops = false;
  bool reversed = false;  ///< In-edges: (v, u) for every (u, v).
  const Vertex* new_id =
      nullptr;  ///< The vertices' ids after relabelling; nullptr for the generator's own.
  const Vertex* old_id = nullptr;  ///< The generator's ids of those; nullptr: they are.

  /// f(row, column) for the one or two entries of draw k.
  template <class F>
  WARREN_HD void entries(std::uint64_t k, F&& f) const {
    Edge edge = draw_edge(spec, k);
    if (drop_self_loops && edge.source == edge.target) return;
    if (new_id != nullptr) edge = {new_id[edge.source], new_id[edge.target]};
    if (!reversed || symmetrize) f(edge.source, edge.target);
    // A self-loop is its own reverse.
    const bool turned = reversed || (symmetrize && edge.source != edge.target);
    if (turned) f(edge.target, edge.source);
  }
};

struct CountDegrees {
  DrawRule rule;
  std::uint32_t* degrees;
  template <class W>
  WARREN_HD void operator()(const W&, std::uint64_t k) const {
    rule.entries(k, [&](Vertex row, Vertex) { exec::atomic_add(degrees[row], 1u); });
  }
};

/// Keys that sort vertices by descending degree, then by id.
struct DegreeKeys {
  const std::uint32_t* degrees;
  std::uint64_t* keys;
  template <class W>
  WARREN_HD void operator()(const W&, std::uint64_t v) const {
    keys[v] = std::uint64_t{~degrees[v]} << 32 | v;
  }
};

/// The k-th of the sorted vertices becomes the k-th one dealt out.
struct DealIds {
  const std::uint64_t* keys;
  std::uint64_t cuts[kMaxRanks + 1];
  std::uint64_t parts;
  Vertex* new_id;
  Vertex* old_id;
  std::uint32_t* degrees;  ///< After relabelling.
  template <class W>
  WARREN_HD void operator()(const W&, std::uint64_t k) const {
    const auto old = static_cast<Vertex>(keys[k]);
    const auto id = static_cast<Vertex>(cuts[k % parts] + k / parts);
    new_id[old] = id;
    old_id[id] = old;
    degrees[id] = ~static_cast<std::uint32_t>(keys[k] >> 32);
  }
};

/// rows[i] = the first row with offsets[row] >= wanted[i], and what stands there.
struct FindRows {
  const std::uint64_t* offsets;
  std::uint64_t count;
  const std::uint64_t* wanted;
  std::uint64_t* rows;
  std::uint64_t* found;
  template <class W>
  WARREN_HD void operator()(const W&, std::uint64_t i) const {
    std::uint64_t low = 0;
    std::uint64_t high = count;
    while (low < high) {
      const std::uint64_t middle = (low + high) / 2;
      if (offsets[middle] < wanted[i]) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    rows[i] = low;
    found[i] = offsets[low];
  }
};

/// Keys (row - first) << shift | column of the entries whose row is in [first, last).
struct DrawKeys {
  DrawRule rule;
  std::uint64_t first;
  std::uint64_t last;
  int shift;
  std::uint64_t* keys;
  std::uint64_t* count;
  /// A task is a draw for each lane; the lanes reserve room for their keys together.
  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t task) const {
    const std::uint64_t k = task * worker.size() + worker.lane();
    std::uint64_t mine[2];
    std::uint32_t held = 0;
    if (k < rule.spec.draws) {
      rule.entries(k, [&](Vertex row, Vertex column) {
        if (row >= first && row < last) mine[held++] = (row - first) << shift | column;
      });
    }
    if (!worker.any(held != 0)) return;
    const std::uint32_t before = worker.exclusive_scan(held);
    std::uint64_t base = 0;
    if (worker.lane() == worker.size() - 1)
      base = exec::atomic_add(*count, std::uint64_t{before} + held);
    base = worker.broadcast(base, worker.size() - 1) + before;
    if (held > 0) keys[base] = mine[0];
    if (held > 1) keys[base + 1] = mine[1];
  }
};

struct StoreColumns {
  const std::uint64_t* keys;
  std::uint64_t mask;
  Vertex* columns;
  template <class W>
  WARREN_HD void operator()(const W&, std::uint64_t i) const {
    columns[i] = static_cast<Vertex>(keys[i] & mask);
  }
};

/// A chunk's sorted keys, and what they mean.
struct ChunkKeys {
  const std::uint64_t* keys;
  std::uint64_t count;
  int shift;
  std::uint64_t first;   ///< The row that keys count from.
  const Vertex* old_id;  ///< As DrawRule.
};

/// The weights of a chunk's entries, from `weights` on, of the generator's ends. A task writes a
/// word of four bytes, so that a warp writes whole sectors: to host memory single bytes would be a
/// write each.
template <class Weight>
struct StoreWeights {
  using Word = std::uint32_t;
  static constexpr std::uint64_t kOfWord = sizeof(Word) / sizeof(Weight);

  ChunkKeys chunk;
  UniformWeights rule;
  Weight* weights;

  /// Elements of the first word that are not the chunk's.
  [[nodiscard]] WARREN_HD std::uint64_t lead() const {
    return reinterpret_cast<std::uintptr_t>(weights) / sizeof(Weight) % kOfWord;
  }
  /// Tasks.
  [[nodiscard]] WARREN_HD std::uint64_t words() const {
    return chunk.count == 0 ? 0 : (lead() + chunk.count + kOfWord - 1) / kOfWord;
  }
  [[nodiscard]] WARREN_HD Weight weight_of(std::uint64_t i) const {
    const std::uint64_t key = chunk.keys[i];
    auto row = static_cast<Vertex>(chunk.first + (key >> chunk.shift));
    auto column = static_cast<Vertex>(key & ((std::uint64_t{1} << chunk.shift) - 1));
    if (chunk.old_id != nullptr) {
      row = chunk.old_id[row];
      column = chunk.old_id[column];
    }
    return static_cast<Weight>(draw_weight(rule, row, column));
  }
  template <class W>
  WARREN_HD void operator()(const W&, std::uint64_t task) const {
    // Of the chunk's entries; below 0, and so very large, before the first.
    const std::uint64_t begin = task * kOfWord - lead();
    if (begin < chunk.count && chunk.count - begin >= kOfWord) {
      Word word = 0;
      for (std::uint64_t j = 0; j < kOfWord; ++j)
        word |= static_cast<Word>(weight_of(begin + j)) << (8 * sizeof(Weight) * j);
      *reinterpret_cast<Word*>(weights + begin) = word;
      return;
    }
    for (std::uint64_t j = 0; j < kOfWord; ++j) {
      if (begin + j < chunk.count) weights[begin + j] = weight_of(begin + j);
    }
  }
};

/// offsets[row] = base + the number of keys before the row's first.
struct StoreOffsets {
  const std::uint64_t* keys;
  std::uint64_t count;
  int shift;
  std::uint64_t base;
  EdgeOffset* offsets;
  template <class W>
  WARREN_HD void operator()(const W&, std::uint64_t row) const {
    std::uint64_t low = 0;
    std::uint64_t high = count;
    while (low < high) {
      const std::uint64_t middle = (low + high) / 2;
      if (keys[middle] >> shift < row) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    offsets[row] = base + low;
  }
};

struct AddToOffsets {
  EdgeOffset* offsets;
  EdgeOffset amount;
  template <class W>
  WARREN_HD void operator()(const W&, std::uint64_t row) const {
    offsets[row] += amount;
  }
};

/// Defined outside the class, so that only nvcc instantiates the GPU's members.
template <class Backend>
struct GenerateKernels {
  template <class Kernel>
  static void launch(const exec::Stream& stream, std::uint64_t tasks, const Kernel& kernel);
  static void draw(const exec::Stream& stream, const DrawKeys& kernel);
};

template <class Backend>
template <class Kernel>
void GenerateKernels<Backend>::launch(const exec::Stream& stream, std::uint64_t tasks,
                                      const Kernel& kernel) {
  exec::launch<Backend, exec::Thread>(stream, tasks, kernel);
}

template <class Backend>
void GenerateKernels<Backend>::draw(const exec::Stream& stream, const DrawKeys& kernel) {
  constexpr std::uint64_t kLanes = std::is_same_v<Backend, exec::Cpu> ? 1 : 32;
  exec::launch<Backend, exec::Warp>(stream, (kernel.rule.spec.draws + kLanes - 1) / kLanes, kernel);
}

#if WARREN_HAS_CUDA
#define WARREN_GENERATE_KERNELS(PREFIX)                                                         \
  PREFIX template void GenerateKernels<exec::Cuda>::launch(const exec::Stream&, std::uint64_t,  \
                                                           const CountDegrees&);                \
  PREFIX template void GenerateKernels<exec::Cuda>::launch(const exec::Stream&, std::uint64_t,  \
                                                           const DegreeKeys&);                  \
  PREFIX template void GenerateKernels<exec::Cuda>::launch(const exec::Stream&, std::uint64_t,  \
                                                           const DealIds&);                     \
  PREFIX template void GenerateKernels<exec::Cuda>::launch(const exec::Stream&, std::uint64_t,  \
                                                           const FindRows&);                    \
  PREFIX template void GenerateKernels<exec::Cuda>::draw(const exec::Stream&, const DrawKeys&); \
  PREFIX template void GenerateKernels<exec::Cuda>::launch(const exec::Stream&, std::uint64_t,  \
                                                           const StoreColumns&);                \
  PREFIX template void GenerateKernels<exec::Cuda>::launch(const exec::Stream&, std::uint64_t,  \
                                                           const StoreWeights<std::int32_t>&);  \
  PREFIX template void GenerateKernels<exec::Cuda>::launch(const exec::Stream&, std::uint64_t,  \
                                                           const StoreWeights<std::uint8_t>&);  \
  PREFIX template void GenerateKernels<exec::Cuda>::launch(const exec::Stream&, std::uint64_t,  \
                                                           const StoreOffsets&);                \
  PREFIX template void GenerateKernels<exec::Cuda>::launch(const exec::Stream&, std::uint64_t,  \
                                                           const AddToOffsets&);
WARREN_GENERATE_KERNELS(extern)
#endif

}  // namespace warren::graph
