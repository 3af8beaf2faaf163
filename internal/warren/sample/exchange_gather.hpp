// SPDX-License-Identifier: Apache-2.0
// Gathering rows by messages: what a gather is where ranks cannot read each other's memory
// (WholeGraph, figure 4, left), for comparison with memory::gather().
#pragma once

#include <cstdint>

#include "warren/memory/global_array.hpp"

namespace warren::sample {

/// Where the time of the last gather went, in seconds on this rank.
struct ExchangeGatherTimes {
  double bucket = 0.0;         ///< 1: row numbers in the order of their owners.
  double exchange_rows = 0.0;  ///< 2: their numbers, then they themselves, to the owners.
  double gather = 0.0;         ///< 3: each owner's rows.
  double exchange_data = 0.0;  ///< 4: the rows back.
  double reorder = 0.0;        ///< 5: in the order asked for.
};

class ExchangeGather {
 public:
  /// out[i][:] = table[indices[i]][:] for i < count in the paper's five steps, over the team's
  /// collectives (NCCL where it is there). `indices` and `out` are on the stream's device. Row
  /// numbers out of range give rows of zeros. Collective; counts may differ, 0 among them. Takes
  /// buffers of the size of what is gathered and sent. Synchronises. Deterministic. For float,
  /// uint16, int32. Throws UsageError for replicated tables, MemoryError.
  template <class T>
  void gather(team::Team& team, const exec::Stream& stream, const memory::GlobalView<T>& table,
              const std::uint64_t* indices, std::uint64_t count, T* out);
  [[nodiscard]] const ExchangeGatherTimes& times() const { return times_; }

 private:
  template <class T>
  static void grow(const exec::Stream& stream, memory::Buffer<T>& buffer, std::uint64_t size);

  memory::Buffer<std::uint32_t> chunk_counts_;
  memory::Buffer<std::uint64_t> chunk_starts_;
  memory::Buffer<std::uint64_t> sent_rows_;
  memory::Buffer<std::uint64_t> places_;
  memory::Buffer<std::uint64_t> asked_rows_;
  memory::Buffer<unsigned char> sent_data_;
  memory::Buffer<unsigned char> received_data_;
  ExchangeGatherTimes times_;
};

}  // namespace warren::sample
