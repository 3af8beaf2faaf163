// SPDX-License-Identifier: Apache-2.0
// Kernels: a functor over a worker, the threads that share a task (a thread, warp or block of a
// GPU, a thread of the CPU), what they add up and agree on, atomic operations, and how they are
// launched.
#pragma once

#include "warren/exec/atomic.hpp"
#include "warren/exec/half.hpp"
#include "warren/exec/launch.hpp"
#include "warren/exec/worker.hpp"
