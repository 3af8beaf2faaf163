// SPDX-License-Identifier: Apache-2.0
// Launches on GPUs.
#include "exec/launch_cases.hpp"

namespace warren::exec {

INSTANTIATE_TYPED_TEST_SUITE_P(Cuda, LaunchTest, Cuda);

}  // namespace warren::exec
