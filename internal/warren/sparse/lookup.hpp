// SPDX-License-Identifier: Apache-2.0
// Embedding lookup: bags of rows of a table that is spread over the ranks, summed (MGG,
// section 7.3; the sparse half of DLRM).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "warren/memory/global_array.hpp"
#include "warren/sparse/spmm.hpp"

namespace warren::sparse {

/// What a bag's sum is multiplied by; nullptr: 1. In the memory of the stream's device.
struct BagScales {
  const float* weights = nullptr;  ///< Of each index of the batch.
  const float* bags = nullptr;     ///< Of each bag.
};

/// Sums of bags of rows, for one rank's batches of one shape.
class BagLookup {
 public:
  /// Bags i of a batch are indices [offsets[i], offsets[i + 1]). Throws UsageError for offsets that
  /// do not ascend from 0, MemoryError. Synchronises.
  BagLookup(const exec::Stream& stream, std::span<const EdgeOffset> offsets);

  /// out[i][:] = scales.bags[i] times the sum of scales.weights[e] table[indices[e]][:] over the
  /// places e of bag i, rows k wide without gaps: each row is read where it lies, on whichever
  /// rank, straight into a register, once for each index that names it. `indices` (row numbers over
  /// the team, below 2^32, checked by whoever makes them) and `out` are on the stream's device.
  /// Each rank calls for itself; the table must not be written meanwhile. Asynchronous; repeats bit
  /// for bit. rows_moved (on the device, may be nullptr): rows of other ranks read are added.
  template <class T>
  void run(const exec::Stream& stream, const memory::GlobalView<T>& table, const Vertex* indices,
           T* out, std::uint64_t* rows_moved = nullptr, const BagScales& scales = {}) const;

  [[nodiscard]] std::uint64_t bags() const { return offsets_.size() - 1; }

 private:
  memory::Buffer<EdgeOffset> offsets_;
  SpmmPlan plan_;
};

/// How rows of other ranks come into a bag's sum.
enum class LookupStrategy {
  pull,       ///< The bag's rank reads every row where it lies (MGG).
  owner_sum,  ///< Every owner adds up its rows of a bag; the bag's rank adds the owners' sums.
  messages    ///< Owners send whole rows over the team's collectives (NCCL where it is there).
};
/// "pull", "owner-sum", "messages". Throws UsageError for what is none.
[[nodiscard]] LookupStrategy parse_lookup_strategy(const std::string& name);
[[nodiscard]] std::string name_of(LookupStrategy strategy);
[[nodiscard]] const std::vector<LookupStrategy>& all_lookup_strategies();

struct LookupChoice {
  LookupStrategy strategy = LookupStrategy::pull;
  std::string why;
};
/// pull or owner_sum, by the bytes that cross between ranks for bags of `mean_bag` rows drawn from
/// all ranks alike: pull moves mean_bag (1 - 1 / ranks) rows of `element_bytes` an element,
/// owner_sum at most ranks - 1 of four bytes, but the ranks wait for each other twice: it should
/// more than halve them. pull where all rows are equally near: replicated ones, or those of ranks
/// that share a memory. The same on all ranks that give the same numbers.
[[nodiscard]] LookupChoice choose_lookup(int ranks, double mean_bag, std::uint64_t element_bytes,
                                         bool is_all_near = false);

/// Sums of bags of rows by any strategy, for batches of one shape on each rank.
template <class T>
class TeamLookup {
 public:
  virtual ~TeamLookup() = default;
  /// As BagLookup::run, but collective and synchronising; batches may differ between ranks, empty
  /// ones among them. The table, k wide, must not be written until all ranks have returned.
  /// Repeats bit for bit: owner_sum and messages add rows owner by owner, in rank order, within an
  /// owner in the bag's order, in float32. rows_moved: rows of other ranks, or sums of such rows,
  /// that this rank reads or is sent are added. Throws UsageError for a table of another width or
  /// team, a replicated one (but for pull), and `out` that is not aligned as its rows are.
  virtual void run(const memory::GlobalView<T>& table, const Vertex* indices, T* out,
                   std::uint64_t* rows_moved = nullptr) = 0;
};

/// For T = float, Half, BFloat16. Offsets as BagLookup's, on each rank its own; rows have k
/// elements; work is put on `stream`. Collective. owner_sum holds k floats for every bag of the
/// team on every rank, and 4 bytes for each of the rank's indices; messages holds the rank's
/// indices' rows, those it is asked for, and some bytes for each. Throws UsageError, MemoryError.
template <class T>
[[nodiscard]] std::unique_ptr<TeamLookup<T>> make_lookup(team::Team& team,
                                                         const exec::Stream& stream,
                                                         std::span<const EdgeOffset> offsets,
                                                         std::uint64_t k, LookupStrategy strategy);

}  // namespace warren::sparse
