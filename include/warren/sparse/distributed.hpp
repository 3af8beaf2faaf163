// SPDX-License-Identifier: Apache-2.0
// Sparse times dense over a team: C = A B with A, B and C cut alike by rows.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "warren/memory/global_array.hpp"
#include "warren/sparse/exchange.hpp"
#include "warren/sparse/rows.hpp"

namespace warren::sparse {

/// How rows of B, or partial rows of C, come to the ranks that need them.
enum class Strategy {
  broadcast,            ///< Each rank's rows to all, one rank after the other (CAGNET's 1D).
  broadcast_pipelined,  ///< The same, the next rank's rows on their way while one's are multiplied
                        ///< (MG-GCN's double buffering).
  pull,    ///< One kernel reads remote rows where they lie, for every entry; rows are cut into
           ///< pieces with local and with remote columns (MGG).
  once,    ///< Each remote row is read once and added to all results that it is part of (CoLa's
           ///< column-wise product).
  staged,  ///< Each remote row is copied once, in bulk, while local rows are multiplied.
  fused,   ///< A remote workgroup's rows cross once for the whole workgroup (CoLa's communication
           ///< fusion), and from rank to rank within it.
  cover    ///< For each remote entry the row of B or the partial row of C crosses, whichever needs
           ///< fewer rows in all (SHIRO).
};
/// "broadcast-pipelined" and so on. Throws UsageError for what is none.
[[nodiscard]] Strategy parse_strategy(const std::string& name);
[[nodiscard]] std::string name_of(Strategy strategy);
[[nodiscard]] const std::vector<Strategy>& all_strategies();

struct DistributedOptions {
  Strategy strategy = Strategy::staged;
  /// Ranks of a workgroup, consecutive ones, within which links are fast (workgroup_of() finds
  /// them); 0: all are one.
  int workgroup = 0;
  bool deterministic = false;  ///< `once` without atomics.
  /// staged: parts in which remote rows come while others are multiplied, at most; 0: as many as
  /// pay for their number of bytes. once: parts in which the rows that remote rows are added to are
  /// multiplied first; 0: one.
  std::uint32_t chunks = 0;
  /// Of a GPU, those that copy rows at most while the others multiply (staged, once, cover, fused;
  /// with slow_between pull, too).
  std::uint32_t copy_processors = 24;
  /// pull: entries of a piece (MGG's ps), pieces of one kind in a row (dist; kNoInterleaving: all
  /// local ones, then all remote ones), warps of a block (wpb). What was fastest on two H100s at k
  /// = 128; mgg_options() has the paper's.
  static constexpr std::uint32_t kNoInterleaving = 0xffffffffu;
  std::uint32_t piece_entries = 128;
  std::uint32_t interleave = 16;
  std::uint32_t warps_per_block = 16;
  /// For tests and benchmarks: all that crosses between workgroups is moved this many times, as
  /// over a link that is as many times slower. Results are the same; rows are counted once.
  std::uint32_t slow_between = 1;

  friend bool operator==(const DistributedOptions&, const DistributedOptions&) = default;
};

/// `pull` as MGG's paper has it where it fixes its parameters (section 7.2): pieces of 16 entries,
/// local and remote ones in turn, two warps a block.
[[nodiscard]] DistributedOptions mgg_options();

/// C = alpha A B + beta C over a team, A square, each rank holding the same rows of A, B and C. One
/// signature for all strategies; T is float, Half or BFloat16, sums are float32 within a pass over
/// a part of the columns and are rounded to T between passes. All but `once` repeat bit for bit;
/// `once` adds with atomics, unless `deterministic` or for T of 16 bits, where it copies rows first
/// and moves as many. Peer memory only: every rank must address every other's device.
template <class T>
class DistributedSpmm {
 public:
  /// Finds the rows to exchange, cuts A into blocks and takes the buffers for width k. Collective.
  /// `rows` must outlive this call only. Throws UsageError for k = 0 and for workgroups that do not
  /// divide the team, MemoryError.
  DistributedSpmm(team::Team& team, const Rows& rows, std::uint64_t k,
                  const DistributedOptions& options = {});
  ~DistributedSpmm();
  DistributedSpmm(const DistributedSpmm&) = delete;
  DistributedSpmm& operator=(const DistributedSpmm&) = delete;

  /// `b` on the devices, cut as A's rows, k wide; `c`: this rank's rows x k on its device.
  /// Collective, synchronous: begins when every rank's B stands, and all have read it when it ends.
  /// Throws UsageError for a B that is not of this shape.
  void run(const memory::GlobalArray<T>& b, T* c, float alpha = 1.0f, float beta = 0.0f);
  /// The same, and counts the rows that cross. Where a kernel reads remote rows by itself (pull,
  /// once) that takes longer: time run(). Strategies that repeat bit for bit give the same bits.
  void run_counted(const memory::GlobalArray<T>& b, T* c, float alpha = 1.0f, float beta = 0.0f);

  /// Rows that crossed between ranks in the last run_counted(), counted as they did, over the team,
  /// in the terms of Exchange::volumes(); 0 before. Collective.
  [[nodiscard]] std::uint64_t rows_moved();
  /// Of these, rows that crossed between workgroups, in the terms of
  /// graph::PartitionQuality::between. Collective.
  [[nodiscard]] std::uint64_t rows_between();

 private:
  void run_as(const memory::GlobalArray<T>& b, T* c, float alpha, float beta, bool is_counted);

  team::Team& team_;
  std::uint64_t k_;
  std::vector<std::uint64_t> cuts_;
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

/// out[e] = value(e) <X[row(e)], Y[column(e)]> for this rank's entries, in the order of `rows`:
/// each remote row of Y is copied once, in bulk, while local ones are multiplied. As
/// DistributedSpmm.
template <class T>
class DistributedSddmm {
 public:
  DistributedSddmm(team::Team& team, const Rows& rows, std::uint64_t k);
  ~DistributedSddmm();
  DistributedSddmm(const DistributedSddmm&) = delete;
  DistributedSddmm& operator=(const DistributedSddmm&) = delete;
  /// `x`: this rank's rows x k on its device. The products are left on the device, in an order of
  /// their own. Collective, synchronous.
  void run(const T* x, const memory::GlobalArray<T>& y);
  /// The last run's, in host memory, in the order of the rows' entries.
  [[nodiscard]] std::vector<float> result() const;
  [[nodiscard]] std::uint64_t rows_moved();

 private:
  struct Parts;
  team::Team& team_;
  std::unique_ptr<Parts> parts_;
};

}  // namespace warren::sparse
