// SPDX-License-Identifier: Apache-2.0
// Sampling on GPUs.
#include "sample/sampler_cases.hpp"

namespace warren::sample {

INSTANTIATE_TYPED_TEST_SUITE_P(Cuda, SamplerTest, exec::Cuda);

}  // namespace warren::sample
