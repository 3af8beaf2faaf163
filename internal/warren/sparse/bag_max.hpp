// SPDX-License-Identifier: Apache-2.0
// Embedding lookup by maximum: of each bag of rows the largest element of each column.
#pragma once

#include <cstdint>

#include "warren/memory/buffer.hpp"
#include "warren/memory/global_array.hpp"

namespace warren::sparse {

/// One rank's batch of bags, all on a stream's device.
struct BagBatch {
  const EdgeOffset* offsets =
      nullptr;  ///< bags + 1: bag i is indices [offsets[i], offsets[i + 1]).
  std::uint64_t bags = 0;
  const Vertex* indices = nullptr;  ///< Row numbers over the team, of rows that there are.
};

/// out[i][c] = max over the places e of bag i of table[indices[e]][c]; an empty bag gives zeros.
/// The first row's element stands until a larger one comes: of NaN that is none, so that NaN stays
/// where the bag's first row has it and is passed over elsewhere, as PyTorch's embedding_bag does.
/// `out` is bags x the table's width, row-major. Rows are read where they lie, on whichever rank;
/// each rank calls for itself, and the table must not be written meanwhile. Asynchronous; repeats
/// bit for bit. rows_moved (on the device, may be nullptr): rows of other ranks read are added. For
/// T = float, Half, BFloat16. Throws DeviceError when the launch fails.
template <class T>
void bag_max(const exec::Stream& stream, const memory::GlobalView<T>& table, const BagBatch& batch,
             T* out, std::uint64_t* rows_moved = nullptr);

}  // namespace warren::sparse
