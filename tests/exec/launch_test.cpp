// SPDX-License-Identifier: Apache-2.0
// Launches on the CPU.
#include "exec/launch_cases.hpp"

namespace warren::exec {

INSTANTIATE_TYPED_TEST_SUITE_P(Cpu, LaunchTest, Cpu);

}  // namespace warren::exec
