// SPDX-License-Identifier: Apache-2.0
// Sampling on the CPU.
#include "sample/sampler_cases.hpp"

namespace warren::sample {

INSTANTIATE_TYPED_TEST_SUITE_P(Cpu, SamplerTest, exec::Cpu);

}  // namespace warren::sample
