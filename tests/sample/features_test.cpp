// SPDX-License-Identifier: Apache-2.0
// Rows of features on the CPU.
#include "sample/features_cases.hpp"

namespace warren::sample {

INSTANTIATE_TYPED_TEST_SUITE_P(Cpu, FeaturesTest, exec::Cpu);

}  // namespace warren::sample
