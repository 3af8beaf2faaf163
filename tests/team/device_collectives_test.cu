// SPDX-License-Identifier: Apache-2.0
// Device collectives on GPUs.
#include "team/device_collectives_cases.hpp"

namespace warren::team {

INSTANTIATE_TYPED_TEST_SUITE_P(Cuda, DeviceCollectivesTest, exec::Cuda);

}  // namespace warren::team
