// SPDX-License-Identifier: Apache-2.0
// How kernels walk neighbour lists: the same operations over every form that a shard's edges take.
//
//   kIsFar                              lists are read over a slow link: visit them in address
//   order degree(row)                         edges of a local row expand(worker, piece, f) every
//   lane brings a piece of a row's list; the lanes together
//                                       call f(active, owner, target) for every edge of every
//                                       piece. All lanes call f at once, so it may use collectives.
//   find(worker, want, row, is_wanted)  every lane asks for the first edge of a row of its own
//   whose
//                                       target satisfies is_wanted(target); kNoVertex where none
//                                       does
//
// expand() and find() return the bytes of far memory that this lane's piece or row touched, in
// whole sectors of 32 bytes; the sum over the lanes is what crossed the link.
#pragma once

#include "warren/exec/worker.hpp"
#include "warren/graph/shard.hpp"

namespace warren::graph {

/// Edges [begin, begin + length) of local row `row`.
struct ListPiece {
  Vertex row = 0;
  EdgeOffset begin = 0;
  std::uint32_t length = 0;
};

/// What a read of host memory moves at least.
inline constexpr std::uint32_t kSectorBytes = 32;

/// Lists as CSR in memory that is as near as any: the device's own, or the host's for the CPU.
struct NearAdjacency {
  static constexpr bool kIsFar = false;
  CsrView csr;

  [[nodiscard]] WARREN_HD EdgeOffset degree(Vertex row) const { return csr.degree(row); }

  template <class W, class F>
  WARREN_HD std::uint64_t expand(const W& worker, const ListPiece& piece, F&& f) const {
    worker.expand(piece.length, [&](bool active, std::uint32_t owner, std::uint32_t k) {
      const EdgeOffset edge = worker.broadcast(piece.begin, owner) + k;
      f(active, owner, active ? csr.targets[edge] : 0);
    });
    return 0;
  }

  /// Lanes scan on their own for a while; what is still open then is scanned by all lanes together,
  /// one list after the other.
  template <class W, class P>
  WARREN_HD Vertex find(const W& worker, bool want, Vertex row, P&& is_wanted,
                        std::uint64_t&) const {
    EdgeOffset edge = want ? csr.begin(row) : 0;
    const EdgeOffset end = want ? csr.end(row) : 0;
    const EdgeOffset alone =
        worker.size() == 1 || end - edge < kScanAlone ? end : edge + kScanAlone;
    Vertex found = kNoVertex;
    for (; edge < alone; ++edge) {
      const Vertex u = csr.targets[edge];
      if (is_wanted(u)) {
        found = u;
        break;
      }
    }
    if (worker.size() == 1) return found;
    bool open = found == kNoVertex && edge < end;
    while (worker.any(open)) {
      const std::uint32_t lane =
          worker.reduce(open ? worker.lane() : worker.size(), exec::Minimum{});
      const EdgeOffset first = worker.broadcast(edge, lane);
      const EdgeOffset last = worker.broadcast(end, lane);
      Vertex best = kNoVertex;
      for (EdgeOffset base = first; base < last; base += worker.size()) {
        const EdgeOffset mine = base + worker.lane();
        if (mine < last) {
          const Vertex u = csr.targets[mine];
          if (is_wanted(u)) best = u;
        }
        if (worker.any(best != kNoVertex)) break;
      }
      best = worker.reduce(best, exec::Minimum{});
      if (worker.lane() == lane) {
        found = best;
        open = false;
      }
    }
    return found;
  }

 private:
  static constexpr EdgeOffset kScanAlone = 64;
};

/// Lists as CSR in host memory, those of the first rows perhaps on the device.
struct FarAdjacency {
  static constexpr bool kIsFar = true;
  CsrView csr;

  [[nodiscard]] WARREN_HD EdgeOffset degree(Vertex row) const { return csr.degree(row); }

  template <class W, class F>
  WARREN_HD std::uint64_t expand(const W& worker, const ListPiece& piece, F&& f) const {
    const bool is_cached = piece.begin < csr.cached_end;
    const auto address = reinterpret_cast<std::uintptr_t>(csr.list(piece.begin));
    worker.expand(piece.length, [&](bool active, std::uint32_t owner, std::uint32_t k) {
      const auto* list = reinterpret_cast<const Vertex*>(worker.broadcast(address, owner));
      f(active, owner, active ? list[k] : 0);
    });
    return is_cached ? 0 : sectors(address, piece.length) * kSectorBytes;
  }

