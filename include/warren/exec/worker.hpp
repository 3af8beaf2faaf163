// SPDX-License-Identifier: Apache-2.0
// Workers: the threads that share one task. A kernel is written once over a worker and runs with a
// single thread, a tile of a warp, a warp or a block on a GPU, and serially on the CPU, where the
// loops are plain loops and the collectives the identity.
//
// Collectives (sync, reduce, exclusive_scan, broadcast, any, sync_any, count, last_before, expand)
// must be called by every lane of the worker in the same order.
#pragma once

#include "warren/exec/worker_serial.hpp"

#if defined(__CUDACC__)
#include "warren/exec/worker_cuda.hpp"
#endif
