// SPDX-License-Identifier: Apache-2.0
// Reading compressed neighbour lists: by one thread, or by all lanes of a worker together.
//
// Where a block's selectors are is known, so the lanes read one each; a prefix sum of the widths
// says where the numbers are, and one of the gaps what the neighbours are. Lanes may work on the
// blocks of several vertices at once, item by item as worker.expand deals them out: the prefix sums
// then run over all lanes, and each block subtracts what its first lane has. Neighbouring lanes
// read neighbouring words.
#pragma once

#include <bit>
#include <cstring>

#include "warren/exec/worker.hpp"
#include "warren/graph/compressed.hpp"

namespace warren::graph {

/// Bits [place, place + width) of little-endian words, width at most 32. Reads up to 8 bytes from
/// the byte at `place` on.
[[nodiscard]] WARREN_HD inline std::uint32_t read_bits(const std::uint32_t* words,
                                                       std::uint64_t place, std::uint32_t width) {
#if defined(__CUDA_ARCH__)
  const std::uint32_t* at = words + place / 32;
  const std::uint32_t bits = __funnelshift_r(at[0], at[1], static_cast<std::uint32_t>(place % 32));
  return static_cast<std::uint32_t>(bits & ((std::uint64_t{1} << width) - 1));
#else
  static_assert(std::endian::native == std::endian::little);
  std::uint64_t bits;
  std::memcpy(&bits, reinterpret_cast<const unsigned char*>(words) + place / 8, sizeof(bits));
  return static_cast<std::uint32_t>(bits >> place % 8 & ((std::uint64_t{1} << width) - 1));
#endif
}
/// The same for up to 64 bits.
[[nodiscard]] WARREN_HD inline std::uint64_t read_wide_bits(const std::uint32_t* words,
                                                            std::uint64_t place,
                                                            std::uint32_t width) {
  if (width <= 32) return read_bits(words, place, width);
  return read_bits(words, place, 32) | std::uint64_t{read_bits(words, place + 32, width - 32)}
                                           << 32;
}

[[nodiscard]] WARREN_HD inline std::uint32_t selected_width(SelectorWidths widths,
                                                            std::uint32_t selector) {
  return widths >> selector * 8 & 0xffu;
}
/// 0, -1, 1, -2, ... modulo 2^32 from 0, 1, 2, 3, ...
[[nodiscard]] WARREN_HD inline std::uint32_t from_zigzag(std::uint32_t value) {
  return value >> 1 ^ (0u - (value & 1u));
}
/// The set of widths of a degree: its bit length, 32 at most.
[[nodiscard]] WARREN_HD inline std::uint32_t degree_class(EdgeOffset degree) {
  if (degree >> 32 != 0) return kDegreeClasses - 1;
#if defined(__CUDA_ARCH__)
  return 32u - static_cast<std::uint32_t>(__clz(static_cast<int>(degree)));
#else
  return static_cast<std::uint32_t>(std::bit_width(degree));
#endif
}
[[nodiscard]] WARREN_HD inline std::uint64_t compressed_blocks(EdgeOffset degree) {
  return (degree + kCompressedBlock - 1) / kCompressedBlock;
}

WARREN_HD inline CompressedRow CompressedView::row(Vertex row) const {
  CompressedRow found;
  found.vertex = first + row;
  const CompressedGroup group = groups[found.vertex / kCompressedGroup];
  const std::uint32_t stride = group.edge_width() + group.bit_width();
  const std::uint32_t* packed = fields + group.word();
  const std::uint32_t place = found.vertex % kCompressedGroup * stride;
  EdgeOffset edge = 0;
  std::uint64_t bits = 0;
  if (found.vertex % kCompressedGroup != 0) {
    edge = read_wide_bits(packed, place - stride, group.edge_width());
    bits = read_wide_bits(packed, place - group.bit_width(), group.bit_width());
  }
  found.degree = read_wide_bits(packed, place, group.edge_width()) - edge;
  found.edge = group.edges() + edge;
  found.bits = group.bytes() * 8 + bits;
  found.widths = widths[degree_class(found.degree)];
  return found;
}

WARREN_HD inline EdgeOffset CompressedView::degree(Vertex row) const {
  const Vertex vertex = first + row;
  const CompressedGroup group = groups[vertex / kCompressedGroup];
  const std::uint32_t stride = group.edge_width() + group.bit_width();
  const std::uint32_t* packed = fields + group.word();
  const std::uint32_t place = vertex % kCompressedGroup * stride;
  const EdgeOffset end = read_wide_bits(packed, place, group.edge_width());
  return vertex % kCompressedGroup == 0
             ? end
             : end - read_wide_bits(packed, place - stride, group.edge_width());
}

WARREN_HD inline CompressedBlock CompressedView::block(const CompressedRow& row,
                                                       std::uint64_t index) const {
  CompressedBlock found;
  const std::uint64_t blocks = compressed_blocks(row.degree);
  if (index >= blocks) return found;
  const EdgeOffset rest = row.degree - index * kCompressedBlock;
  found.count = rest < kCompressedBlock ? static_cast<std::uint32_t>(rest) : kCompressedBlock;
  found.vertex = row.vertex;
  found.widths = row.widths;
  found.bits =
      row.bits + (index == 0 ? (blocks - 1) * kBlockPlaceBits
                             : read_wide_bits(stream, row.bits + (index - 1) * kBlockPlaceBits,
                                              kBlockPlaceBits));
  return found;
}

/// One thread's walk through a block: next() gives its neighbours in ascending order, `count` of
/// them at most.
class CompressedCursor {
 public:
  WARREN_HD CompressedCursor(const CompressedView& view, const CompressedBlock& block)
      : stream_(view.stream),
        selectors_(block.bits),
        numbers_(block.bits + std::uint64_t{2} * block.count),
        widths_(block.widths),
        smallest_gap_(view.smallest_gap),
        target_(block.vertex) {}

