// SPDX-License-Identifier: Apache-2.0
// The kernels of sampled blocks on GPUs.
#include "learn/batch/block_kernels.hpp"

namespace warren::learn::detail {

template void run_block<exec::Cuda, exec::Thread>(const exec::Stream&, std::uint64_t,
                                                  const BlockWeightsKernel&);
template void run_block<exec::Cuda, exec::Thread>(const exec::Stream&, std::uint64_t,
                                                  const PadOffsetsKernel&);
template void run_block<exec::Cuda, exec::Tile<8>>(const exec::Stream&, std::uint64_t,
                                                   const AddLoopsKernel&);
template void run_block<exec::Cuda, exec::Tile<8>>(const exec::Stream&, std::uint64_t,
                                                   const LoopWeightsKernel&);
template void run_block<exec::Cuda, exec::Block>(const exec::Stream&, std::uint64_t,
                                                 const ChunkSumKernel&);
template void run_block<exec::Cuda, exec::Block>(const exec::Stream&, std::uint64_t,
                                                 const ScanSumsKernel&);
template void run_block<exec::Cuda, exec::Block>(const exec::Stream&, std::uint64_t,
                                                 const OffsetsKernel&);
template void run_block<exec::Cuda, exec::Tile<8>>(const exec::Stream&, std::uint64_t,
                                                   const EntryRowsKernel&);
template void run_block<exec::Cuda, exec::Thread>(const exec::Stream&, std::uint64_t,
                                                  const EntryPlacesKernel&);
template void run_block<exec::Cuda, exec::Thread>(const exec::Stream&, std::uint64_t,
                                                  const TransposedEntriesKernel&);

}  // namespace warren::learn::detail
