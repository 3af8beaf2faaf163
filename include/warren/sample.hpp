// SPDX-License-Identifier: Apache-2.0
// What programs use of the floor sample: sampled neighbours in a graph that all ranks hold
// together.
#pragma once

#include "warren/sample/graph_store.hpp"
#include "warren/sample/sampler.hpp"