  /// A lane reads its list a sector at a time, all of it in flight together; after a few of them
  /// all lanes read on together.
  template <class W, class P>
  WARREN_HD Vertex find(const W& worker, bool want, Vertex row, P&& is_wanted,
                        std::uint64_t& bytes) const {
    const EdgeOffset begin = want ? csr.begin(row) : 0;
    const EdgeOffset end = want ? csr.end(row) : 0;
    const bool is_cached = begin < csr.cached_end;
    // In elements from address 0, so that sectors fall on multiples of kInSector.
    std::uint64_t at = reinterpret_cast<std::uintptr_t>(csr.list(begin)) / sizeof(Vertex);
    const std::uint64_t last = at + (end - begin);
    Vertex found = kNoVertex;
    std::uint64_t read = 0;
    for (std::uint32_t s = 0; at < last && found == kNoVertex; ++s) {
      if (worker.size() > 1 && s == kSectorsAlone) break;
      const std::uint64_t sector = at / kInSector * kInSector;
      Vertex u[kInSector];
      load_sector(sector, at, last, u);
      ++read;
      WARREN_UNROLL
      for (std::uint32_t j = 0; j < kInSector; ++j) {
        const bool inside = sector + j >= at && sector + j < last;
        if (inside && found == kNoVertex && is_wanted(u[j])) found = u[j];
      }
      at = sector + kInSector;
    }
    bytes += is_cached ? 0 : read * kSectorBytes;
    if (worker.size() == 1) return found;
    bool open = found == kNoVertex && at < last;
    while (worker.any(open)) {
      const std::uint32_t lane =
          worker.reduce(open ? worker.lane() : worker.size(), exec::Minimum{});
      std::uint64_t position = worker.broadcast(at, lane);
      const std::uint64_t stop = worker.broadcast(last, lane);
      const bool near = worker.broadcast(is_cached ? 1u : 0u, lane) != 0;
      Vertex best = kNoVertex;
      for (; position < stop; position += worker.size()) {
        const std::uint64_t mine = position + worker.lane();
        if (mine < stop) {
          const Vertex u = *reinterpret_cast<const Vertex*>(mine * sizeof(Vertex));
          if (is_wanted(u)) best = u;
          if (!near && mine % kInSector == 0) bytes += kSectorBytes;
        }
        if (worker.any(best != kNoVertex)) break;
      }
      best = worker.reduce(best, exec::Minimum{});
      if (worker.lane() == lane) {
        found = best;
        open = false;
      }
    }
    return found;
  }

 private:
  static constexpr std::uint32_t kInSector = kSectorBytes / sizeof(Vertex);
  static constexpr std::uint32_t kSectorsAlone = 4;

  [[nodiscard]] WARREN_HD static std::uint64_t sectors(std::uintptr_t address,
                                                       std::uint32_t length) {
    if (length == 0) return 0;
    const std::uintptr_t last = address + std::uintptr_t{length} * sizeof(Vertex) - 1;
    return last / kSectorBytes - address / kSectorBytes + 1;
  }

  /// The sector that starts at `element`, counted from address 0. Buffers of lists are whole
  /// sectors on a GPU; on the CPU only elements of [first, last) are read.
  WARREN_HD static void load_sector(std::uint64_t element, [[maybe_unused]] std::uint64_t first,
                                    [[maybe_unused]] std::uint64_t last, Vertex* values) {
    const auto* source = reinterpret_cast<const Vertex*>(element * sizeof(Vertex));
#if defined(__CUDA_ARCH__)
    const uint4 low = *reinterpret_cast<const uint4*>(source);
    const uint4 high = *reinterpret_cast<const uint4*>(source + 4);
    values[0] = low.x, values[1] = low.y, values[2] = low.z, values[3] = low.w;
    values[4] = high.x, values[5] = high.y, values[6] = high.z, values[7] = high.w;
#else
    for (std::uint32_t j = 0; j < kInSector; ++j)
      values[j] = element + j >= first && element + j < last ? source[j] : 0;
#endif
  }
};

/// Compressed lists, in host memory or on the device. A piece stands for the blocks of 256 that
/// begin in it, so that pieces which make up a list make up its blocks.
struct PackedAdjacency {
  static constexpr bool kIsFar = true;
  CsrView csr;  ///< Offsets.
  PackedRows packed;

  [[nodiscard]] WARREN_HD EdgeOffset degree(Vertex row) const { return csr.degree(row); }

  template <class W, class F>
  WARREN_HD std::uint64_t expand(const W& worker, const ListPiece& piece, F&& f) const {
    return expand_blocks(worker, piece,
                         [&](bool active, std::uint32_t owner, EdgeOffset, std::uint32_t,
                             Vertex target) { f(active, owner, target); });
  }

  /// The same with f(active, owner, edge, target): `edge` is the edge's number in the whole graph,
  /// by which its weight is found.
  template <class W, class F>
  WARREN_HD std::uint64_t expand_edges(const W& worker, const ListPiece& piece, F&& f) const {
    return expand_blocks(worker, piece,
                         [&](bool active, std::uint32_t owner, EdgeOffset first_of_own,
                             std::uint32_t k, Vertex target) {
                           f(active, owner, worker.broadcast(first_of_own, owner) + k, target);
                         });
  }

  /// A lane looks at the first neighbours of a list of its own: a sector of selectors and two of
  /// numbers, under way together. What is open then is read by all lanes together.
  template <class W, class P>
  WARREN_HD Vertex find(const W& worker, bool want, Vertex row, P&& is_wanted,
                        std::uint64_t& bytes) const {
    CompressedRow mine;
    if (want) mine = packed.view.row(row);
    Vertex found = kNoVertex;
    std::uint64_t read = 0;
    bool open = mine.degree > 0;
    if (open && mine.degree <= kCompressedBlock) open = !find_alone(mine, is_wanted, found, read);
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
        read += (sectors(row_of.bits, row_of.end) * all + row_of.degree - 1) / row_of.degree;
    }
    if (packed.is_far) bytes += read * kSectorBytes;
    return found;
  }

