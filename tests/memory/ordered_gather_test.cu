// SPDX-License-Identifier: Apache-2.0
// Gathers in the order of addresses on GPUs.
#include "memory/ordered_gather_cases.hpp"

namespace warren::memory {

INSTANTIATE_TYPED_TEST_SUITE_P(Cuda, OrderedGatherTest, exec::Cuda);

}  // namespace warren::memory
