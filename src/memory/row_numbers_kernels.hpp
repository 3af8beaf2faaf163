// SPDX-License-Identifier: Apache-2.0
// Looking at row numbers, for both backends.
#pragma once

#include "warren/exec/atomic.hpp"
#include "warren/exec/launch.hpp"
#include "warren/memory/row_numbers.hpp"

namespace warren::memory::detail {

/// Tasks: chunks of kChunk numbers of type Id. A negative number is a large one in 64 bits.
template <class Id>
struct CheckRows {
  static constexpr std::uint64_t kChunk = 1024;

  const Id* ids;
  std::uint64_t count;
  std::uint64_t rows;
  CheckedRows to;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t task) const {
    const std::uint64_t first = task * kChunk;
    const std::uint64_t size = count - first < kChunk ? count - first : kChunk;
    std::uint64_t bad = ~std::uint64_t{0};
    worker.for_each(size, [&](std::uint64_t i) {
      const auto row = static_cast<std::uint64_t>(static_cast<std::int64_t>(ids[first + i]));
      if (row >= rows && first + i < bad) bad = first + i;
      if (to.wide != nullptr) to.wide[first + i] = row;
      if (to.narrow != nullptr) to.narrow[first + i] = row < rows ? static_cast<Vertex>(row) : 0;
    });
    bad = worker.reduce(bad, exec::Minimum{});
    if (worker.lane() == 0 && bad != ~std::uint64_t{0}) exec::atomic_min(*to.first_bad, bad);
  }
};

template <class Backend, class Id>
void launch_check(const exec::Stream& stream, const CheckRows<Id>& kernel) {
  exec::launch<Backend, exec::Block>(
      stream, (kernel.count + CheckRows<Id>::kChunk - 1) / CheckRows<Id>::kChunk, kernel);
}

#if WARREN_HAS_CUDA
extern template void launch_check<exec::Cuda>(const exec::Stream&, const CheckRows<std::int32_t>&);
extern template void launch_check<exec::Cuda>(const exec::Stream&, const CheckRows<std::uint32_t>&);
extern template void launch_check<exec::Cuda>(const exec::Stream&, const CheckRows<std::int64_t>&);
#endif

}  // namespace warren::memory::detail
