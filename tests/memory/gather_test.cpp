// SPDX-License-Identifier: Apache-2.0
// Gather and scatter on the CPU.
#include "memory/gather_cases.hpp"

namespace warren::memory {

INSTANTIATE_TYPED_TEST_SUITE_P(Cpu, GatherTest, exec::Cpu);

}  // namespace warren::memory
