// SPDX-License-Identifier: Apache-2.0
// What the strategies of distributed products share: streams, scales, the product with a rank's own
// columns, and moving rows.
#pragma once

#include <cstring>

#include "warren/memory/gather.hpp"
#include "warren/sparse/distributed.hpp"

#include "sparse/blocks.hpp"

namespace warren::sparse {

/// What a strategy is made from.
struct Preparation {
  team::Team& team;
  const Rows& rows;
  std::uint64_t k;
  const DistributedOptions& options;
};

/// As gather() takes rows of 16 bits.
[[nodiscard]] inline const memory::GlobalView<float>& movable(
    const memory::GlobalView<float>& view) {
  return view;
}
template <class T>
[[nodiscard]] memory::GlobalView<std::uint16_t> movable(const memory::GlobalView<T>& view) {
  static_assert(sizeof(T) == sizeof(std::uint16_t));
  memory::GlobalView<std::uint16_t> result;
  for (int q = 0; q < view.ranks; ++q)
    result.base[q] = reinterpret_cast<std::uint16_t*>(view.base[q]);
  for (int q = 0; q <= view.ranks; ++q) result.cuts[q] = view.cuts[q];
  result.width = view.width;
  result.rank = view.rank;
  result.ranks = view.ranks;
  result.is_replicated = view.is_replicated;
  return result;
}
[[nodiscard]] inline float* movable(float* rows) { return rows; }
template <class T>
[[nodiscard]] std::uint16_t* movable(T* rows) {
  return reinterpret_cast<std::uint16_t*>(rows);
}

/// A list of rows that is gathered again and again.
class RowList {
 public:
  RowList() = default;
  RowList(const exec::Stream& stream, std::span<const Vertex> rows) {
    std::vector<std::uint64_t> wide(rows.begin(), rows.end());
    rows_ = to_device(stream, wide);
  }
  RowList(const exec::Stream& stream, const std::vector<std::uint64_t>& rows)
      : rows_(to_device(stream, rows)) {}
  [[nodiscard]] std::uint64_t size() const { return rows_.size(); }
  /// to[i] = table[row i], by `processors` at most of a GPU (0: all).
  template <class T>
  void gather(const exec::Stream& stream, const memory::GlobalView<T>& table, T* to,
              std::uint64_t begin, std::uint64_t end, std::uint32_t processors = 0) const {
    if (begin == end) return;
    memory::gather(stream, movable(table), rows_.data() + begin, end - begin,
                   movable(to + begin * table.width), nullptr, processors);
  }
  template <class T>
  void gather(const exec::Stream& stream, const memory::GlobalView<T>& table, T* to,
              std::uint32_t processors = 0) const {
    gather(stream, table, to, 0, size(), processors);
  }

 private:
  memory::Buffer<std::uint64_t> rows_;
};

/// Copies rows from wherever this device can read; on the CPU with all of the rank's threads.
template <class T>
void copy_rows(const exec::Stream& stream, T* to, const T* from, std::uint64_t elements) {
  if (elements == 0) return;
  if (stream.device().is_cuda()) return exec::copy(stream, to, from, elements * sizeof(T));
  constexpr std::uint64_t kGrain = std::uint64_t{1} << 16;
  stream.device().pool().parallel_for(
      0, elements, kGrain, [&](std::uint64_t begin, std::uint64_t end) {
        std::memcpy(to + begin, from + begin, (end - begin) * sizeof(T));
      });
}

template <class T>
class ProductBase : public Product<T> {
 public:
  explicit ProductBase(const Preparation& given)
      : team_(given.team),
        k_(given.k),
        first_(given.rows.first),
        count_(given.rows.count),
        copy_processors_(given.options.copy_processors),
        stream_(given.team.device()),
        copy_stream_(given.team.device(), exec::Priority::high),
        row_scale_(to_device(stream_, given.rows.row_scale)),
        self_(to_device(stream_, given.rows.self)) {}

  [[nodiscard]] std::uint64_t rows_moved() const override { return moved_; }

 protected:
  void take_own(const Rows& rows) {
    own_ = DeviceBlock(stream_, own_block(rows, team_.device().pool()), row_scale_.data(),
                       self_.data());
  }
  /// C = alpha (own columns) B + beta C, all rows.
  void multiply_own(const memory::GlobalArray<T>& b, T* c, float alpha, float beta) const {
    multiply(own_, b.local_data(), c, alpha, beta);
  }
  void multiply(const DeviceBlock& block, const T* b, T* c, float alpha, float beta) const {
    block.multiply(stream_, b, c, k_, k_, k_, alpha, beta);
  }
  /// Work on the main stream from here on follows the copies so far, and the other way round.
  void wait_for_copies() const { order(copy_stream_, stream_); }
  void copies_wait() const { order(stream_, copy_stream_); }

  static void order(const exec::Stream& before, const exec::Stream& after) {
    exec::Event event(before.device());
    event.record(before);
    after.wait(event);
  }
  /// All ranks' work so far is done and visible to all.
  void synchronize_team() const {
    copy_stream_.synchronize();
    stream_.synchronize();
    team_.barrier();
  }

  team::Team& team_;
  std::uint64_t k_, first_, count_;
  std::uint32_t copy_processors_;
  exec::Stream stream_, copy_stream_;
  memory::Buffer<float> row_scale_, self_;
  DeviceBlock own_;
  std::uint64_t moved_ = 0;
};

// Each in a file of its own; T is float, Half or BFloat16.
template <class T>
std::unique_ptr<Product<T>> make_broadcast(const Preparation& given);
template <class T>
std::unique_ptr<Product<T>> make_pull(const Preparation& given);
template <class T>
std::unique_ptr<Product<T>> make_once(const Preparation& given);
template <class T>
std::unique_ptr<Product<T>> make_staged(const Preparation& given);
template <class T>
std::unique_ptr<Product<T>> make_fused(const Preparation& given);
template <class T>
std::unique_ptr<Product<T>> make_cover(const Preparation& given);

}  // namespace warren::sparse
