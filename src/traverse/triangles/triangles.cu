// SPDX-License-Identifier: Apache-2.0
// Triangles on GPUs.
#include "traverse/triangles/triangles_program.hpp"

namespace warren::traverse {
template struct TrianglesRun<exec::Cuda>;
}  // namespace warren::traverse
