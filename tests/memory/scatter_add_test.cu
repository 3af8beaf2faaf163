// SPDX-License-Identifier: Apache-2.0
// Adding rows on GPUs.
#include "memory/scatter_add_cases.hpp"

namespace warren::memory {

INSTANTIATE_TYPED_TEST_SUITE_P(Cuda, ScatterAddTest, exec::Cuda);

}  // namespace warren::memory
