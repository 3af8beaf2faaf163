// SPDX-License-Identifier: Apache-2.0
// Far memory read through near memory: the lanes of a warp name the grains that they want, each is
// asked for once, all are under way together, and what is in them is then read near. A GPU keeps
// little of the host's memory in its caches, so that a grain which two loads share, as the lists
// of neighbouring rows do, would cross the link twice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "warren/exec/worker.hpp"

namespace warren::graph {

/// What a read of host memory moves at least.
inline constexpr std::uint32_t kSectorBytes = 32;
/// What a read of the bytes [begin, end) moves on its own.
[[nodiscard]] WARREN_HD inline std::uint64_t sector_bytes(std::uint64_t begin, std::uint64_t end) {
  if (begin >= end) return 0;
  return ((end - 1) / kSectorBytes - begin / kSectorBytes + 1) * kSectorBytes;
}
/// What is staged of it at a time. (Twice as much moves more bytes, and more in all: BFS of kron:24
/// from host memory takes 7.4 ms instead of 6.6.)
inline constexpr std::uint32_t kGrainBytes = kSectorBytes;
inline constexpr std::uint32_t kGrainBits = 8 * kGrainBytes;
inline constexpr std::uint32_t kGrainWords = kGrainBytes / 4;

/// A warp's near memory: block-shared memory on a GPU. For workers of 32 lanes at most.
struct alignas(16) FarStage {
  static constexpr std::uint32_t kGrains = 96;
  /// With room for readers of bits, who look at the word behind theirs.
  std::uint32_t words[kGrains * kGrainWords + 4];
};

/// Grains by their number from address 0 on.
struct GrainRange {
  std::uint64_t first = 0;
  std::uint32_t count = 0;

  /// Those of bits [begin, end) of `words`.
  [[nodiscard]] WARREN_HD static GrainRange of_bits(const std::uint32_t* words, std::uint64_t begin,
                                                    std::uint64_t end) {
    if (begin >= end) return {};
    const std::uint64_t origin = reinterpret_cast<std::uintptr_t>(words) * 8;
    const std::uint64_t first = (origin + begin) / kGrainBits;
    return {first, static_cast<std::uint32_t>((origin + end - 1) / kGrainBits - first + 1)};
  }
};

/// What became of a lane's grains.
struct StagedGrains {
  bool is_near = false;     ///< False where there was no room, and for none.
  std::uint32_t place = 0;  ///< Of the first one in the stage; the others follow.
  std::uint32_t read = 0;   ///< Grains read for this lane alone.
};

/// Reads every lane's grains into the stage, over what was there: those of `front`, then those of
/// `back`. All lanes call. A first grain that is the last one of the lane before which wants any
/// is read once. The first lanes' grains find room, so that a lane whose did not can ask again; 48
/// of them always do for the first lane.
template <class W, class Back = std::nullptr_t>
WARREN_HD StagedGrains stage_grains(const W& worker, FarStage& stage, const GrainRange& front,
                                    const Back& back_or_none = nullptr) {
  constexpr bool kHasBack = std::is_same_v<Back, GrainRange>;
  GrainRange back;
  if constexpr (kHasBack) back = back_or_none;
  constexpr std::uint32_t kAhead = 3;
  struct alignas(16) Part {
    std::uint32_t words[4];
  };
  constexpr std::uint32_t kParts = kGrainBytes / sizeof(Part);
  const std::uint32_t wanted = front.count + back.count;
  const std::uint32_t before = worker.last_before(wanted > 0);
  const bool has_before = before < worker.size();
  const std::uint64_t last =
      back.count > 0 ? back.first + back.count - 1 : front.first + front.count - 1;
  const bool is_shared =
      worker.broadcast(last, has_before ? before : 0) == front.first && has_before && wanted > 0;
  const std::uint32_t shared = is_shared ? 1u : 0u;
  const std::uint32_t own = wanted - shared;
  const std::uint32_t place = worker.exclusive_scan(own);
  const bool has_room = place + own <= FarStage::kGrains;
  const std::uint32_t read = has_room ? own : 0;
  worker.sync();  // All lanes are done with what was there.
  worker.template expand_ahead<kAhead>(
      kParts * read,
      [&](bool active, std::uint32_t owner, std::uint32_t k) {
        std::uint64_t grain = worker.broadcast(front.first + shared, owner) + k / kParts;
        if constexpr (kHasBack) {
          const std::uint64_t end = worker.broadcast(front.first + front.count, owner);
          const std::uint64_t next = worker.broadcast(back.first, owner);
          if (grain >= end) grain += next - end;
        }
        Part part{};
        if (active) part = reinterpret_cast<const Part*>(grain * kGrainBytes)[k % kParts];
        return part;
      },
      [&](bool active, std::uint32_t item, const Part& part) {
        if (active) reinterpret_cast<Part*>(stage.words)[item] = part;
      });
  worker.sync();
  return {has_room && wanted > 0, place - shared, read};
}

}  // namespace warren::graph
