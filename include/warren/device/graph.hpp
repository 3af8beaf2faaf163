// SPDX-License-Identifier: Apache-2.0
// What kernels walk a graph through: a shard's view, and lists of neighbours in any form that they
// are kept in.
#pragma once

#include "warren/graph/adjacency.hpp"
#include "warren/graph/shard.hpp"
