// SPDX-License-Identifier: Apache-2.0
// What the strategies of an embedding lookup share.
#pragma once

#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/sparse/lookup.hpp"

namespace warren::sparse {

// Each in a file of its own.
template <class T>
std::unique_ptr<TeamLookup<T>> make_owner_sum_lookup(team::Team& team, const exec::Stream& stream,
                                                     std::span<const EdgeOffset> offsets,
                                                     std::uint64_t k);
template <class T>
std::unique_ptr<TeamLookup<T>> make_message_lookup(team::Team& team, const exec::Stream& stream,
                                                   std::span<const EdgeOffset> offsets,
                                                   std::uint64_t k);

/// `offsets`, or UsageError where they are no batch's.
[[nodiscard]] std::span<const EdgeOffset> checked_bags(std::span<const EdgeOffset> offsets);

template <class T>
void check_lookup(const team::Team& team, const memory::GlobalView<T>& table, std::uint64_t k,
                  const T* out) {
  require(table.width == k,
          fmt::format("a lookup of rows of {} elements in a table of {}", k, table.width));
  require(table.ranks == team.size() && table.rank == team.rank(),
          "a lookup needs a table of its own team");
  const std::uint64_t group = k % 4 == 0 ? 4 : 1;
  require(reinterpret_cast<std::uintptr_t>(out) % (group * sizeof(T)) == 0,
          "a lookup's results are to be aligned as rows of them are");
}

template <class T>
void check_is_spread(const memory::GlobalView<T>& table) {
  require(!table.is_replicated, "every rank has all rows of a replicated table: look up by pull");
}

}  // namespace warren::sparse
