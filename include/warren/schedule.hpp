// SPDX-License-Identifier: Apache-2.0
// What programs use of the floor schedule: task queues over the ranks, run until no task is left.
#pragma once

#include "warren/schedule/context.hpp"
#include "warren/schedule/queue.hpp"
#include "warren/schedule/run.hpp"
