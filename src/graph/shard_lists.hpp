// SPDX-License-Identifier: Apache-2.0
// What those who make shards know of where lists lie.
#pragma once

#include <cstdint>

namespace warren::graph::detail {

/// Elements in whole sectors, in which kernels read far lists.
[[nodiscard]] std::uint64_t padded(std::uint64_t elements);

}  // namespace warren::graph::detail
