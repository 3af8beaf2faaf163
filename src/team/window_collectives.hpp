// SPDX-License-Identifier: Apache-2.0
// The carrier of device collectives for ranks on several hosts.
#pragma once

#include "team/device_collectives.hpp"

namespace warren::team {

/// Of ranks on CPU devices that share windows. Collective.
std::unique_ptr<DeviceCollectives> make_window_collectives(Team& team);

}  // namespace warren::team
