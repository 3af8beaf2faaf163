// SPDX-License-Identifier: Apache-2.0
// What programs use of the floor memory: arrays of a device, of the host, and of all ranks.
#pragma once

#include "warren/memory/buffer.hpp"
#include "warren/memory/gather.hpp"
#include "warren/memory/global_array.hpp"
#include "warren/memory/host_array.hpp"