  WARREN_HD Vertex next() {
    const std::uint32_t width =
        selected_width(widths_, read_bits(stream_, selectors_ + std::uint64_t{2} * index_, 2));
    const std::uint32_t number = read_bits(stream_, numbers_, width);
    numbers_ += width;
    target_ += index_ == 0 ? from_zigzag(number) : number + smallest_gap_;
    ++index_;
    return target_;
  }

 private:
  const std::uint32_t* stream_;
  std::uint64_t selectors_;
  std::uint64_t numbers_;
  SelectorWidths widths_;
  std::uint32_t smallest_gap_;
  std::uint32_t index_ = 0;
  Vertex target_;
};

namespace detail {

/// How far the last lane's block was read: where the first lanes go on in the next batch.
struct CompressedCarry {
  std::uint32_t bits = 0;
  Vertex target = 0;
};

/// Neighbour `k` of `block`, each lane its own; all lanes call. Lanes that work on one block are
/// neighbours, with k ascending by one from lane to lane, and go on where the batch before ended.
/// kSeveral: the lanes may have different blocks.
template <bool kSeveral, class W>
WARREN_HD Vertex decode_batch(const W& worker, const CompressedView& view,
                              const CompressedBlock& block, std::uint32_t k, bool active,
                              CompressedCarry& carry) {
  const std::uint32_t lane = worker.lane();
  const bool goes_on = k > lane;
  const std::uint32_t head = goes_on ? 0 : lane - k;  // The block's first lane.
  const std::uint32_t width =
      active ? selected_width(block.widths,
                              read_bits(view.stream, block.bits + std::uint64_t{2} * k, 2))
             : 0;
  std::uint32_t place = worker.exclusive_scan(width);
  if constexpr (kSeveral) place -= worker.broadcast(place, head);
  if (goes_on) place += carry.bits;
  std::uint32_t step = 0;
  if (active) {
    const std::uint32_t number =
        read_bits(view.stream, block.bits + std::uint64_t{2} * block.count + place, width);
    step = k == 0 ? block.vertex + from_zigzag(number) : number + view.smallest_gap;
  }
  Vertex target = worker.exclusive_scan(step);
  if constexpr (kSeveral) target -= worker.broadcast(target, head);
  target += step;
  if (goes_on) target += carry.target;
  carry.bits = worker.broadcast(place + width, worker.size() - 1);
  carry.target = worker.broadcast(target, worker.size() - 1);
  return target;
}

}  // namespace detail

/// f(active, owner, k, target) for neighbours k < length of every lane's block, by all lanes
/// together: `owner` is the lane that brought the block, `length` at most its count. f is called by
/// all lanes at once, so it may use collectives; lanes without an item get active = false. For
/// workers of one warp at most.
template <class W, class F>
WARREN_HD void for_each_in_blocks(const W& worker, const CompressedView& view,
                                  const CompressedBlock& mine, std::uint32_t length, F&& f) {
  detail::CompressedCarry carry;
  worker.expand(length, [&](bool active, std::uint32_t owner, std::uint32_t k) {
    CompressedBlock block;
    block.bits = worker.broadcast(mine.bits, owner);
    block.count = worker.broadcast(mine.count, owner);
    block.vertex = worker.broadcast(mine.vertex, owner);
    block.widths = worker.broadcast(mine.widths, owner);
    const Vertex target = detail::decode_batch<true>(worker, view, block, k, active, carry);
    f(active, owner, k, target);
  });
}

/// f(active, k, target) for neighbours k in [first, last) of one row, ascending, by all lanes
/// together. f is called by all lanes at once; lanes without an item get active = false. What lies
/// before first's block of 256 is not read. Any worker; those of more than a warp have idle lanes.
template <class W, class F>
WARREN_HD void for_each_neighbour(const W& worker, const CompressedView& view,
                                  const CompressedRow& row, EdgeOffset first, EdgeOffset last,
                                  F&& f) {
  if (last > row.degree) last = row.degree;
  for (EdgeOffset begin = first / kCompressedBlock * kCompressedBlock; begin < last;
       begin += kCompressedBlock) {
    const CompressedBlock block = view.block(row, begin / kCompressedBlock);
    const auto length =
        last - begin < block.count ? static_cast<std::uint32_t>(last - begin) : block.count;
    detail::CompressedCarry carry;
    for (std::uint32_t base = 0; base < length; base += worker.size()) {
      const std::uint32_t k = base + worker.lane();
      const Vertex target = detail::decode_batch<false>(worker, view, block, k, k < length, carry);
      f(k < length && begin + k >= first, begin + k, target);
    }
  }
}

/// The first neighbour of one row, from number `first` on, that fulfils the predicate, or
/// kNoVertex: by all lanes together, who read no further than the batch that has it.
template <class W, class Predicate>
WARREN_HD Vertex find_neighbour(const W& worker, const CompressedView& view,
                                const CompressedRow& row, EdgeOffset first, Predicate&& fulfils) {
  for (EdgeOffset begin = first / kCompressedBlock * kCompressedBlock; begin < row.degree;
       begin += kCompressedBlock) {
    const CompressedBlock block = view.block(row, begin / kCompressedBlock);
    detail::CompressedCarry carry;
    for (std::uint32_t base = 0; base < block.count; base += worker.size()) {
      const std::uint32_t k = base + worker.lane();
      const bool active = k < block.count;
      const Vertex target = detail::decode_batch<false>(worker, view, block, k, active, carry);
      const bool found = active && begin + k >= first && fulfils(target);
      // Neighbours ascend: the first is the smallest.
      if (worker.any(found)) return worker.reduce(found ? target : kNoVertex, exec::Minimum{});
    }
  }
  return kNoVertex;
}

}  // namespace warren::graph
