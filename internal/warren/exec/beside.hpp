// SPDX-License-Identifier: Apache-2.0
// What threads of a GPU that run beside each other agree on.
#pragma once

#include "warren/core/types.hpp"

namespace warren::exec {

/// Whether `flag` is set in any of the threads of this one's warp that execute this together with
/// it: its own, and whichever others happen to. A hint, by which groups of lanes go one way instead
/// of two, one after the other; results must not depend on it. On the CPU the thread's own flag.
WARREN_HD inline bool any_beside(bool flag) {
#if defined(__CUDA_ARCH__)
  return __any_sync(__activemask(), flag);
#else
  return flag;
#endif
}

}  // namespace warren::exec
