// SPDX-License-Identifier: Apache-2.0
// Connected components on GPUs.
#include "traverse/components/component_sizes.hpp"
#include "traverse/components/components_program.hpp"

namespace warren::traverse {
template struct ComponentsRun<exec::Cuda, false>;
template struct ComponentsRun<exec::Cuda, true>;
template struct ComponentSizes<exec::Cuda>;
}  // namespace warren::traverse
