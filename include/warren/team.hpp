// SPDX-License-Identifier: Apache-2.0
// What programs use of the floor team: ranks with a device each: barriers, exchanges, collectives,
// links, BSP programs.
#pragma once

#include "warren/team/links.hpp"
#include "warren/team/program.hpp"
#include "warren/team/team.hpp"
