// SPDX-License-Identifier: Apache-2.0
// Core numbers on GPUs.
#include "traverse/core/core_program.hpp"

namespace warren::traverse {
template struct CoreRun<exec::Cuda>;
}  // namespace warren::traverse
