// SPDX-License-Identifier: Apache-2.0
// Rows of features on GPUs.
#include "sample/features_cases.hpp"

namespace warren::sample {

INSTANTIATE_TYPED_TEST_SUITE_P(Cuda, FeaturesTest, exec::Cuda);

}  // namespace warren::sample
