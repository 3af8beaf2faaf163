// SPDX-License-Identifier: Apache-2.0
// Connected components by a search on GPUs.
#include "traverse/components/components_search_program.hpp"

namespace warren::traverse {
template struct ComponentsSearchRun<exec::Cuda>;
}  // namespace warren::traverse
