// SPDX-License-Identifier: Apache-2.0
// The typed front of gather and scatter: rows are moved as bytes, in the widest units that all
// addresses allow.
#include "warren/memory/gather.hpp"

#include "memory/row_move.hpp"

namespace warren::memory {
namespace {

using detail::Direction;
using detail::RowMove;

template <class T>
RowMove describe(const GlobalView<T>& table, std::uint64_t count, const T* local,
                 std::uint64_t* out_of_range) {
  RowMove job;
  job.count = count;
  job.local = reinterpret_cast<unsigned char*>(const_cast<T*>(local));
  job.out_of_range = out_of_range;
  detail::append_rows(table, job.table);
  detail::choose_unit(job);
  return job;
}

template <Direction kDirection, class T>
void run(const exec::Stream& stream, const GlobalView<T>& table, const std::uint64_t* indices,
         std::uint64_t count, const T* local, std::uint64_t* out_of_range,
         std::uint32_t processors = 0, bool is_beside = false) {
  RowMove job = describe(table, count, local, out_of_range);
  job.indices = indices;
  job.processors = processors;
  job.is_beside = is_beside;
  detail::run_move<kDirection>(stream, job);
}

}  // namespace

template <class T>
void gather(const exec::Stream& stream, const GlobalView<T>& table, const std::uint64_t* indices,
            std::uint64_t count, T* out, std::uint64_t* out_of_range, std::uint32_t processors,
            bool is_beside) {
  run<Direction::gather, T>(stream, table, indices, count, out, out_of_range, processors,
                            is_beside);
}

template <class T>
void gather_vertices(const exec::Stream& stream, const GlobalView<T>& table, const Vertex* vertices,
                     std::uint64_t count, T* out, std::uint64_t* out_of_range,
                     const std::uint32_t* count_at, std::uint32_t processors, bool is_beside) {
  RowMove job = describe(table, count, static_cast<const T*>(out), out_of_range);
  job.vertices = vertices;
  job.count_at = count_at;
  job.processors = processors;
  job.is_beside = is_beside;
  detail::run_move<Direction::gather>(stream, job);
}

template <class T>
void scatter(const exec::Stream& stream, const GlobalView<T>& table, const std::uint64_t* indices,
             std::uint64_t count, const T* rows, std::uint64_t* out_of_range) {
  run<Direction::scatter, T>(stream, table, indices, count, rows, out_of_range);
}

template void gather(const exec::Stream&, const GlobalView<unsigned char>&, const std::uint64_t*,
                     std::uint64_t, unsigned char*, std::uint64_t*, std::uint32_t, bool);
template void gather(const exec::Stream&, const GlobalView<float>&, const std::uint64_t*,
                     std::uint64_t, float*, std::uint64_t*, std::uint32_t, bool);
template void gather_vertices(const exec::Stream&, const GlobalView<float>&, const Vertex*,
                              std::uint64_t, float*, std::uint64_t*, const std::uint32_t*,
                              std::uint32_t, bool);
template void scatter(const exec::Stream&, const GlobalView<float>&, const std::uint64_t*,
                      std::uint64_t, const float*, std::uint64_t*);
template void gather(const exec::Stream&, const GlobalView<double>&, const std::uint64_t*,
                     std::uint64_t, double*, std::uint64_t*, std::uint32_t, bool);
template void gather_vertices(const exec::Stream&, const GlobalView<double>&, const Vertex*,
                              std::uint64_t, double*, std::uint64_t*, const std::uint32_t*,
                              std::uint32_t, bool);
template void scatter(const exec::Stream&, const GlobalView<double>&, const std::uint64_t*,
                      std::uint64_t, const double*, std::uint64_t*);
template void gather(const exec::Stream&, const GlobalView<std::uint16_t>&, const std::uint64_t*,
                     std::uint64_t, std::uint16_t*, std::uint64_t*, std::uint32_t, bool);
template void gather_vertices(const exec::Stream&, const GlobalView<std::uint16_t>&, const Vertex*,
                              std::uint64_t, std::uint16_t*, std::uint64_t*, const std::uint32_t*,
                              std::uint32_t, bool);
template void scatter(const exec::Stream&, const GlobalView<std::uint16_t>&, const std::uint64_t*,
                      std::uint64_t, const std::uint16_t*, std::uint64_t*);
template void gather(const exec::Stream&, const GlobalView<std::int32_t>&, const std::uint64_t*,
                     std::uint64_t, std::int32_t*, std::uint64_t*, std::uint32_t, bool);
template void gather_vertices(const exec::Stream&, const GlobalView<std::int32_t>&, const Vertex*,
                              std::uint64_t, std::int32_t*, std::uint64_t*, const std::uint32_t*,
                              std::uint32_t, bool);
template void scatter(const exec::Stream&, const GlobalView<std::int32_t>&, const std::uint64_t*,
                      std::uint64_t, const std::int32_t*, std::uint64_t*);
template void gather(const exec::Stream&, const GlobalView<std::uint32_t>&, const std::uint64_t*,
                     std::uint64_t, std::uint32_t*, std::uint64_t*, std::uint32_t, bool);
template void gather_vertices(const exec::Stream&, const GlobalView<std::uint32_t>&, const Vertex*,
                              std::uint64_t, std::uint32_t*, std::uint64_t*, const std::uint32_t*,
                              std::uint32_t, bool);
template void scatter(const exec::Stream&, const GlobalView<std::uint32_t>&, const std::uint64_t*,
                      std::uint64_t, const std::uint32_t*, std::uint64_t*);
template void gather(const exec::Stream&, const GlobalView<std::uint64_t>&, const std::uint64_t*,
                     std::uint64_t, std::uint64_t*, std::uint64_t*, std::uint32_t, bool);
template void gather_vertices(const exec::Stream&, const GlobalView<std::uint64_t>&, const Vertex*,
                              std::uint64_t, std::uint64_t*, std::uint64_t*, const std::uint32_t*,
                              std::uint32_t, bool);
template void scatter(const exec::Stream&, const GlobalView<std::uint64_t>&, const std::uint64_t*,
                      std::uint64_t, const std::uint64_t*, std::uint64_t*);

}  // namespace warren::memory
