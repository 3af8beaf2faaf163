// SPDX-License-Identifier: Apache-2.0
// Adding rows to rows of a GlobalArray. For float, double, int32, uint32 and uint64.
#pragma once

#include <cstdint>

#include "warren/memory/buffer.hpp"
#include "warren/memory/global_array.hpp"

namespace warren::memory {

/// table[rows[i]][:] += added[i][:] for i < count, on any rank's rows, by atomics. `rows` (numbers
/// over the team, which may come more than once) and `added` (count x width, row-major) are on the
/// stream's device. Each rank calls for itself, at the same time as others: not collective. Rows
/// out of range are skipped and added to *out_of_range (on the device; may be nullptr). A
/// replicated table: this rank's copy only. Asynchronous. Throws UsageError for null arrays,
/// DeviceError when the launch fails. Sums of integers are deterministic; of floats the order is
/// not fixed: they repeat up to rounding.
template <class T>
void scatter_add(const exec::Stream& stream, const GlobalView<T>& table, const Vertex* rows,
                 std::uint64_t count, const T* added, std::uint64_t* out_of_range = nullptr);

namespace detail {

/// A call's rows, sorted by their numbers.
struct SortedRows {
  const std::uint32_t* numbers = nullptr;
  const std::uint32_t* places = nullptr;
  std::uint64_t count = 0;
};

}  // namespace detail

/// The same in the list's order, without atomics: deterministic, and what a loop over the list
/// gives bit for bit, while nobody else writes to the rows. Keeps 16 bytes a row of the longest
/// list and what the sort needs besides, taken when a list is the longest so far (which
/// synchronises). The calls of one object are of one stream at a time.
class ScatterAdd {
 public:
  /// As scatter_add(). Throws UsageError for 2^32 - 1 rows and more, of the list or of the table,
  /// MemoryError.
  template <class T>
  void run(const exec::Stream& stream, const GlobalView<T>& table, const Vertex* rows,
           std::uint64_t count, const T* added, std::uint64_t* out_of_range = nullptr);

 private:
  detail::SortedRows sort(const exec::Stream& stream, std::uint64_t table_rows, const Vertex* rows,
                          std::uint64_t count, std::uint64_t* out_of_range);

  Buffer<std::uint32_t> pairs_;  ///< Numbers and places, before and after.
  Buffer<unsigned char> scratch_;
};

}  // namespace warren::memory
