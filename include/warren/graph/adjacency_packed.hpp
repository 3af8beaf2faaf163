// SPDX-License-Identifier: Apache-2.0
// Compressed neighbour lists, for kernels: see adjacency.hpp.
#pragma once

#include "warren/graph/compressed_decode.hpp"
#include "warren/graph/far_stage.hpp"
#include "warren/graph/list_piece.hpp"
#include "warren/graph/shard.hpp"

namespace warren::graph {

/// Compressed lists, in host memory or on the device. A piece stands for the blocks of 256 that
/// begin in it, so that pieces which make up a list make up its blocks.
struct PackedAdjacency {
  static constexpr bool kIsFar = true;
  using Stage = FarStage;
  CsrView csr;  ///< Offsets.
  PackedRows packed;

  [[nodiscard]] WARREN_HD EdgeOffset degree(Vertex row) const { return csr.degree(row); }

  template <class W, class F>
  WARREN_HD std::uint64_t expand(const W& worker, Stage& stage, const ListPiece& piece,
                                 F&& f) const {
    return expand_blocks(
        worker, stage, piece,
        [&](bool active, std::uint32_t lane, const Dealt& dealt, std::uint32_t, Vertex target) {
          f(active, worker.broadcast(dealt.owner, lane), target);
        });
  }

  /// The same with f(active, owner, edge, target): `edge` is the edge's number in the whole graph,
  /// by which its weight is found.
  template <class W, class F>
  WARREN_HD std::uint64_t expand_edges(const W& worker, Stage& stage, const ListPiece& piece,
                                       F&& f) const {
    return expand_blocks(
        worker, stage, piece,
        [&](bool active, std::uint32_t lane, const Dealt& dealt, std::uint32_t k, Vertex target) {
          const EdgeOffset edge = worker.broadcast(dealt.first_edge, lane) + k;
          f(active, worker.broadcast(dealt.owner, lane), edge, target);
        });
  }

  /// A lane looks at the first neighbours of a list of its own, with the grains of its selectors
  /// and of its numbers in the stage. What is open after a few of them is read by all lanes
  /// together.
  template <class W, class P>
  WARREN_HD Vertex find(const W& worker, Stage& stage, bool want, Vertex row, P&& is_wanted,
                        std::uint64_t& bytes) const {
    CompressedRow mine;
    if (want) mine = packed.view.row(row);
    Vertex found = kNoVertex;
    std::uint64_t read = 0;
    bool open = mine.degree > 0;
    if constexpr (std::is_same_v<W, exec::Serial>) {
      if (open && mine.degree <= kCompressedBlock) {
        found = find_serially(mine, is_wanted);
        read += bytes_of(mine.bits, mine.end);
        open = false;
      }
    } else {
      find_alone(worker, stage, mine, is_wanted, open, found, read);
    }
    while (worker.any(open)) {
      const std::uint32_t lane =
          worker.reduce(open ? worker.lane() : worker.size(), exec::Minimum{});
      CompressedRow row_of;
      row_of.bits = worker.broadcast(mine.bits, lane);
      row_of.end = worker.broadcast(mine.end, lane);
      row_of.degree = worker.broadcast(mine.degree, lane);
      row_of.vertex = worker.broadcast(mine.vertex, lane);
      row_of.widths = worker.broadcast(mine.widths, lane);
      std::uint64_t decoded = 0;
      const Vertex first = find_neighbour(worker, packed.view, row_of, 0, [&](Vertex u) {
        ++decoded;
        return is_wanted(u);
      });
      if (worker.lane() == lane) {
        found = first;
        open = false;
      }
      // About the lists' share that was decoded.
      const std::uint64_t all = worker.reduce(decoded, exec::Plus{});
      if (worker.lane() == lane && row_of.degree > 0)
        read += (bytes_of(row_of.bits, row_of.end) * all + row_of.degree - 1) / row_of.degree;
    }
    if (packed.is_far) bytes += read;
    return found;
  }

 private:
  /// Rounds of find_alone().
  static constexpr std::uint32_t kLooks = 4;

  /// Of the block that a lane was dealt: who brought its row, and the number of its first edge.
  struct Dealt {
    std::uint32_t owner;
    EdgeOffset first_edge;
  };

