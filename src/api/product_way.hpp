// SPDX-License-Identifier: Apache-2.0
// How a call's products over a team are made, by the strategy that the call names.
#pragma once

#include <string>

#include "warren/memory/global_array.hpp"
#include "warren/sparse/distributed.hpp"

namespace warren::api {

/// Of a strategy by its name; `fused` with the workgroups that the links make. Throws UsageError
/// for what is none. Collective.
[[nodiscard]] sparse::DistributedOptions named_way(team::Team& team, const std::string& strategy);

/// The best way to multiply `rows` by rows as wide as `b`'s: what the table remembers, or what is
/// measured here. `b` and `c` are overwritten. Collective. Throws MemoryError.
[[nodiscard]] sparse::DistributedOptions measured_way(team::Team& team, const exec::Stream& stream,
                                                      const sparse::Rows& rows,
                                                      memory::GlobalArray<float>& b, float* c);

}  // namespace warren::api
