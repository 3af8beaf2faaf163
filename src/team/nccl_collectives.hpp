// SPDX-License-Identifier: Apache-2.0
// Device collectives over NCCL, which is loaded at run time: the program starts without it.
#pragma once

#include "team/device_collectives.hpp"

namespace warren::team {

/// Collective; every rank has a GPU of its own. nullptr on all ranks where one cannot load NCCL;
/// the reason is logged. Throws DeviceError when NCCL is there and fails. The environment variable
/// WARREN_NCCL names the library to load, or is "off".
std::unique_ptr<DeviceCollectives> make_nccl_collectives(Team& team);

}  // namespace warren::team
