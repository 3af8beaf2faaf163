// SPDX-License-Identifier: Apache-2.0
// Connected components on GPUs.
#include "traverse/components/components_program.hpp"

namespace warren::traverse {
template struct ComponentsRun<exec::Cuda, false>;
template struct ComponentsRun<exec::Cuda, true>;
}  // namespace warren::traverse
