// SPDX-License-Identifier: Apache-2.0
// The typed front of gather and scatter: rows are moved as bytes, in the widest units that all
// addresses allow.
#include "warren/memory/gather.hpp"

#include "memory/gather_kernels.hpp"

namespace warren::memory {
namespace {

using detail::Direction;
using detail::RowMove;

template <class T>
RowMove describe(const GlobalView<T>& table, const std::uint64_t* indices, std::uint64_t count,
                 const T* local, std::uint64_t* out_of_range) {
  RowMove job;
  job.indices = indices;
  job.count = count;
  job.local = reinterpret_cast<unsigned char*>(const_cast<T*>(local));
  job.out_of_range = out_of_range;
  job.table.rows = table.rows();
  job.table.row_bytes = table.width * sizeof(T);
  job.table.ranks = table.is_replicated ? 1 : table.ranks;
  std::uintptr_t bits = job.table.row_bytes | reinterpret_cast<std::uintptr_t>(local);
  for (int q = 0; q < job.table.ranks; ++q) {
    const T* base = table.base[table.is_replicated ? table.rank : q];
    const std::uint64_t first = table.is_replicated ? 0 : table.cuts[q];
    bits |= reinterpret_cast<std::uintptr_t>(base);
    job.table.first[q] = first;
    // May lie before the rank's memory; only addresses of its own rows are made from it.
    job.table.origin[q] = reinterpret_cast<std::uintptr_t>(base) - first * job.table.row_bytes;
  }
  while (bits % job.unit_bytes != 0) job.unit_bytes /= 2;
  return job;
}

template <Direction kDirection>
void run(const exec::Stream& stream, const RowMove& job) {
  if (job.count == 0) return;
  require(job.indices != nullptr && job.local != nullptr,
          "gather and scatter need row numbers and a local array");
  exec::with_backend(stream.device(), [&](auto backend) {
    detail::move_rows<decltype(backend), kDirection>(stream, job);
  });
}

}  // namespace

template <class T>
void gather(const exec::Stream& stream, const GlobalView<T>& table, const std::uint64_t* indices,
            std::uint64_t count, T* out, std::uint64_t* out_of_range) {
  run<Direction::gather>(stream, describe(table, indices, count, out, out_of_range));
}

template <class T>
void scatter(const exec::Stream& stream, const GlobalView<T>& table, const std::uint64_t* indices,
             std::uint64_t count, const T* rows, std::uint64_t* out_of_range) {
  run<Direction::scatter>(stream, describe(table, indices, count, rows, out_of_range));
}

template void gather(const exec::Stream&, const GlobalView<float>&, const std::uint64_t*,
                     std::uint64_t, float*, std::uint64_t*);
template void scatter(const exec::Stream&, const GlobalView<float>&, const std::uint64_t*,
                      std::uint64_t, const float*, std::uint64_t*);
template void gather(const exec::Stream&, const GlobalView<double>&, const std::uint64_t*,
                     std::uint64_t, double*, std::uint64_t*);
template void scatter(const exec::Stream&, const GlobalView<double>&, const std::uint64_t*,
                      std::uint64_t, const double*, std::uint64_t*);
template void gather(const exec::Stream&, const GlobalView<std::uint16_t>&, const std::uint64_t*,
                     std::uint64_t, std::uint16_t*, std::uint64_t*);
template void scatter(const exec::Stream&, const GlobalView<std::uint16_t>&, const std::uint64_t*,
                      std::uint64_t, const std::uint16_t*, std::uint64_t*);
template void gather(const exec::Stream&, const GlobalView<std::int32_t>&, const std::uint64_t*,
                     std::uint64_t, std::int32_t*, std::uint64_t*);
template void scatter(const exec::Stream&, const GlobalView<std::int32_t>&, const std::uint64_t*,
                      std::uint64_t, const std::int32_t*, std::uint64_t*);
template void gather(const exec::Stream&, const GlobalView<std::uint32_t>&, const std::uint64_t*,
                     std::uint64_t, std::uint32_t*, std::uint64_t*);
template void scatter(const exec::Stream&, const GlobalView<std::uint32_t>&, const std::uint64_t*,
                      std::uint64_t, const std::uint32_t*, std::uint64_t*);
template void gather(const exec::Stream&, const GlobalView<std::uint64_t>&, const std::uint64_t*,
                     std::uint64_t, std::uint64_t*, std::uint64_t*);
template void scatter(const exec::Stream&, const GlobalView<std::uint64_t>&, const std::uint64_t*,
                      std::uint64_t, const std::uint64_t*, std::uint64_t*);

}  // namespace warren::memory
