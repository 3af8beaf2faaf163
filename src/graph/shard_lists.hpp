// SPDX-License-Identifier: Apache-2.0
// What those who make shards know of where lists lie.
#pragma once

#include <cstdint>

#include "warren/team/team.hpp"

namespace warren::graph::detail {

/// Elements in whole sectors, in which kernels read far lists.
[[nodiscard]] std::uint64_t padded(std::uint64_t elements);

/// How many ranks share a device's memory, at most.
[[nodiscard]] std::uint64_t ranks_of_a_device(const team::Team& team);

}  // namespace warren::graph::detail
