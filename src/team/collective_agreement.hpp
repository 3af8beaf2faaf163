// SPDX-License-Identifier: Apache-2.0
// What the carriers that read each other's memory agree on: equal lengths, fitting offsets, and
// which rank adds up which elements.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/team/team.hpp"

namespace warren::team {

/// Collective. Throws UsageError where another rank gives another amount than this one.
inline void require_equal(Team& team, const char* call, const char* unit, std::uint64_t amount) {
  const auto all = team.all_gather(amount);
  for (std::size_t q = 0; q < all.size(); ++q) {
    require(all[q] == amount,
            fmt::format("{} of {} {} on rank {}, of {} on rank {}: they must be equal", call,
                        amount, unit, team.rank(), all[q], q));
  }
}

/// The byte offsets that one rank of an all_to_all_v sends by: to rank q goes [of[q], of[q + 1]).
struct SendOffsets {
  std::uint64_t of[kMaxRanks + 1];
};

/// Collective: every rank's. Throws UsageError where a rank sends this one another number of bytes
/// than `recv_offsets` leaves room for.
inline std::vector<SendOffsets> exchange_offsets(Team& team,
                                                 std::span<const std::uint64_t> send_offsets,
                                                 std::span<const std::uint64_t> recv_offsets) {
  SendOffsets mine{};
  std::ranges::copy(send_offsets, mine.of);
  std::vector<SendOffsets> all = team.all_gather(mine);
  const auto rank = static_cast<std::size_t>(team.rank());
  for (std::size_t q = 0; q < all.size(); ++q) {
    const std::uint64_t bytes = all[q].of[rank + 1] - all[q].of[rank];
    const std::uint64_t room = recv_offsets[q + 1] - recv_offsets[q];
    require(bytes == room,
            fmt::format("all_to_all_v: rank {} sends {} bytes to rank {}, which expects {}", q,
                        bytes, rank, room));
  }
  return all;
}

/// Elements [begin, begin + count).
struct ElementRange {
  std::uint64_t begin = 0, count = 0;
};

/// What rank `rank` of `ranks` adds up, of `count` elements: parts that differ by one at most.
[[nodiscard]] inline ElementRange added_by(std::size_t rank, std::size_t ranks,
                                           std::uint64_t count) {
  const auto first = [&](std::size_t q) {
    return count / ranks * q + std::min<std::uint64_t>(q, count % ranks);
  };
  return {first(rank), first(rank + 1) - first(rank)};
}

}  // namespace warren::team
