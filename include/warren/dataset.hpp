// SPDX-License-Identifier: Apache-2.0
// What programs use of the floor dataset: features, labels and splits.
#pragma once

#include "warren/dataset/dataset.hpp"
#include "warren/dataset/labels.hpp"
#include "warren/dataset/sparse_rows.hpp"
