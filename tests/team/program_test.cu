// SPDX-License-Identifier: Apache-2.0
// BSP programs on GPUs.
#include "team/program_cases.hpp"

namespace warren::team {

INSTANTIATE_TYPED_TEST_SUITE_P(Cuda, ProgramTest, exec::Cuda);

}  // namespace warren::team
