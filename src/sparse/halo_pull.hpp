// SPDX-License-Identifier: Apache-2.0
// How the rows of other ranks that a rank's matrix names come to it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "warren/memory/buffer.hpp"
#include "warren/sparse/distributed_matrix.hpp"
#include "warren/sparse/exchange.hpp"
#include "warren/sparse/pipelined_plan.hpp"
#include "warren/team/stream_barrier.hpp"

#include "sparse/halo_windows.hpp"

namespace warren::sparse {

/// The halo of one matrix. Each rank reads its rows where they lie with their owners, part by part,
/// by kernels on its own device; where ranks have no direct path to each other (or by choice)
/// owners gather them and a collective, or between hosts windows, move them, all at once. Whoever
/// begins a pull ends it before the next one; rows that were given may be overwritten behind its
/// end. Ranks that are on several hosts meet between the last pull and the end of this.
class HaloPull {
 public:
  /// `ids`: the exchange's halo in the plan's order, on the device (the caller's). Where nothing is
  /// read directly, the plan has one part. Collective. Throws MemoryError.
  HaloPull(team::Team& team, const exec::Stream& stream, const std::vector<std::uint64_t>& cuts,
           const Exchange& exchange, const Vertex* ids, const PipelinedPlan& plan, bool is_direct);
  /// The memory of a direct one alone, of `size` rows: for dry runs (exec::DryRun).
  HaloPull(team::Team& team, const std::vector<std::uint64_t>& cuts, std::uint64_t size,
           const Vertex* ids, const PipelinedPlan& plan);

  /// Bytes of rows that came, and of those that were sent.
  [[nodiscard]] std::uint64_t bytes() const {
    std::uint64_t sum = send_.bytes();
    for (const memory::Buffer<std::byte>& received : received_) sum += received.bytes();
    return sum;
  }
  /// Of the widest rows so far, each.
  [[nodiscard]] std::uint64_t row_bytes() const { return row_bytes_; }
  /// Rows of x, `row_bytes` each, of which this rank has its own, come to the result in the halo's
  /// order, in `stream`'s; until the next call with this slot. `is_beside`: something else runs on
  /// the device meanwhile. Collective.
  const void* begin(const exec::Stream& stream, const void* x, std::uint64_t row_bytes,
                    std::size_t slot, bool is_beside);
  /// Later work on `stream` has the rows of the matrix' part i.
  void wait_for(const exec::Stream& stream, std::size_t part) const {
    stream.wait(arrived_.at(part));
  }
  /// Later work on `stream`, which follows the pull's, may overwrite x. Collective.
  void end(const exec::Stream& stream);

 private:
  void read(const exec::Stream& stream, const void* x, std::uint64_t row_bytes, void* to,
            std::uint32_t processors);
  void receive(const exec::Stream& stream, const void* x, std::uint64_t row_bytes, void* to);

  team::Team& team_;
  std::vector<std::uint64_t> cuts_;
  const Vertex* ids_;
  std::uint64_t size_;
  std::uint64_t row_bytes_ = 0;
  bool is_direct_;
  bool is_under_way_ = false;
  std::array<memory::Buffer<std::byte>, DistributedMatrix::kSlots> received_;
  std::vector<PipelinedPlan::Part> parts_;
  std::vector<exec::Event> arrived_;  // By part.
  team::StreamBarrier barrier_;       // Of reads.
  // Of collectives: rows for and of each rank, and this rank's rows that others need.
  std::vector<std::uint64_t> send_begin_, receive_begin_;
  memory::Buffer<Vertex> send_rows_;
  memory::Buffer<std::byte> send_;
  std::optional<HaloWindows> windows_;  // Of ranks on several hosts.
};

}  // namespace warren::sparse
