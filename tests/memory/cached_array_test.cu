// SPDX-License-Identifier: Apache-2.0
// Cached arrays on GPUs.
#include "memory/cached_array_cases.hpp"

namespace warren::memory {

INSTANTIATE_TYPED_TEST_SUITE_P(Cuda, CachedArrayTest, exec::Cuda);

}  // namespace warren::memory
