// SPDX-License-Identifier: Apache-2.0
// Batches of the benchmark of gathers from host memory, drawn on GPUs.
#include "host_gather_cases.hpp"

namespace warren::bench {

template void fill_words<exec::Cuda>(const exec::Stream&, std::uint32_t*, std::uint64_t,
                                     std::uint64_t);
template void draw_rows<exec::Cuda>(const exec::Stream&, std::uint64_t*, std::uint64_t,
                                    std::uint64_t, std::uint64_t);
template void draw_zipf<exec::Cuda>(const exec::Stream&, std::uint64_t*, std::uint64_t,
                                    std::uint64_t, std::uint64_t, double);
template void count_rows<exec::Cuda>(const exec::Stream&, std::uint64_t*, std::uint64_t,
                                     std::uint64_t, std::uint64_t);

}  // namespace warren::bench
