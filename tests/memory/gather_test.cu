// SPDX-License-Identifier: Apache-2.0
// Gather and scatter on GPUs.
#include "memory/gather_cases.hpp"

namespace warren::memory {

INSTANTIATE_TYPED_TEST_SUITE_P(Cuda, GatherTest, exec::Cuda);

}  // namespace warren::memory
