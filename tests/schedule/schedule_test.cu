// SPDX-License-Identifier: Apache-2.0
#include "schedule/schedule_cases.hpp"

namespace warren::schedule {

INSTANTIATE_TYPED_TEST_SUITE_P(Cuda, ScheduleTest, exec::Cuda);

}  // namespace warren::schedule
