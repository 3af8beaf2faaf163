// SPDX-License-Identifier: Apache-2.0
// What programs use of the floor traverse: searches, components, ranks, centrality, core numbers,
// triangles.
#pragma once

#include "warren/traverse/asynchronous.hpp"
#include "warren/traverse/betweenness.hpp"
#include "warren/traverse/bfs.hpp"
#include "warren/traverse/components.hpp"
#include "warren/traverse/core_numbers.hpp"
#include "warren/traverse/many_source_bfs.hpp"
#include "warren/traverse/pagerank.hpp"
#include "warren/traverse/sssp.hpp"
#include "warren/traverse/triangles.hpp"
