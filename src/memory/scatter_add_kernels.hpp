// SPDX-License-Identifier: Apache-2.0
// Adding rows to rows of a table, for both backends: by atomics, and in the list's order.
#pragma once

#include "warren/exec/atomic.hpp"
#include "warren/exec/launch.hpp"
#include "warren/memory/scatter_add.hpp"

namespace warren::memory::detail {

/// Tasks: rows of the list.
template <class T>
struct AddRows {
  GlobalView<T> table;
  const Vertex* rows;
  const T* added;
  std::uint64_t* out_of_range;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t i) const {
    const Vertex row = rows[i];
    if (row >= table.rows()) {
      if (worker.lane() == 0 && out_of_range != nullptr)
        exec::atomic_add(*out_of_range, std::uint64_t{1});
      return;
    }
    worker.for_each(table.width, [&](std::uint64_t c) {
      (void)table.atomic_add(row, added[i * table.width + c], c);
    });
  }
};

/// numbers[i] = rows[i], or that of the row after the last where there is none; places[i] = i.
/// Tasks: rows of the list.
struct NumberRows {
  std::uint64_t table_rows;
  const Vertex* rows;
  std::uint32_t* numbers;
  std::uint32_t* places;
  std::uint64_t* out_of_range;

  template <class W>
  WARREN_HD void operator()(const W&, std::uint64_t i) const {
    const bool is_there = rows[i] < table_rows;
    numbers[i] = is_there ? rows[i] : static_cast<std::uint32_t>(table_rows);
    places[i] = static_cast<std::uint32_t>(i);
    if (!is_there && out_of_range != nullptr) exec::atomic_add(*out_of_range, std::uint64_t{1});
  }
};

/// The first of a row's entries adds all of them. Tasks: entries of the sorted list.
template <class T>
struct AddInOrder {
  GlobalView<T> table;
  SortedRows sorted;
  const T* added;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t first) const {
    const std::uint32_t row = sorted.numbers[first];
    if (row >= table.rows() || (first > 0 && sorted.numbers[first - 1] == row)) return;
    worker.for_each(table.width, [&](std::uint64_t c) {
      T sum = table.at(row, c);
      for (std::uint64_t e = first; e < sorted.count && sorted.numbers[e] == row; ++e)
        sum += added[sorted.places[e] * table.width + c];
      table.at(row, c) = sum;
    });
  }
};

template <class Backend, class T>
void add_rows(const exec::Stream& stream, const AddRows<T>& kernel, std::uint64_t count) {
  exec::launch<Backend, exec::Warp>(stream, count, kernel);
}
template <class Backend>
void number_rows(const exec::Stream& stream, const NumberRows& kernel, std::uint64_t count) {
  exec::launch<Backend, exec::Thread>(stream, count, kernel);
}
template <class Backend, class T>
void add_in_order(const exec::Stream& stream, const AddInOrder<T>& kernel) {
  exec::launch<Backend, exec::Warp>(stream, kernel.sorted.count, kernel);
}

#if WARREN_HAS_CUDA
extern template void add_rows<exec::Cuda>(const exec::Stream&, const AddRows<float>&,
                                          std::uint64_t);
extern template void add_rows<exec::Cuda>(const exec::Stream&, const AddRows<double>&,
                                          std::uint64_t);
extern template void add_rows<exec::Cuda>(const exec::Stream&, const AddRows<std::int32_t>&,
                                          std::uint64_t);
extern template void add_rows<exec::Cuda>(const exec::Stream&, const AddRows<std::uint32_t>&,
                                          std::uint64_t);
extern template void add_rows<exec::Cuda>(const exec::Stream&, const AddRows<std::uint64_t>&,
                                          std::uint64_t);
extern template void number_rows<exec::Cuda>(const exec::Stream&, const NumberRows&, std::uint64_t);
extern template void add_in_order<exec::Cuda>(const exec::Stream&, const AddInOrder<float>&);
extern template void add_in_order<exec::Cuda>(const exec::Stream&, const AddInOrder<double>&);
extern template void add_in_order<exec::Cuda>(const exec::Stream&, const AddInOrder<std::int32_t>&);
extern template void add_in_order<exec::Cuda>(const exec::Stream&,
                                              const AddInOrder<std::uint32_t>&);
extern template void add_in_order<exec::Cuda>(const exec::Stream&,
                                              const AddInOrder<std::uint64_t>&);
#endif

}  // namespace warren::memory::detail
