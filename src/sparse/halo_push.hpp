// SPDX-License-Identifier: Apache-2.0
// How sums go back from rows of a halo to their owners: the adjoint of a pull.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "warren/memory/buffer.hpp"
#include "warren/sparse/blocks.hpp"
#include "warren/team/team.hpp"

namespace warren::sparse {

/// The halo of one matrix. A collective brings each of its rows to the owner, which adds up what
/// ranks sent of a row by a product with a matrix of ones, in the order of the ranks.
class HaloPush {
 public:
  /// `ids`: the halo, in the order of the rows that run() is given. Collective. Synchronises
  /// `stream`. Throws MemoryError.
  HaloPush(team::Team& team, const exec::Stream& stream, std::span<const std::uint64_t> cuts,
           std::span<const Vertex> ids);

  /// y[v] = the sum over the ranks of their `halo` row of v, for this rank's own rows v; 0 where no
  /// rank has one. k columns, all on the device. In the stream's order. Repeats bit for bit.
  /// Collective.
  void run(const exec::Stream& stream, const float* halo, float* y, std::uint64_t k);

 private:
  team::Team& team_;
  std::vector<std::uint64_t> send_begin_, receive_begin_;  // By rank, in rows.
  memory::Buffer<Vertex> places_;  // Of the halo's rows by id, those of an owner together.
  memory::Buffer<float> send_, received_;
  DeviceBlock sums_;
};

}  // namespace warren::sparse
