// SPDX-License-Identifier: Apache-2.0
// Plain neighbour lists in host memory, for kernels: see adjacency.hpp.
#pragma once

#include "warren/graph/far_stage.hpp"
#include "warren/graph/list_piece.hpp"
#include "warren/graph/shard.hpp"

namespace warren::graph {

/// Lists as CSR in host memory, those of the first rows perhaps on the device.
struct FarAdjacency {
  static constexpr bool kIsFar = true;
  using Stage = FarStage;
  CsrView csr;

  [[nodiscard]] WARREN_HD EdgeOffset degree(Vertex row) const { return csr.degree(row); }

  template <class W, class F>
  WARREN_HD std::uint64_t expand(const W& worker, Stage& stage, const ListPiece& piece,
                                 F&& f) const {
    const bool is_cached = piece.begin < csr.cached_end;
    const std::uint64_t begin = element_of(piece.length > 0 ? csr.list(piece.begin) : nullptr);
    if constexpr (std::is_same_v<W, exec::Serial>) {
      const auto* list = reinterpret_cast<const Vertex*>(begin * sizeof(Vertex));
      for (std::uint32_t k = 0; k < piece.length; ++k) f(true, 0u, list[k]);
      return is_cached
                 ? 0
                 : sector_bytes(begin * sizeof(Vertex), (begin + piece.length) * sizeof(Vertex));
    } else {
      return expand_runs(worker, stage, begin, piece.length, is_cached, f);
    }
  }

  /// A lane reads its list a sector at a time; after a few of them all lanes read on together.
  template <class W, class P>
  WARREN_HD Vertex find(const W& worker, Stage& stage, bool want, Vertex row, P&& is_wanted,
                        std::uint64_t& bytes) const {
    const EdgeOffset begin = want ? csr.begin(row) : 0;
    const EdgeOffset end = want ? csr.end(row) : 0;
    const bool is_cached = begin < csr.cached_end;
    std::uint64_t at = element_of(begin < end ? csr.list(begin) : nullptr);
    const std::uint64_t last = at + (end - begin);
    Vertex found = kNoVertex;
    if constexpr (std::is_same_v<W, exec::Serial>) {
      const std::uint64_t first = at;
      for (; at < last && found == kNoVertex; ++at) {
        const Vertex u = *reinterpret_cast<const Vertex*>(at * sizeof(Vertex));
        if (is_wanted(u)) found = u;
      }
      bytes += is_cached ? 0 : sector_bytes(first * sizeof(Vertex), at * sizeof(Vertex));
      return found;
    } else {
      std::uint64_t read = 0;
      for (std::uint32_t s = 0; s < kSectorsAlone; ++s) {
        const bool looks = at < last && found == kNoVertex;
        if (!worker.any(looks)) break;
        const StagedSectors staged =
            stage_sectors(worker, stage, looks ? SectorRange{at / kSectorWords, 1} : SectorRange{});
        read += staged.read;
        if (staged.is_near) {
          const std::uint32_t* words = stage.words + staged.place * kSectorWords;
          const std::uint64_t stop = at / kSectorWords * kSectorWords + kSectorWords;
          for (; at < last && at < stop && found == kNoVertex; ++at)
            if (is_wanted(words[at % kSectorWords])) found = words[at % kSectorWords];
        }
      }
      bytes += is_cached ? 0 : read * kSectorBytes;
      find_together(worker, at, last, is_cached, is_wanted, found, bytes);
      return found;
    }
  }

 private:
  static_assert(sizeof(Vertex) * kSectorWords == kSectorBytes);
  static constexpr std::uint32_t kSectorsAlone = 4;
  static constexpr std::uint32_t kRunSectors = 32;

  /// Elements counted from address 0, so that sectors begin at multiples of kSectorWords.
  [[nodiscard]] WARREN_HD static std::uint64_t element_of(const Vertex* address) {
    return reinterpret_cast<std::uintptr_t>(address) / sizeof(Vertex);
  }
  /// Those of elements [begin, end).
  [[nodiscard]] WARREN_HD static SectorRange sectors(std::uint64_t begin, std::uint64_t end) {
    if (begin >= end) return {};
    const std::uint64_t first = begin / kSectorWords;
    return {first, static_cast<std::uint32_t>((end - 1) / kSectorWords - first + 1)};
  }

  /// Pieces are cut into runs of whole sectors, which are dealt out to the lanes in the order of
  /// their addresses.
  template <class W, class F>
  WARREN_HD std::uint64_t expand_runs(const W& worker, Stage& stage, std::uint64_t begin,
                                      std::uint32_t length, bool is_cached, F&& f) const {
    const SectorRange whole = sectors(begin, begin + length);
    std::uint64_t read = 0;
    worker.expand(
        (whole.count + kRunSectors - 1) / kRunSectors,
        [&](bool active, std::uint32_t owner, std::uint32_t run) {
          const std::uint64_t first = worker.broadcast(begin, owner);
          const std::uint64_t last = first + worker.broadcast(length, owner);
          const bool is_far = worker.broadcast(is_cached ? 1u : 0u, owner) == 0;
          std::uint64_t from = (first / kSectorWords + run * kRunSectors) * kSectorWords;
          const std::uint64_t next = from + kRunSectors * kSectorWords;
          from = from < first ? first : from;
          const std::uint64_t to = next < last ? next : last;
          bool is_open = active;
          while (worker.any(is_open)) {
            const StagedSectors staged =
                stage_sectors(worker, stage, is_open ? sectors(from, to) : SectorRange{});
            read += is_far ? staged.read : 0;
            const std::uint32_t place =
                staged.place * kSectorWords + static_cast<std::uint32_t>(from % kSectorWords);
            worker.expand(staged.is_near ? static_cast<std::uint32_t>(to - from) : 0,
                          [&](bool has, std::uint32_t lane, std::uint32_t k) {
                            const std::uint32_t at = worker.broadcast(place, lane) + k;
                            f(has, worker.broadcast(owner, lane), has ? stage.words[at] : 0);
                          });
            if (staged.is_near) is_open = false;
          }
        });
    return read * kSectorBytes;
  }

  /// What is open is read by all lanes together, one list after the other.
  template <class W, class P>
  WARREN_HD void find_together(const W& worker, std::uint64_t at, std::uint64_t last,
                               bool is_cached, P&& is_wanted, Vertex& found,
                               std::uint64_t& bytes) const {
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
          if (!near && mine % kSectorWords == 0) bytes += kSectorBytes;
        }
        if (worker.any(best != kNoVertex)) break;
      }
      best = worker.reduce(best, exec::Minimum{});
      if (worker.lane() == lane) {
        found = best;
        open = false;
      }
    }
  }
};

}  // namespace warren::graph
