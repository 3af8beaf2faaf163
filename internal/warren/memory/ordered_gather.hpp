// SPDX-License-Identifier: Apache-2.0
// Gathers from host memory in the order of addresses, whatever order the rows are asked in.
//
// A GPU that reads random places of more than about half a gigabyte of pinned host memory is served
// some 43 million requests a second, however short; within half a gigabyte it gets all of its link.
// So the numbers of a batch are sorted on the device by the window of memory in which their rows
// lie, and read window by window with few rows in flight.
#pragma once

#include <cstdint>

#include "warren/memory/buffer.hpp"
#include "warren/memory/gather.hpp"
#include "warren/memory/global_array.hpp"

namespace warren::memory {

/// The order in which a gather reads rows that are in host memory. What comes out is the same.
enum class RowOrder {
  automatic,  ///< Sorted on GPUs where sorting_pays(); on the CPU, which gains nothing by it,
              ///< asked.
  asked,      ///< As the row numbers stand.
  sorted      ///< By address.
};

struct OrderOptions {
  RowOrder order = RowOrder::automatic;
  /// Of host memory, in sorted gathers: twenty times what covers the link's latency. More of them
  /// span a wider window; fewer keep fewer of the GPU's processors.
  std::uint64_t bytes_in_flight = std::uint64_t{1} << 20;
};

/// True where `count` random rows of a table of `table_bytes` in host memory come sooner sorted:
/// the table is wider than what any order reads at the link's rate (512 MB), its rows are shorter
/// than the link carries between two requests served (1,200 B), and the batch is so large that its
/// rows in flight, sorted, span no more than those 512 MB and that what is won exceeds the sort.
/// (Measured on an H200 with 51.5 GB/s from the host.) Of rows that differ, as a batch's vertices
/// do: where many ask for the same few, they come sooner as asked.
[[nodiscard]] bool sorting_pays(std::uint64_t table_bytes, std::uint64_t row_bytes,
                                std::uint64_t count,
                                std::uint64_t bytes_in_flight = OrderOptions{}.bytes_in_flight);

namespace detail {

/// Rows to gather, and where to.
struct GatherJob {
  const std::uint64_t* indices = nullptr;
  const Vertex* vertices = nullptr;  ///< Or: row numbers of 32 bits.
  std::uint64_t count = 0;
  const std::uint32_t* count_at = nullptr;
  void* out = nullptr;
  std::uint64_t* out_of_range = nullptr;
  std::uint32_t processors = 0;
};

/// A table as bytes: first the rows in the devices' memory, then those in the host's. Either may be
/// missing.
struct NearAndFar {
  const GlobalView<unsigned char>* near = nullptr;
  const GlobalView<unsigned char>* far = nullptr;
};

template <class T>
GlobalView<unsigned char> as_bytes(const GlobalView<T>& view) {
  GlobalView<unsigned char> bytes;
  for (int q = 0; q < kMaxRanks; ++q)
    bytes.base[q] = reinterpret_cast<unsigned char*>(view.base[q]);
  for (int q = 0; q <= kMaxRanks; ++q) bytes.cuts[q] = view.cuts[q];
  bytes.width = view.width * sizeof(T);
  bytes.rank = view.rank;
  bytes.ranks = view.ranks;
  bytes.is_replicated = view.is_replicated;
  return bytes;
}

}  // namespace detail

/// Gathers with the memory that sorting takes: 16 bytes a row of the largest batch and what the
/// sort needs besides, taken when a batch is the largest so far (which synchronises). The calls of
/// one object are of one stream at a time.
class OrderedGather {
 public:
  /// Throws UsageError for nothing in flight.
  explicit OrderedGather(const OrderOptions& options = {});

  /// As memory::gather(); rows of arrays in host memory are read in the order of the options.
  /// `processors` hold of the rows' move, not of the sort. Throws UsageError for 2^32 rows and more
  /// that are to be sorted in any case.
  template <class T>
  void gather(const exec::Stream& stream, const GlobalArray<T>& table, const std::uint64_t* indices,
              std::uint64_t count, T* out, std::uint64_t* out_of_range = nullptr,
              std::uint32_t processors = 0) {
    run(stream, table, {indices, nullptr, count, nullptr, out, out_of_range, processors});
  }
  /// As memory::gather_vertices(), likewise.
  template <class T>
  void gather_vertices(const exec::Stream& stream, const GlobalArray<T>& table,
                       const Vertex* vertices, std::uint64_t count, T* out,
                       std::uint64_t* out_of_range = nullptr,
                       const std::uint32_t* count_at = nullptr, std::uint32_t processors = 0) {
    run(stream, table, {nullptr, vertices, count, count_at, out, out_of_range, processors});
  }

  /// True where such a batch is sorted. `far`: the rows in host memory.
  [[nodiscard]] bool sorts(const exec::Device& device, std::uint64_t far_rows,
                           std::uint64_t row_bytes, std::uint64_t count) const;

  /// For both kinds of memory at once: lane groups of their own read each.
  void run(const exec::Stream& stream, const detail::NearAndFar& table,
           const detail::GatherJob& job);

 private:
  template <class T>
  void run(const exec::Stream& stream, const GlobalArray<T>& table, const detail::GatherJob& job) {
    const GlobalView<unsigned char> bytes = detail::as_bytes(table.view());
    const bool is_far = table.placement() == Placement::host;
    run(stream, {is_far ? nullptr : &bytes, is_far ? &bytes : nullptr}, job);
  }

  OrderOptions options_;
  Buffer<std::uint32_t> pairs_;  ///< Keys and places, before and after.
  Buffer<unsigned char> sort_scratch_;
  Buffer<std::uint64_t> far_rows_;
};

}  // namespace warren::memory
