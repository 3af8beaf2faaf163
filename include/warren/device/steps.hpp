// SPDX-License-Identifier: Apache-2.0
// BSP programs: algorithms whose kernels meet after each step, on all devices.
#pragma once

#include "warren/team/program.hpp"
