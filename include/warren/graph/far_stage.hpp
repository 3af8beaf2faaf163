// SPDX-License-Identifier: Apache-2.0
// Far memory read through near memory: the lanes of a warp name the sectors that they want, each is
// asked for once, with those of its line in one request, all are under way together, and what is in
// them is then read near. A GPU keeps little of the host's memory in its caches, so that a sector
// which two loads share, as the lists of neighbouring rows do, would cross the link twice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "warren/exec/atomic.hpp"
#include "warren/exec/worker.hpp"

namespace warren::graph {

/// What a read of host memory moves at least. (Reading twice as much at a time moves more in all:
/// BFS of kron:24 from host memory then takes 7.4 ms instead of 6.6.)
inline constexpr std::uint32_t kSectorBytes = 32;
inline constexpr std::uint32_t kSectorBits = 8 * kSectorBytes;
inline constexpr std::uint32_t kSectorWords = kSectorBytes / 4;
/// What one request asks for at most.
inline constexpr std::uint32_t kLineSectors = 4;

/// What a read of the bytes [begin, end) moves on its own.
[[nodiscard]] WARREN_HD inline std::uint64_t sector_bytes(std::uint64_t begin, std::uint64_t end) {
  if (begin >= end) return 0;
  return ((end - 1) / kSectorBytes - begin / kSectorBytes + 1) * kSectorBytes;
}

/// A warp's near memory: block-shared memory on a GPU. For workers of 32 lanes at most.
struct alignas(16) FarStage {
  static constexpr std::uint32_t kLines = 32;
  static constexpr std::uint32_t kLineWords = kLineSectors * kSectorWords;
  /// With room for readers of bits, who look at the word behind theirs.
  std::uint32_t words[kLines * kLineWords + 4];
  std::uint64_t line[kLines];     ///< Which line of far memory it is, from address 0 on.
  std::uint32_t sectors[kLines];  ///< Which of its sectors are wanted: a bit each.
};

/// Sectors by their number from address 0 on.
struct SectorRange {
  std::uint64_t first = 0;
  std::uint32_t count = 0;

  /// Those of bits [begin, end) of `words`.
  [[nodiscard]] WARREN_HD static SectorRange of_bits(const std::uint32_t* words,
                                                     std::uint64_t begin, std::uint64_t end) {
    if (begin >= end) return {};
    const std::uint64_t origin = reinterpret_cast<std::uintptr_t>(words) * 8;
    const std::uint64_t first = (origin + begin) / kSectorBits;
    return {first, static_cast<std::uint32_t>((origin + end - 1) / kSectorBits - first + 1)};
  }

