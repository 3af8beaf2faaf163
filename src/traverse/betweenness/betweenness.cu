// SPDX-License-Identifier: Apache-2.0
// Betweenness on GPUs.
#include "traverse/betweenness/betweenness_program.hpp"

namespace warren::traverse {
template struct BetweennessRun<exec::Cuda>;
}  // namespace warren::traverse
