// SPDX-License-Identifier: Apache-2.0
#include "warren/memory/scatter_add.hpp"

#include <bit>

#include "warren/core/error.hpp"
#include "warren/exec/algorithms.hpp"
#include "warren/memory/ordered_gather.hpp"

#include "memory/scatter_add_kernels.hpp"

namespace warren::memory {
namespace {

template <class T>
bool has_work(const Vertex* rows, std::uint64_t count, const T* added) {
  require(count == 0 || (rows != nullptr && added != nullptr),
          "rows are added by their numbers and values");
  return count != 0;
}

}  // namespace

template <class T>
void scatter_add(const exec::Stream& stream, const GlobalView<T>& table, const Vertex* rows,
                 std::uint64_t count, const T* added, std::uint64_t* out_of_range) {
  if (!has_work(rows, count, added)) return;
  const detail::AddRows<T> kernel{table, rows, added, out_of_range};
  exec::with_backend(stream.device(), [&](auto backend) {
    detail::add_rows<decltype(backend)>(stream, kernel, count);
  });
}

detail::SortedRows ScatterAdd::sort(const exec::Stream& stream, std::uint64_t table_rows,
                                    const Vertex* rows, std::uint64_t count,
                                    std::uint64_t* out_of_range) {
  require(count < kNoVertex && table_rows < kNoVertex,
          "rows added in order are fewer than 2^32 - 1, in a table of fewer");
  std::uint32_t* const pairs = at_least(stream, pairs_, 4 * count);
  const detail::NumberRows kernel{table_rows, rows, pairs, pairs + count, out_of_range};
  const detail::SortedRows sorted{pairs + 2 * count, pairs + 3 * count, count};
  const auto bits = static_cast<int>(std::bit_width(table_rows));
  const std::uint64_t bytes = exec::sort_pairs_scratch(stream, count, bits);
  unsigned char* const scratch = at_least(stream, scratch_, bytes);
  exec::with_backend(stream.device(), [&](auto backend) {
    detail::number_rows<decltype(backend)>(stream, kernel, count);
  });
  exec::sort_pairs(stream, pairs, pairs + 2 * count, pairs + count, pairs + 3 * count, count, bits,
                   scratch, bytes);
  return sorted;
}

template <class T>
void ScatterAdd::run(const exec::Stream& stream, const GlobalView<T>& table, const Vertex* rows,
                     std::uint64_t count, const T* added, std::uint64_t* out_of_range) {
  if (!has_work(rows, count, added)) return;
  const detail::AddInOrder<T> kernel{table, sort(stream, table.rows(), rows, count, out_of_range),
                                     added};
  exec::with_backend(stream.device(), [&](auto backend) {
    detail::add_in_order<decltype(backend)>(stream, kernel);
  });
}

template void scatter_add(const exec::Stream&, const GlobalView<float>&, const Vertex*,
                          std::uint64_t, const float*, std::uint64_t*);
template void ScatterAdd::run(const exec::Stream&, const GlobalView<float>&, const Vertex*,
                              std::uint64_t, const float*, std::uint64_t*);
template void scatter_add(const exec::Stream&, const GlobalView<double>&, const Vertex*,
                          std::uint64_t, const double*, std::uint64_t*);
template void ScatterAdd::run(const exec::Stream&, const GlobalView<double>&, const Vertex*,
                              std::uint64_t, const double*, std::uint64_t*);
template void scatter_add(const exec::Stream&, const GlobalView<std::int32_t>&, const Vertex*,
                          std::uint64_t, const std::int32_t*, std::uint64_t*);
template void ScatterAdd::run(const exec::Stream&, const GlobalView<std::int32_t>&, const Vertex*,
                              std::uint64_t, const std::int32_t*, std::uint64_t*);
template void scatter_add(const exec::Stream&, const GlobalView<std::uint32_t>&, const Vertex*,
                          std::uint64_t, const std::uint32_t*, std::uint64_t*);
template void ScatterAdd::run(const exec::Stream&, const GlobalView<std::uint32_t>&, const Vertex*,
                              std::uint64_t, const std::uint32_t*, std::uint64_t*);
template void scatter_add(const exec::Stream&, const GlobalView<std::uint64_t>&, const Vertex*,
                          std::uint64_t, const std::uint64_t*, std::uint64_t*);
template void ScatterAdd::run(const exec::Stream&, const GlobalView<std::uint64_t>&, const Vertex*,
                              std::uint64_t, const std::uint64_t*, std::uint64_t*);

}  // namespace warren::memory