  [[nodiscard]] WARREN_HD std::uint64_t last() const { return first + count - 1; }
  [[nodiscard]] WARREN_HD std::uint64_t first_line() const { return first / kLineSectors; }
  [[nodiscard]] WARREN_HD std::uint64_t last_line() const { return last() / kLineSectors; }
  /// 0 for no sectors.
  [[nodiscard]] WARREN_HD std::uint32_t lines() const {
    return count == 0 ? 0 : static_cast<std::uint32_t>(last_line() - first_line() + 1);
  }
};

/// What became of a lane's sectors.
struct StagedSectors {
  bool is_near = false;          ///< False where there was no room, and for none.
  std::uint32_t place = 0;       ///< Of the front's first sector in the stage; the others follow.
  std::uint32_t back_place = 0;  ///< Of the back's.
  std::uint32_t read = 0;        ///< Sectors read for this lane alone.
};

namespace detail {

/// Marks a range as wanted whose first line has place `slot`; the lines from `known` on are new.
WARREN_HD inline void want_sectors(FarStage& stage, const SectorRange& range, std::uint32_t slot,
                                   std::uint32_t known) {
  const std::uint64_t first_line = range.first_line();
  for (std::uint32_t i = 0; i < range.lines(); ++i) {
    const std::uint64_t begin = (first_line + i) * kLineSectors;
    std::uint32_t wanted = (1u << kLineSectors) - 1;
    if (range.first > begin) wanted &= wanted << (range.first - begin);
    if (range.last() < begin + kLineSectors - 1) wanted &= (2u << (range.last() - begin)) - 1;
    if (i >= known) stage.line[slot + i] = first_line + i;
    exec::atomic_or<exec::Order::relaxed, exec::Scope::block>(stage.sectors[slot + i], wanted);
  }
}

/// Brings what is wanted of the stage's first lines, 16 bytes a lane at a time.
template <class W>
WARREN_HD void bring_lines(const W& worker, FarStage& stage, std::uint32_t lines) {
  constexpr std::uint32_t kAhead = 4;
  struct alignas(16) Part {
    std::uint32_t words[4];
  };
  constexpr std::uint32_t kParts = kLineSectors * kSectorBytes / sizeof(Part);
  const auto is_wanted = [&](std::uint64_t i) {
    constexpr std::uint32_t kInSector = kParts / kLineSectors;
    return (stage.sectors[i / kParts] >> i % kParts / kInSector & 1u) != 0;
  };
  worker.template for_each_ahead<kAhead>(
      std::uint64_t{lines} * kParts,
      [&](std::uint64_t i) {
        const std::uint64_t address = (stage.line[i / kParts] * kParts + i % kParts) * sizeof(Part);
        return is_wanted(i) ? *reinterpret_cast<const Part*>(address) : Part{};
      },
      [&](std::uint64_t i, const Part& part) {
        if (is_wanted(i)) reinterpret_cast<Part*>(stage.words)[i] = part;
      });
}

}  // namespace detail

/// Reads every lane's sectors into the stage, over what was there: those of `front`, and those of
/// `back`, which lie behind them and are not wanted where there are none of front. All lanes call.
/// What is also wanted by the lane before which wants any, as its last, is read once. The first
/// lanes' sectors find room, so that a lane whose did not can ask again; the first lane's do if
/// they are 48 at most.
template <class W, class Back = std::nullptr_t>
WARREN_HD StagedSectors stage_sectors(const W& worker, FarStage& stage, const SectorRange& front,
                                      const Back& back_or_none = nullptr) {
  SectorRange back;
  if constexpr (std::is_same_v<Back, SectorRange>) back = back_or_none;
  const bool wants = front.count > 0;
  const std::uint32_t before = worker.last_before(wants);
  const std::uint64_t last = worker.broadcast(back.count > 0 ? back.last() : front.last(),
                                              before < worker.size() ? before : 0);
  const bool follows = wants && before < worker.size();
  const bool shares = follows && last / kLineSectors == front.first_line();
  const bool is_joined = back.count > 0 && back.first_line() == front.last_line();
  const std::uint32_t shared = shares ? 1u : 0u;
  const std::uint32_t joined = is_joined ? 1u : 0u;
  const std::uint32_t lines = front.lines() - shared + back.lines() - joined;
  const std::uint32_t slot = worker.exclusive_scan(lines);
  StagedSectors staged;
  staged.is_near = wants && slot + lines <= FarStage::kLines;
  worker.sync();  // All lanes are done with what was there.
  worker.for_each(FarStage::kLines, [&](std::uint64_t i) { stage.sectors[i] = 0; });
  worker.sync();
  if (staged.is_near) {
    const std::uint32_t front_slot = slot - shared;
    const std::uint32_t back_slot = front_slot + front.lines() - joined;
    detail::want_sectors(stage, front, front_slot, shared);
    if (back.count > 0) detail::want_sectors(stage, back, back_slot, joined);
    staged.place =
        front_slot * kLineSectors + static_cast<std::uint32_t>(front.first % kLineSectors);
    staged.back_place =
        back_slot * kLineSectors + static_cast<std::uint32_t>(back.first % kLineSectors);
    staged.read = front.count + back.count - (follows && last == front.first ? 1u : 0u);
  }
  const std::uint32_t all = worker.reduce(staged.is_near ? slot + lines : 0u, exec::Maximum{});
  worker.sync();
  detail::bring_lines(worker, stage, all);
  worker.sync();
  return staged;
}

}  // namespace warren::graph
