// SPDX-License-Identifier: Apache-2.0
// Cached arrays on the CPU.
#include "memory/cached_array_cases.hpp"

namespace warren::memory {

INSTANTIATE_TYPED_TEST_SUITE_P(Cpu, CachedArrayTest, exec::Cpu);

}  // namespace warren::memory
