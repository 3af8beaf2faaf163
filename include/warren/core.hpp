// SPDX-License-Identifier: Apache-2.0
// What programs use of the floor core: errors, ids of vertices and edges, messages.
#pragma once

#include "warren/core/error.hpp"
#include "warren/core/log.hpp"
#include "warren/core/types.hpp"
