// SPDX-License-Identifier: Apache-2.0
// Values of vertices, made on GPUs out of what algorithms keep.
#include "traverse/common/own_values.hpp"

namespace warren::traverse {
template struct MapRun<exec::Cuda, DepthOfVisit>;
template struct MapRun<exec::Cuda, ParentOfVisit>;
template struct MapRun<exec::Cuda, HighHalf>;
template struct MapRun<exec::Cuda, LowHalf>;
template struct MapRun<exec::Cuda, WholeDistanceOf<IntegerMetric<std::uint32_t>>>;
template struct MapRun<exec::Cuda, WholeDistanceOf<IntegerMetric<std::uint64_t>>>;
template struct MapRun<exec::Cuda, RealDistanceOf<IntegerMetric<std::uint32_t>>>;
template struct MapRun<exec::Cuda, RealDistanceOf<IntegerMetric<std::uint64_t>>>;
template struct MapRun<exec::Cuda, RealDistanceOf<RealMetric>>;
template struct MapRun<exec::Cuda, Divided<float>>;
template struct MapRun<exec::Cuda, Divided<double>>;
template struct MapRun<exec::Cuda, Multiplied>;
}  // namespace warren::traverse
