// SPDX-License-Identifier: Apache-2.0
// Adding rows on the CPU.
#include "memory/scatter_add_cases.hpp"

namespace warren::memory {

INSTANTIATE_TYPED_TEST_SUITE_P(Cpu, ScatterAddTest, exec::Cpu);

}  // namespace warren::memory
