// SPDX-License-Identifier: Apache-2.0
// Passes over the rows of dense matrices, with sums over columns on the way. Rows are cut into
// tiles, by their number alone. On a GPU a block has a tile: a thread owns four of the columns,
// has several rows on their way together (of 16 bits twice as many: as many bytes), and keeps its
// sums in registers; the block adds them up. On the CPU a thread goes through a tile row by row.
// Either leaves one row of sums for a tile, which add_partials() adds up in order, so that sums
// repeat bit for bit.
//
// What is done is a body:
//
//   kSums                        sums that each column has
//   kInFlight                    rows that a GPU's thread reads together
//   specialised(f)               calls f(body) with what the whole pass has in common made constant
//   addresses()                  the matrices' addresses, as address() has them, or-ed
//   row(r)                       what the elements of a row share
//   column<N>(tile's first row, c)
//                                what N columns from c share within a tile
//   load<N>(row, c)              what is read of N elements, as it is stored; nothing is written
//                                before all is read
//   use(row, column, c, loaded, terms)
//                                writes results and sets the sums' terms
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "warren/exec/float_pack.hpp"
#include "warren/exec/launch.hpp"

namespace warren::learn::detail {

/// N neighbours in a row, read and written at once on a GPU.
template <std::uint32_t N>
struct alignas(N * sizeof(float)) Floats {
  float at[N];
};

template <std::uint32_t N>
WARREN_HD Floats<N> load_floats(const float* from) {
#if defined(__CUDA_ARCH__)
  return *reinterpret_cast<const Floats<N>*>(from);
#else
  Floats<N> values;
  std::memcpy(values.at, from, sizeof values.at);
  return values;
#endif
}
template <std::uint32_t N>
WARREN_HD void store_floats(const Floats<N>& values, float* to) {
#if defined(__CUDA_ARCH__)
  *reinterpret_cast<Floats<N>*>(to) = values;
#else
  std::memcpy(to, values.at, sizeof values.at);
#endif
}
/// The same from an address that need not be a multiple of 16.
template <std::uint32_t N>
WARREN_HD Floats<N> load_each(const float* from) {
  Floats<N> values;
  WARREN_UNROLL
  for (std::uint32_t i = 0; i < N; ++i) values.at[i] = from[i];
  return values;
}

template <class T, std::uint32_t N>
using Pack = exec::RawPack<T, N>;

template <std::uint32_t N, class T>
WARREN_HD Pack<T, N> load_pack(const T* from) {
#if defined(__CUDA_ARCH__)
  return *reinterpret_cast<const Pack<T, N>*>(from);
#else
  Pack<T, N> values;
  std::memcpy(static_cast<void*>(&values), from, sizeof values);
  return values;
#endif
}
template <std::uint32_t N, class T>
WARREN_HD void store_pack(const Floats<N>& values, T* to) {
  Pack<T, N> pack;
  WARREN_UNROLL
  for (std::uint32_t i = 0; i < N; ++i) pack.put(i, values.at[i]);
#if defined(__CUDA_ARCH__)
  *reinterpret_cast<Pack<T, N>*>(to) = pack;
#else
  std::memcpy(static_cast<void*>(to), &pack, sizeof pack);
#endif
}
template <class T, std::uint32_t N>
WARREN_HD Floats<N> floats_of(const Pack<T, N>& pack) {
  Floats<N> values;
  WARREN_UNROLL
  for (std::uint32_t i = 0; i < N; ++i) values.at[i] = pack.get(i);
  return values;
}
/// So many rows of 4 bytes an element, and as many bytes of T.
template <class T>
inline constexpr std::uint32_t kRowsOf4 = 4 * sizeof(float) / sizeof(T);

struct RowTiles {
  static constexpr std::uint64_t kMost = 4096;
  static constexpr std::uint64_t kLeastHeight = 64;
  std::uint64_t rows, height;

