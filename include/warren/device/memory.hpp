// SPDX-License-Identifier: Apache-2.0
// What kernels reach memory through: views of arrays that lie over all ranks.
#pragma once

#include "warren/memory/global_array.hpp"
