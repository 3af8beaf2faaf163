// SPDX-License-Identifier: Apache-2.0
// What programs use of the floor graph: graphs: read, built, drawn, reordered, cut, and the ranks'
// shards.
#pragma once

#include "warren/graph/adjacency.hpp"
#include "warren/graph/builder.hpp"
#include "warren/graph/compressed.hpp"
#include "warren/graph/generate.hpp"
#include "warren/graph/graph.hpp"
#include "warren/graph/io.hpp"
#include "warren/graph/partition.hpp"
#include "warren/graph/reorder.hpp"
#include "warren/graph/shard.hpp"
#include "warren/graph/transform.hpp"
