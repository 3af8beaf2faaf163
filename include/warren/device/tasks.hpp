// SPDX-License-Identifier: Apache-2.0
// Task functions: algorithms whose kernels fetch tasks from queues and push them to any rank.
#pragma once

#include "warren/schedule/context.hpp"
#include "warren/schedule/queue.hpp"
#include "warren/schedule/run.hpp"
