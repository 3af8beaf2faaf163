// SPDX-License-Identifier: Apache-2.0
// BSP programs on the CPU.
#include "team/program_cases.hpp"

namespace warren::team {

INSTANTIATE_TYPED_TEST_SUITE_P(Cpu, ProgramTest, exec::Cpu);

}  // namespace warren::team
