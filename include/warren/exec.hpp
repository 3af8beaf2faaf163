// SPDX-License-Identifier: Apache-2.0
// What programs use of the floor exec: devices, streams and their memory, threads of the CPU,
// kernels for both.
#pragma once

#include "warren/exec/algorithms.hpp"
#include "warren/exec/atomic.hpp"
#include "warren/exec/device.hpp"
#include "warren/exec/half.hpp"
#include "warren/exec/launch.hpp"
#include "warren/exec/memory.hpp"
#include "warren/exec/stream.hpp"
#include "warren/exec/thread_pool.hpp"
#include "warren/exec/worker.hpp"
