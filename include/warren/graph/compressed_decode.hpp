// SPDX-License-Identifier: Apache-2.0
// Reading compressed neighbour lists: by one thread, or by all lanes of a worker together.
//
// Where a block's selectors are is known, so the lanes read one each; a prefix sum of the widths
// says where the numbers are, and one of the gaps what the neighbours are. Lanes may work on the
// blocks of several vertices at once, item by item as worker.expand deals them out: the prefix sums
// then run over all lanes, and each block subtracts what its first lane has. Neighbouring lanes
// read neighbouring words. A warp reads long blocks one after the other, in whole lines that its
// lanes hold in registers: lists in the host's memory are then waited for once a block, not twice
// every 32 neighbours.
#pragma once

#include <bit>
#include <cstring>
#include <type_traits>

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
  found.end =
      group.bytes() * 8 + read_wide_bits(packed, place + group.edge_width(), group.bit_width());
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

WARREN_HD inline std::uint64_t CompressedView::block_bits(const CompressedRow& row,
                                                          std::uint64_t index) const {
  // In front of the first block: the places of the blocks 1, 2, ... from the list's beginning on.
  if (index == 0) return row.bits + (compressed_blocks(row.degree) - 1) * kBlockPlaceBits;
  return row.bits +
         read_wide_bits(stream, row.bits + (index - 1) * kBlockPlaceBits, kBlockPlaceBits);
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
  found.bits = block_bits(row, index);
  found.end = index + 1 == blocks ? row.end : block_bits(row, index + 1);
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
template <bool kSeveral, class W, class Block>
WARREN_HD Vertex decode_batch(const W& worker, const std::uint32_t* stream,
                              std::uint32_t smallest_gap, const Block& block, std::uint32_t k,
                              bool active, CompressedCarry& carry) {
  const std::uint32_t lane = worker.lane();
  const bool goes_on = k > lane;
  const std::uint32_t head = goes_on ? 0 : lane - k;  // The block's first lane.
  const std::uint32_t width =
      active ? selected_width(block.widths, read_bits(stream, block.bits + std::uint64_t{2} * k, 2))
             : 0;
  std::uint32_t place = worker.exclusive_scan(width);
  if constexpr (kSeveral) place -= worker.broadcast(place, head);
  if (goes_on) place += carry.bits;
  std::uint32_t step = 0;
  if (active) {
    const std::uint32_t number =
        read_bits(stream, block.bits + std::uint64_t{2} * block.count + place, width);
    step = k == 0 ? block.vertex + from_zigzag(number) : number + smallest_gap;
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

namespace detail {

/// A block's words in the registers of a warp's lanes: lane l holds word l of each of four lines of
/// 32 words. All lanes call all functions.
template <class W>
class StagedBlock {
 public:
  static constexpr std::uint32_t kLine = 32;  ///< Words, and lanes.
  static constexpr std::uint32_t kLines = 4;

  WARREN_HD StagedBlock(const W& worker, const CompressedView& view, const CompressedBlock& block)
      : worker_(worker),
        stream_(view.stream),
        origin_(block.bits / 32 / kLine * kLine),
        begin_(block.bits / 32),
        end_((block.end + 31) / 32) {
    WARREN_UNROLL
    for (std::uint32_t line = 0; line < kLines; ++line) line_[line] = load(line);
    front_[0] = line_[0];
    front_[1] = line_[1];
  }

  /// Bits [place, place + width) of the stream, each lane its own, from the word of bit `first` to
  /// the 32nd behind it, among the block's selectors: they lie in its first two lines.
  WARREN_HD std::uint32_t read_selector(std::uint64_t first, std::uint64_t place,
                                        std::uint32_t width) const {
    const auto word = static_cast<std::uint32_t>(first / 32 - origin_);
    return pick(word < kLine ? front_[0] : front_[1], front_[1], word, place, width);
  }
  /// The same for numbers; `first` does not fall from call to call.
  WARREN_HD std::uint32_t read_number(std::uint64_t first, std::uint64_t place,
                                      std::uint32_t width) {
    const auto word = static_cast<std::uint32_t>(first / 32 - origin_);
    std::uint32_t line = word / kLine - passed_;
    while (line + 1 >= kLines) {
      passed_ += kLines - 1;
      line -= kLines - 1;
      line_[0] = line_[kLines - 1];
      WARREN_UNROLL
      for (std::uint32_t i = 1; i < kLines; ++i) line_[i] = load(passed_ + i);
    }
    const std::uint32_t low = line == 0 ? line_[0] : line == 1 ? line_[1] : line_[2];
    const std::uint32_t high = line == 0 ? line_[1] : line == 1 ? line_[2] : line_[3];
    return pick(low, high, word, place, width);
  }

 private:
  WARREN_HD std::uint32_t load(std::uint32_t line) const {
    const std::uint64_t word = origin_ + std::uint64_t{line} * kLine + worker_.lane();
    return word >= begin_ && word < end_ ? stream_[word] : 0;
  }
  /// `low` and `high` are this lane's words of two lines, `first` is the first word that any lane
  /// wants, in the low one. Of the 33 words from there on every lane has one in the first 32 and
  /// one in the last 32, which it offers in turn.
  WARREN_HD std::uint32_t pick(std::uint32_t low, std::uint32_t high, std::uint32_t first,
                               std::uint64_t place, std::uint32_t width) const {
    const std::uint32_t from = first % kLine;
    const auto source = static_cast<std::uint32_t>(place / 32 % kLine);
    const std::uint64_t here = worker_.broadcast(worker_.lane() >= from ? low : high, source);
    const std::uint64_t next =
        worker_.broadcast(worker_.lane() > from ? low : high, (source + 1) % kLine);
    const std::uint64_t bits = (next << 32 | here) >> place % 32;
    return static_cast<std::uint32_t>(bits & ((std::uint64_t{1} << width) - 1));
  }

  const W& worker_;
  const std::uint32_t* stream_;
  std::uint64_t origin_;      ///< The word that the block's first line begins with.
  std::uint64_t begin_;       ///< The block's first word and
  std::uint64_t end_;         ///< the one behind its last: others are not loaded.
  std::uint32_t passed_ = 0;  ///< Lines in front of line_[0].
  std::uint32_t line_[kLines];
  std::uint32_t front_[2];
};

/// Blocks from this length on are worth lines of their own.
inline constexpr std::uint32_t kStagedCount = 96;
/// Whether so many neighbours of a block are read through StagedBlock: by warps, and by what has as
/// many lanes.
template <class W>
WARREN_HD bool is_staged(const W& worker, std::uint32_t length) {
  return !std::is_same_v<W, exec::Block> && worker.size() == StagedBlock<W>::kLine &&
         length >= kStagedCount;
}

/// f(active, k, target) for neighbours k < length of a block that all 32 lanes have.
template <class W, class F>
WARREN_HD void for_each_staged(const W& worker, const CompressedView& view,
                               const CompressedBlock& block, std::uint32_t length, F&& f) {
  StagedBlock<W> staged(worker, view, block);
  const std::uint64_t numbers = block.bits + std::uint64_t{2} * block.count;
  CompressedCarry carry;
  for (std::uint32_t base = 0; base < length; base += worker.size()) {
    const std::uint32_t k = base + worker.lane();
    const bool active = k < length;
    const std::uint32_t selector =
        staged.read_selector(block.bits + std::uint64_t{2} * base,
                             block.bits + std::uint64_t{2} * (active ? k : base), 2);
    const std::uint32_t width = active ? selected_width(block.widths, selector) : 0;
    const std::uint32_t place = carry.bits + worker.exclusive_scan(width);
    const std::uint32_t number =
        staged.read_number(numbers + carry.bits, numbers + (active ? place : carry.bits), width);
    std::uint32_t step = 0;
    if (active) step = k == 0 ? block.vertex + from_zigzag(number) : number + view.smallest_gap;
    const Vertex target = carry.target + worker.exclusive_scan(step) + step;
    carry.bits = worker.broadcast(place + width, worker.size() - 1);
    carry.target = worker.broadcast(target, worker.size() - 1);
    f(active, k, target);
  }
}

/// The block of lane `owner`, for every lane that of its own `owner`.
template <class W>
WARREN_HD CompressedBlock broadcast_block(const W& worker, const CompressedBlock& mine,
                                          std::uint32_t owner) {
  CompressedBlock block;
  block.bits = worker.broadcast(mine.bits, owner);
  block.end = worker.broadcast(mine.end, owner);
  block.count = worker.broadcast(mine.count, owner);
  block.vertex = worker.broadcast(mine.vertex, owner);
  block.widths = worker.broadcast(mine.widths, owner);
  return block;
}

}  // namespace detail

/// f(active, owner, k, target) for neighbours k < length of every lane's block, by all lanes
/// together: `owner` is the lane that brought the block, `length` at most its count. f is called by
/// all lanes at once, so it may use collectives; lanes without an item get active = false. The
/// neighbours of a block come in ascending order, the blocks in any. For workers of one warp at
/// most.
template <class W, class F>
WARREN_HD void for_each_in_blocks(const W& worker, const CompressedView& view,
                                  const CompressedBlock& mine, std::uint32_t length, F&& f) {
  bool is_long = detail::is_staged(worker, length);
  while (worker.any(is_long)) {
    const std::uint32_t owner =
        worker.reduce(is_long ? worker.lane() : worker.size(), exec::Minimum{});
    detail::for_each_staged(
        worker, view, detail::broadcast_block(worker, mine, owner), worker.broadcast(length, owner),
        [&](bool active, std::uint32_t k, Vertex target) { f(active, owner, k, target); });
    if (worker.lane() == owner) {
      is_long = false;
      length = 0;
    }
  }
  detail::CompressedCarry carry;
  worker.expand(length, [&](bool active, std::uint32_t owner, std::uint32_t k) {
    const CompressedBlock block = detail::broadcast_block(worker, mine, owner);
    const Vertex target =
        detail::decode_batch<true>(worker, view.stream, view.smallest_gap, block, k, active, carry);
    f(active, owner, k, target);
  });
}

/// A block whose words are near, with its place in bits from their beginning on.
struct NearBlock {
  std::uint32_t bits = 0;
  std::uint32_t count = 0;
  Vertex vertex = 0;
  SelectorWidths widths = 0;
};
/// for_each_in_blocks() where the lanes' blocks lie at `words`.
template <class W, class F>
WARREN_HD void for_each_in_near_blocks(const W& worker, const std::uint32_t* words,
                                       std::uint32_t smallest_gap, const NearBlock& mine, F&& f) {
  detail::CompressedCarry carry;
  worker.expand(mine.count, [&](bool active, std::uint32_t owner, std::uint32_t k) {
    const NearBlock block{worker.broadcast(mine.bits, owner), worker.broadcast(mine.count, owner),
                          worker.broadcast(mine.vertex, owner),
                          worker.broadcast(mine.widths, owner)};
    const Vertex target =
        detail::decode_batch<true>(worker, words, smallest_gap, block, k, active, carry);
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
    if (detail::is_staged(worker, length)) {
      detail::for_each_staged(worker, view, block, length,
                              [&](bool active, std::uint32_t i, Vertex target) {
                                f(active && begin + i >= first, begin + i, target);
                              });
      continue;
    }
    detail::CompressedCarry carry;
    for (std::uint32_t base = 0; base < length; base += worker.size()) {
      const std::uint32_t k = base + worker.lane();
      const Vertex target = detail::decode_batch<false>(worker, view.stream, view.smallest_gap,
                                                        block, k, k < length, carry);
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
      const Vertex target = detail::decode_batch<false>(worker, view.stream, view.smallest_gap,
                                                        block, k, active, carry);
      const bool found = active && begin + k >= first && fulfils(target);
      // Neighbours ascend: the first is the smallest.
      if (worker.any(found)) return worker.reduce(found ? target : kNoVertex, exec::Minimum{});
    }
  }
  return kNoVertex;
}

}  // namespace warren::graph
