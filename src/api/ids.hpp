// SPDX-License-Identifier: Apache-2.0
// Ids of rows or vertices on their way to a rank's device, where they are looked at: the host sees
// none of those that are on a GPU.
#pragma once

#include <cstdint>

#include "warren/api/array_view.hpp"
#include "warren/core/types.hpp"
#include "warren/memory/buffer.hpp"
#include "warren/team/team.hpp"

namespace warren::api {

/// Memory on a rank's device for one call's arguments, which grows to those of the largest.
struct RankRequest {
  memory::Buffer<unsigned char> numbers;  ///< Ids as they were given.
  memory::Buffer<std::uint64_t> wide;
  memory::Buffer<Vertex> narrow;
  memory::Buffer<std::uint64_t> first_bad;
  memory::Buffer<float> weights, scales;
  memory::Buffer<std::uint64_t> moved;
};

/// An id that is no row.
struct BadId {
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};
  std::uint64_t place = kNone;
  std::uint64_t number = 0;  ///< A negative one in two's complement.
};

/// Puts ids on the rank's device and looks at them there, for what is put on its stream from here
/// on: in 64 bits, or in 32 with 0 for what is no row. `request` keeps the memory.
[[nodiscard]] const std::uint64_t* arrive_wide(const exec::Stream& stream, const IdsView& ids,
                                               std::uint64_t rows, RankRequest& request);
[[nodiscard]] const Vertex* arrive_narrow(const exec::Stream& stream, const IdsView& ids,
                                          std::uint64_t rows, RankRequest& request);
/// The first of the last ids that arrived that is no row; `first`: how many the ranks before this
/// one have. Synchronises.
[[nodiscard]] BadId find_bad(const exec::Stream& stream, const IdsView& ids, std::uint64_t first,
                             const RankRequest& request);
/// The first of the ranks'. Collective.
[[nodiscard]] BadId first_of(team::Team& team, const BadId& mine);

}  // namespace warren::api