  [[nodiscard]] WARREN_HD std::uint64_t bytes_of(std::uint64_t bits, std::uint64_t end) const {
    return sector_bytes(bits_from_zero(bits) / 8, (bits_from_zero(end) + 7) / 8);
  }
  [[nodiscard]] WARREN_HD GrainRange grains(std::uint64_t bits, std::uint64_t end) const {
    return GrainRange::of_bits(packed.view.stream, bits, end);
  }

  /// f(active, lane, dealt, k, target): neighbour k of the block that `lane` was dealt; `dealt` is
  /// this lane's own.
  template <class W, class F>
  WARREN_HD std::uint64_t expand_blocks(const W& worker, Stage& stage, const ListPiece& piece,
                                        F&& f) const {
    CompressedRow row;
    std::uint64_t first_block = 0;
    std::uint32_t blocks = 0;
    EdgeOffset begin = 0;
    if (piece.length > 0) {
      row = packed.view.row(piece.row);
      begin = csr.begin(piece.row);
      const EdgeOffset first = piece.begin - begin;
      first_block = (first + kCompressedBlock - 1) / kCompressedBlock;
      blocks = static_cast<std::uint32_t>(
          (first + piece.length + kCompressedBlock - 1) / kCompressedBlock - first_block);
    }
    std::uint64_t read = 0;
    // Blocks are dealt out to the lanes in the order of their addresses.
    worker.expand(blocks, [&](bool active, std::uint32_t owner, std::uint32_t k) {
      CompressedRow row_of;
      row_of.bits = worker.broadcast(row.bits, owner);
      row_of.end = worker.broadcast(row.end, owner);
      row_of.degree = worker.broadcast(row.degree, owner);
      row_of.vertex = worker.broadcast(row.vertex, owner);
      row_of.widths = worker.broadcast(row.widths, owner);
      const std::uint64_t block = worker.broadcast(first_block, owner) + k;
      const Dealt dealt{owner, worker.broadcast(begin, owner) + block * kCompressedBlock};
      const CompressedBlock mine = block_of(worker, active, owner, row_of, block);
      const auto give = [&](bool has, std::uint32_t lane, std::uint32_t index, Vertex target) {
        f(has, lane, dealt, index, target);
      };
      if constexpr (std::is_same_v<W, exec::Serial>) {
        read += bytes_of(mine.bits, mine.end);
        for_each_in_blocks(worker, packed.view, mine, mine.count, give);
      } else {
        read += expand_near(worker, stage, mine, give);
      }
    });
    return packed.is_far ? read : 0;
  }

  /// Every lane's block. Where it ends is known to the next lane, as long as that has the list's
  /// next one: places of blocks are far, too.
  template <class W>
  WARREN_HD CompressedBlock block_of(const W& worker, bool active, std::uint32_t owner,
                                     const CompressedRow& row, std::uint64_t block) const {
    CompressedBlock found;
    if (active) found.bits = packed.view.block_bits(row, block);
    const std::uint32_t next = worker.lane() + 1 < worker.size() ? worker.lane() + 1 : 0;
    const std::uint64_t next_bits = worker.broadcast(found.bits, next);
    const std::uint32_t next_owner = worker.broadcast(active ? owner : worker.size(), next);
    if (!active) return found;
    const EdgeOffset rest = row.degree - block * kCompressedBlock;
    if (rest <= kCompressedBlock) {
      found.end = row.end;
    } else if (next != 0 && next_owner == owner) {
      found.end = next_bits;
    } else {
      found.end = packed.view.block_bits(row, block + 1);
    }
    found.count = rest < kCompressedBlock ? static_cast<std::uint32_t>(rest) : kCompressedBlock;
    found.vertex = row.vertex;
    found.widths = row.widths;
    return found;
  }

  /// The lanes' blocks through the stage; the bytes read for this lane.
  template <class W, class F>
  WARREN_HD std::uint64_t expand_near(const W& worker, Stage& stage, const CompressedBlock& block,
                                      F&& f) const {
    std::uint64_t read = 0;
    bool is_open = block.count > 0;
    while (worker.any(is_open)) {
      const StagedGrains staged =
          stage_grains(worker, stage, is_open ? grains(block.bits, block.end) : GrainRange{});
      read += std::uint64_t{staged.read} * kGrainBytes;
      NearBlock near;
      if (staged.is_near) {
        near = {staged.place * kGrainBits + in_grain(block.bits), block.count, block.vertex,
                block.widths};
        is_open = false;
      }
      for_each_in_near_blocks(worker, stage.words, packed.view.smallest_gap, near, f);
    }
    return read;
  }

