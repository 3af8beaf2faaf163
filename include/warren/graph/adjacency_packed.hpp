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
    if constexpr (std::is_same_v<W, exec::Serial>) {
      return expand_edges(worker, piece,
                          [&](bool active, std::uint32_t owner, EdgeOffset, Vertex target) {
                            f(active, owner, target);
                          });
    } else {
      const Blocks blocks = blocks_of(piece);
      std::uint64_t read = 0;
      // Blocks are dealt out to the lanes in the order of their addresses.
      worker.expand(blocks.count, [&](bool active, std::uint32_t owner, std::uint32_t k) {
        const CompressedRow row = row_of(worker, blocks.row, owner);
        const std::uint64_t block = worker.broadcast(blocks.first, owner) + k;
        read += expand_near(worker, stage, block_of(worker, active, owner, row, block),
                            [&](bool has, std::uint32_t lane, std::uint32_t, Vertex target) {
                              f(has, worker.broadcast(owner, lane), target);
                            });
      });
      return packed.is_far ? read : 0;
    }
  }

  /// The same without a stage, with f(active, owner, edge, target): `edge` is the edge's number in
  /// the whole graph, by which its weight is found. Sectors at the ends of blocks may be read
  /// twice; but weights and distances keep the first-level cache, of which stages take half (SSSP
  /// of kron:24 through a stage: 105 ms instead of 96).
  template <class W, class F>
  WARREN_HD std::uint64_t expand_edges(const W& worker, const ListPiece& piece, F&& f) const {
    const Blocks blocks = blocks_of(piece);
    std::uint64_t read = 0;
    std::uint32_t k = 0;
    while (worker.any(k < blocks.count)) {
      const CompressedBlock mine =
          k < blocks.count ? packed.view.block(blocks.row, blocks.first + k) : CompressedBlock{};
      read += bytes_of(mine.bits, mine.end);
      const EdgeOffset first_edge = blocks.begin + (blocks.first + k) * kCompressedBlock;
      ++k;
      for_each_in_blocks(worker, packed.view, mine, mine.count,
                         [&](bool active, std::uint32_t owner, std::uint32_t i, Vertex target) {
                           f(active, owner, worker.broadcast(first_edge, owner) + i, target);
                         });
    }
    return packed.is_far ? read : 0;
  }

  /// A lane looks at the first neighbours of a list of its own, with the sectors of its selectors
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
      const CompressedRow list = row_of(worker, mine, lane);
      std::uint64_t decoded = 0;
      const Vertex first = find_neighbour(worker, packed.view, list, 0, [&](Vertex u) {
        ++decoded;
        return is_wanted(u);
      });
      if (worker.lane() == lane) {
        found = first;
        open = false;
      }
      // About the lists' share that was decoded.
      const std::uint64_t all = worker.reduce(decoded, exec::Plus{});
      if (worker.lane() == lane && list.degree > 0)
        read += (bytes_of(list.bits, list.end) * all + list.degree - 1) / list.degree;
    }
    if (packed.is_far) bytes += read;
    return found;
  }

 private:
  /// Rounds of find_alone().
  static constexpr std::uint32_t kLooks = 4;

  /// The row of another lane, but for the number of its first edge.
  template <class W>
  [[nodiscard]] WARREN_HD static CompressedRow row_of(const W& worker, const CompressedRow& mine,
                                                      std::uint32_t lane) {
    CompressedRow row;
    row.bits = worker.broadcast(mine.bits, lane);
    row.end = worker.broadcast(mine.end, lane);
    row.degree = worker.broadcast(mine.degree, lane);
    row.vertex = worker.broadcast(mine.vertex, lane);
    row.widths = worker.broadcast(mine.widths, lane);
    return row;
  }

  /// The blocks of a piece: `count` of its row's, from `first` on.
  struct Blocks {
    CompressedRow row;
    EdgeOffset begin = 0;  ///< The row's first edge.
    std::uint64_t first = 0;
    std::uint32_t count = 0;
  };
  [[nodiscard]] WARREN_HD Blocks blocks_of(const ListPiece& piece) const {
    Blocks blocks;
    if (piece.length == 0) return blocks;
    blocks.row = packed.view.row(piece.row);
    blocks.begin = csr.begin(piece.row);
    const EdgeOffset first = piece.begin - blocks.begin;
    blocks.first = compressed_blocks(first);
    blocks.count =
        static_cast<std::uint32_t>(compressed_blocks(first + piece.length) - blocks.first);
    return blocks;
  }

  [[nodiscard]] WARREN_HD std::uint64_t bytes_of(std::uint64_t bits, std::uint64_t end) const {
    return sector_bytes(bits_from_zero(bits) / 8, (bits_from_zero(end) + 7) / 8);
  }
  [[nodiscard]] WARREN_HD SectorRange sectors(std::uint64_t bits, std::uint64_t end) const {
    return SectorRange::of_bits(packed.view.stream, bits, end);
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
      const StagedSectors staged =
          stage_sectors(worker, stage, is_open ? sectors(block.bits, block.end) : SectorRange{});
      read += std::uint64_t{staged.read} * kSectorBytes;
      NearBlock near;
      if (staged.is_near) {
        near = {staged.place * kSectorBits + in_sector(block.bits), block.count, block.vertex,
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
  [[nodiscard]] WARREN_HD std::uint32_t in_sector(std::uint64_t bits) const {
    return static_cast<std::uint32_t>(bits_from_zero(bits) % kSectorBits);
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
    // A few numbers first, which most often are in one sector, then whole sectors.
    constexpr std::uint32_t kFirstBits = 64;
    std::uint64_t selector = bits_from_zero(row.bits);
    std::uint64_t number = selector + 2 * row.degree;
    const std::uint64_t end = bits_from_zero(row.end);
    std::uint32_t left =
        row.degree <= kCompressedBlock ? static_cast<std::uint32_t>(row.degree) : 0;
    bool is_first = true;
    Vertex target = row.vertex;
    std::uint32_t looks = 0;
    while (worker.any(left > 0 && looks < kLooks)) {
      SectorRange front;  // From the selector on.
      SectorRange back;   // From the number on, if that is not among them.
      if (left > 0 && looks < kLooks) {
        const std::uint64_t wanted = number + (looks == 0 ? kFirstBits : kSectorBits);
        const std::uint64_t stop = (wanted < end ? wanted : end) - 1;
        front.first = selector / kSectorBits;
        front.count = static_cast<std::uint32_t>((selector + 1) / kSectorBits - front.first + 1);
        back.first = number / kSectorBits;
        back.count = static_cast<std::uint32_t>(stop / kSectorBits - back.first + 1);
        if (back.first <= front.first + front.count) {
          front.count = static_cast<std::uint32_t>(stop / kSectorBits - front.first + 1);
          back = {};
        }
      }
      const StagedSectors staged = stage_sectors(worker, stage, front, back);
      read += std::uint64_t{staged.read} * kSectorBytes;
      if (staged.is_near) {
        ++looks;
        // What is added to a bit's number from address 0 to find it in the stage.
        const std::uint64_t to_selector =
            std::uint64_t{staged.place} * kSectorBits - front.first * kSectorBits;
        const std::uint64_t selectors_end = (front.first + front.count) * kSectorBits;
        const bool is_apart = back.count > 0;
        const std::uint64_t to_number =
            is_apart ? std::uint64_t{staged.back_place} * kSectorBits - back.first * kSectorBits
                     : to_selector;
        const std::uint64_t numbers_end =
            is_apart ? (back.first + back.count) * kSectorBits : selectors_end;
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
