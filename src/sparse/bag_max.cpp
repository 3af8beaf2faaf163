// SPDX-License-Identifier: Apache-2.0
#include "warren/sparse/bag_max.hpp"

#include "sparse/bag_max_kernels.hpp"

namespace warren::sparse {

template <class T>
void bag_max(const exec::Stream& stream, const memory::GlobalView<T>& table, const BagBatch& batch,
             T* out, std::uint64_t* rows_moved) {
  const detail::BagMaxima<T> kernel{table, batch, out, rows_moved};
  exec::with_backend(stream.device(), [&](auto backend) {
    detail::launch_bag_max<decltype(backend)>(stream, kernel);
  });
}

template void bag_max(const exec::Stream&, const memory::GlobalView<float>&, const BagBatch&,
                      float*, std::uint64_t*);
template void bag_max(const exec::Stream&, const memory::GlobalView<Half>&, const BagBatch&, Half*,
                      std::uint64_t*);
template void bag_max(const exec::Stream&, const memory::GlobalView<BFloat16>&, const BagBatch&,
                      BFloat16*, std::uint64_t*);

}  // namespace warren::sparse