  WARREN_HD explicit RowTiles(std::uint64_t rows_)
      : rows(rows_), height((rows_ + kMost - 1) / kMost) {
    if (height < kLeastHeight) height = kLeastHeight;
  }
  [[nodiscard]] WARREN_HD std::uint64_t count() const { return (rows + height - 1) / height; }
  [[nodiscard]] WARREN_HD std::uint64_t begin(std::uint64_t tile) const { return tile * height; }
  [[nodiscard]] WARREN_HD std::uint64_t end(std::uint64_t tile) const {
    const std::uint64_t next = begin(tile) + height;
    return next < rows ? next : rows;
  }
};

template <class Body, std::uint32_t N>
struct RowPass {
  static constexpr std::uint32_t kTerms = Body::kSums == 0 ? 1 : Body::kSums;
  Body body;
  RowTiles tiles;
  std::uint64_t k;
  float* partial;  ///< tiles x kSums x k.

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t tile) const {
    body.specialised([&](const auto& special) {
      // A copy, which stores cannot change.
      const auto mine = special;
      float* const sums = partial + tile * Body::kSums * k;
      if constexpr (std::is_same_v<W, exec::Serial>) {
        by_rows(mine, tile, sums);
      } else {
        by_columns(worker, mine, tile, sums);
      }
    });
  }

 private:
  template <class Special>
  WARREN_HD void by_rows(const Special& mine, std::uint64_t tile, float* __restrict sums) const {
    if constexpr (Body::kSums != 0) {
      for (std::uint64_t i = 0; i < Body::kSums * k; ++i) sums[i] = 0.0f;
    }
    const std::uint64_t first = tiles.begin(tile);
    const std::uint64_t width = k;
    for (std::uint64_t r = first; r < tiles.end(tile); ++r) {
      const auto row = mine.row(r);
      for (std::uint64_t c = 0; c < width; ++c) {
        const auto column = mine.template column<1>(first, c);
        const auto loaded = mine.template load<1>(row, c);
        Floats<1> terms[kTerms];
        mine.use(row, column, c, loaded, terms);
        if constexpr (Body::kSums != 0) {
          for (std::uint32_t s = 0; s < Body::kSums; ++s) sums[s * width + c] += terms[s].at[0];
        }
      }
    }
  }

  /// kRows rows at a distance of `step`.
  template <std::uint32_t kRows, class Special, class Column>
  WARREN_HD static void some_rows(const Special& mine, const Column& column, std::uint64_t r,
                                  std::uint64_t step, std::uint64_t c, Floats<N> (&sums)[kTerms]) {
    using Row = decltype(mine.row(r));
    Row row[kRows];
    decltype(mine.template load<N>(row[0], c)) loaded[kRows];
    WARREN_UNROLL
    for (std::uint32_t u = 0; u < kRows; ++u) {
      row[u] = mine.row(r + u * step);
      loaded[u] = mine.template load<N>(row[u], c);
    }
    WARREN_UNROLL
    for (std::uint32_t u = 0; u < kRows; ++u) {
      Floats<N> terms[kTerms];
      mine.use(row[u], column, c, loaded[u], terms);
      if constexpr (Body::kSums != 0) {
        WARREN_UNROLL
        for (std::uint32_t s = 0; s < Body::kSums; ++s) {
          WARREN_UNROLL
          for (std::uint32_t i = 0; i < N; ++i) sums[s].at[i] += terms[s].at[i];
        }
      }
    }
  }

