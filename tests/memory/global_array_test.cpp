// SPDX-License-Identifier: Apache-2.0
// Global arrays on the CPU.
#include "memory/global_array_cases.hpp"

namespace warren::memory {

INSTANTIATE_TYPED_TEST_SUITE_P(Cpu, GlobalArrayTest, exec::Cpu);

}  // namespace warren::memory