  [[nodiscard]] WARREN_HD std::uint64_t bits_from_zero(std::uint64_t bits) const {
    return reinterpret_cast<std::uintptr_t>(packed.view.stream) * 8 + bits;
  }
  [[nodiscard]] WARREN_HD std::uint32_t in_grain(std::uint64_t bits) const {
    return static_cast<std::uint32_t>(bits_from_zero(bits) % kGrainBits);
  }

  template <class P>
  [[nodiscard]] WARREN_HD Vertex find_serially(const CompressedRow& row, P&& is_wanted) const {
    CompressedCursor cursor(packed.view, {row.bits, row.end, static_cast<std::uint32_t>(row.degree),
                                          row.vertex, row.widths});
    for (EdgeOffset k = 0; k < row.degree; ++k) {
      const Vertex u = cursor.next();
      if (is_wanted(u)) return u;
    }
    return kNoVertex;
  }

  /// Clears `open` where a lane has found a neighbour or has seen all. For lists of one block.
  template <class W, class P>
  WARREN_HD void find_alone(const W& worker, Stage& stage, const CompressedRow& row, P&& is_wanted,
                            bool& open, Vertex& found, std::uint64_t& read) const {
    // A few numbers first, which most often are in one grain, then whole grains.
    constexpr std::uint32_t kFirstBits = 64;
    std::uint64_t selector = bits_from_zero(row.bits);
    std::uint64_t number = selector + 2 * row.degree;
    const std::uint64_t end = bits_from_zero(row.end);
    std::uint32_t left =
        row.degree <= kCompressedBlock ? static_cast<std::uint32_t>(row.degree) : 0;
    bool is_first = true;
    Vertex target = row.vertex;
    for (std::uint32_t look = 0; look < kLooks; ++look) {
      if (!worker.any(left > 0)) break;
      GrainRange front;  // From the selector on.
      GrainRange back;   // From the number on, if that is not among them.
      if (left > 0) {
        const std::uint64_t wanted = number + (look == 0 ? kFirstBits : kGrainBits);
        const std::uint64_t stop = (wanted < end ? wanted : end) - 1;
        front.first = selector / kGrainBits;
        front.count = static_cast<std::uint32_t>((selector + 1) / kGrainBits - front.first + 1);
        back.first = number / kGrainBits;
        back.count = static_cast<std::uint32_t>(stop / kGrainBits - back.first + 1);
        if (back.first <= front.first + front.count) {
          front.count = static_cast<std::uint32_t>(stop / kGrainBits - front.first + 1);
          back = {};
        }
      }
      const StagedGrains staged = stage_grains(worker, stage, front, back);
      read += std::uint64_t{staged.read} * kGrainBytes;
      if (staged.is_near) {
        // What is added to a bit's number from address 0 to find it in the stage.
        const std::uint64_t to_selector =
            std::uint64_t{staged.place} * kGrainBits - front.first * kGrainBits;
        const std::uint64_t selectors_end = (front.first + front.count) * kGrainBits;
        const bool is_apart = back.count > 0;
        const std::uint64_t to_number =
            is_apart ? to_selector + (front.first + front.count - back.first) * kGrainBits
                     : to_selector;
        const std::uint64_t numbers_end =
            is_apart ? (back.first + back.count) * kGrainBits : selectors_end;
        while (left > 0 && selector + 2 <= selectors_end) {
          const std::uint32_t width =
              selected_width(row.widths, read_bits(stage.words, selector + to_selector, 2));
          if (number + width > numbers_end) break;
          const std::uint32_t value = read_bits(stage.words, number + to_number, width);
          target += is_first ? from_zigzag(value) : value + packed.view.smallest_gap;
          is_first = false;
          selector += 2;
          number += width;
          --left;
          if (is_wanted(target)) {
            found = target;
            left = 0;
          }
          if (left == 0) open = false;
        }
      }
    }
  }
};

}  // namespace warren::graph