  template <class W, class Special>
  WARREN_HD void by_columns(const W& worker, const Special& mine, std::uint64_t tile,
                            float* sums) const {
    const auto packs = static_cast<std::uint32_t>(k / N);
    const std::uint32_t lanes = packs < worker.size() ? packs : worker.size();
    const std::uint32_t groups = worker.size() / lanes;
    const std::uint32_t group = worker.lane() / lanes;
    const std::uint64_t first = tiles.begin(tile);
    const std::uint64_t end = tiles.end(tile);
    for (std::uint32_t before = 0; before < packs; before += lanes) {
      const std::uint32_t pack = before + worker.lane() % lanes;
      const std::uint64_t c = std::uint64_t{pack} * N;
      const bool is_active = group < groups && pack < packs;
      Floats<N> sum[kTerms] = {};
      if (is_active) {
        const auto column = mine.template column<N>(first, c);
        std::uint64_t r = first + group;
        for (; r + (Body::kInFlight - 1) * groups < end; r += Body::kInFlight * groups)
          some_rows<Body::kInFlight>(mine, column, r, groups, c, sum);
        for (; r < end; r += groups) some_rows<1>(mine, column, r, groups, c, sum);
      }
      if constexpr (Body::kSums != 0) {
        for (std::uint32_t s = 0; s < Body::kSums; ++s)
          add_groups(worker, sum[s], lanes, is_active, sums + s * k + c);
      }
    }
  }
  /// to <- the sum of what the lanes at a distance of `lanes` have.
  template <class W>
  WARREN_HD static void add_groups(const W& worker, Floats<N> sum, std::uint32_t lanes,
                                   bool is_active, float* to) {
    auto* const shared = worker.template scratch<Floats<N>>();
    worker.sync();
    shared[worker.lane()] = sum;
    worker.sync();
    if (worker.lane() >= lanes || !is_active) return;
    for (std::uint32_t g = 1; g < worker.size() / lanes; ++g) {
      const Floats<N> other = shared[g * lanes + worker.lane()];
      WARREN_UNROLL
      for (std::uint32_t i = 0; i < N; ++i) sum.at[i] += other.at[i];
    }
    store_floats<N>(sum, to);
  }
};

/// `partial`: RowTiles(rows).count() x kSums x k; not used by bodies without sums.
template <class Backend, class Body>
void run_pass(const exec::Stream& stream, const Body& body, std::uint64_t rows, std::uint64_t k,
              float* partial) {
  if (rows == 0 || k == 0) return;
  const RowTiles tiles(rows);
  const auto go = [&]<std::uint32_t N>() {
    exec::LaunchOptions options;
    if (Body::kSums != 0 && !std::is_same_v<Backend, exec::Cpu>)
      options.scratch_bytes = options.threads_per_block * N * sizeof(float);
    exec::launch_wide<Backend, exec::Block>(stream, tiles.count(),
                                            RowPass<Body, N>{body, tiles, k, partial}, options);
  };
  if constexpr (!std::is_same_v<Backend, exec::Cpu>) {
    if (k % 4 == 0 && body.addresses() % sizeof(Floats<4>) == 0) return go.template operator()<4>();
  }
  go.template operator()<1>();
}

/// In units in which four elements are 16: of 16 bits, twice the address.
template <class T>
[[nodiscard]] std::uintptr_t address(const T* p) {
  return reinterpret_cast<std::uintptr_t>(p) * (sizeof(float) / sizeof(T));
}

/// out[s][c] += sum over tiles of partial[tile][s][c]; a task is a column of a sum.
struct AddPartialsKernel {
  std::uint64_t tiles, sums, k;
  const float* partial;
  float* out[2];

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t column) const {
    float sum = 0.0f;
    const float* from = partial + column;
    const std::uint64_t stride = sums * k;
    worker.for_each(tiles, [&](std::uint64_t i) { sum += from[i * stride]; });
    sum = worker.reduce(sum, exec::Plus{});
    if (worker.lane() != 0) return;
    float* const to = column < k ? out[0] : out[1];
    to[column < k ? column : column - k] += sum;
  }
};

/// A block, or a thread of the CPU, for every task.
template <class Backend, class Kernel>
void run_blocks(const exec::Stream& stream, std::uint64_t tasks, const Kernel& kernel) {
  exec::launch<Backend, exec::Block>(stream, tasks, kernel);
}

#if WARREN_HAS_CUDA
extern template void run_blocks<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                            const AddPartialsKernel&);
#endif

}  // namespace warren::learn::detail
