// SPDX-License-Identifier: Apache-2.0
// Global arrays on GPUs.
#include "memory/global_array_cases.hpp"

namespace warren::memory {

INSTANTIATE_TYPED_TEST_SUITE_P(Cuda, GlobalArrayTest, exec::Cuda);

}  // namespace warren::memory