 private:
  static constexpr std::uint64_t kSectorBits = kSectorBytes * 8;

  [[nodiscard]] WARREN_HD static std::uint64_t sectors(std::uint64_t bits, std::uint64_t end) {
    return end > bits ? (end - 1) / kSectorBits - bits / kSectorBits + 1 : 0;
  }

  /// f(active, owner, first_of_own, k, target): edge k of the owner's block; `first_of_own` is the
  /// first edge of the block that this lane has brought.
  template <class W, class F>
  WARREN_HD std::uint64_t expand_blocks(const W& worker, const ListPiece& piece, F&& f) const {
    CompressedRow row;
    std::uint64_t block = 0;
    std::uint64_t end = 0;
    EdgeOffset begin = 0;
    if (piece.length > 0) {
      row = packed.view.row(piece.row);
      begin = csr.begin(piece.row);
      const EdgeOffset first = piece.begin - begin;
      block = (first + kCompressedBlock - 1) / kCompressedBlock;
      end = (first + piece.length + kCompressedBlock - 1) / kCompressedBlock;
    }
    std::uint64_t read = 0;
    while (worker.any(block < end)) {
      const CompressedBlock mine = block < end ? packed.view.block(row, block) : CompressedBlock{};
      if (block < end) read += sectors(mine.bits, mine.end);
      const EdgeOffset first_of_own = begin + block * kCompressedBlock;
      ++block;
      for_each_in_blocks(worker, packed.view, mine, mine.count,
                         [&](bool active, std::uint32_t owner, std::uint32_t k, Vertex target) {
                           f(active, owner, first_of_own, k, target);
                         });
    }
    return packed.is_far ? read * kSectorBytes : 0;
  }

  /// False where the first sectors did not decide. For lists of one block.
  template <class P>
  WARREN_HD bool find_alone(const CompressedRow& row, P&& is_wanted, Vertex& found,
                            std::uint64_t& read) const {
#if defined(__CUDA_ARCH__)
    const std::uint64_t selectors = row.bits / kSectorBits * kSectorBits;
    const std::uint64_t first_number = row.bits + 2 * row.degree;
    const std::uint64_t numbers = first_number / kSectorBits * kSectorBits;
    const auto* stream = reinterpret_cast<const uint4*>(packed.view.stream);
    // This lane's own copy: the selectors' sector, the numbers' two, and what a read may run over.
    uint4 words[7];
    words[0] = stream[selectors / 128];
    words[1] = stream[selectors / 128 + 1];
    words[2] = stream[numbers / 128];
    words[3] = stream[numbers / 128 + 1];
    const bool has_more = row.end > numbers + kSectorBits;
    words[4] = has_more ? stream[numbers / 128 + 2] : make_uint4(0, 0, 0, 0);
    words[5] = has_more ? stream[numbers / 128 + 3] : make_uint4(0, 0, 0, 0);
    words[6] = make_uint4(0, 0, 0, 0);
    read += (numbers == selectors ? 1 : 2) + (has_more ? 1 : 0);
    const auto* copy = reinterpret_cast<const std::uint32_t*>(words);
    std::uint64_t selector = row.bits - selectors;
    std::uint64_t number = kSectorBits + (first_number - numbers);
    Vertex target = row.vertex;
    for (std::uint32_t k = 0; k < row.degree; ++k) {
      if (selector + 2 > kSectorBits) return false;
      const std::uint32_t width = selected_width(row.widths, read_bits(copy, selector, 2));
      if (number + width > 3 * kSectorBits) return false;
      const std::uint32_t value = read_bits(copy, number, width);
      target += k == 0 ? from_zigzag(value) : value + packed.view.smallest_gap;
      if (is_wanted(target)) {
        found = target;
        return true;
      }
      selector += 2;
      number += width;
    }
#else
    read += sectors(row.bits, row.end);
    CompressedCursor cursor(packed.view, {row.bits, row.end, static_cast<std::uint32_t>(row.degree),
                                          row.vertex, row.widths});
    for (EdgeOffset k = 0; k < row.degree && found == kNoVertex; ++k) {
      const Vertex u = cursor.next();
      if (is_wanted(u)) found = u;
    }
#endif
    return true;
  }
};

/// Calls f(out, in) with the adjacencies that the shard's placement asks for.
template <class F>
auto with_adjacency(const Shard& shard, F&& f) {
  if (shard.edges_placement == EdgesPlacement::host)
    return f(FarAdjacency{shard.out}, FarAdjacency{shard.in});
  if (shard.edges_placement == EdgesPlacement::compressed_host) {
    return f(PackedAdjacency{shard.out, shard.packed_out},
             PackedAdjacency{shard.in, shard.packed_in});
  }
  return f(NearAdjacency{shard.out}, NearAdjacency{shard.in});
}

}  // namespace warren::graph
