// SPDX-License-Identifier: Apache-2.0
// By what a rank divides the free memory of its device before it asks whether something fits.
#pragma once

#include <cstdint>

#include "warren/exec/device.hpp"
#include "warren/team/team.hpp"

namespace warren::team {

/// How many ranks share a device's memory, at most.
[[nodiscard]] inline std::uint64_t ranks_of_a_device(const Team& team) {
  const auto ranks = static_cast<std::uint64_t>(team.size());
  if (!team.device().is_cuda()) return ranks;
  const auto devices = static_cast<std::uint64_t>(exec::cuda_device_count());
  return (ranks + devices - 1) / devices;
}

}  // namespace warren::team
