// SPDX-License-Identifier: Apache-2.0
// Operations over the entries of rows on GPUs.
#include "warren/sparse/edge_ops_kernels.hpp"

namespace warren::sparse::detail {

template void run_rows<exec::Cuda, Softmax>(const exec::Stream&, const MatrixView&, const RowPlan&,
                                            Softmax);
template void run_rows<exec::Cuda, SoftmaxBackward>(const exec::Stream&, const MatrixView&,
                                                    const RowPlan&, SoftmaxBackward);
template void run_rows<exec::Cuda, SegmentMax>(const exec::Stream&, const MatrixView&,
                                               const RowPlan&, SegmentMax);
template void run_rows<exec::Cuda, SegmentMaxBackward>(const exec::Stream&, const MatrixView&,
                                                       const RowPlan&, SegmentMaxBackward);

}  // namespace warren::sparse::detail
