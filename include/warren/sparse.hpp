// SPDX-License-Identifier: Apache-2.0
// What programs use of the floor sparse: products with a graph's matrix, on one device and over a
// team.
#pragma once

#include "warren/sparse/distributed_matrix.hpp"
#include "warren/sparse/edge_ops.hpp"
#include "warren/sparse/matrix.hpp"
#include "warren/sparse/sddmm.hpp"
#include "warren/sparse/spmm.hpp"
#include "warren/sparse/tuner.hpp"
