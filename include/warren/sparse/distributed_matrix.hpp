// SPDX-License-Identifier: Apache-2.0
// A team's sparse matrix, each rank with its rows on its device: the rows of a dense matrix that
// others hold come to it, and products are made while they do, all in the order of the ranks'
// streams.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "warren/memory/buffer.hpp"
#include "warren/sparse/distributed.hpp"
#include "warren/sparse/matrix.hpp"
#include "warren/sparse/operands.hpp"
#include "warren/sparse/rows.hpp"
#include "warren/sparse/spmm.hpp"
#include "warren/team/team.hpp"

namespace warren::sparse {

class HaloSplit;
template <class T>
class Product;

/// What brings rows of other ranks.
enum class HaloBy {
  automatic,   ///< Reads where all ranks have a direct path to each other, else a collective.
  collectives  ///< An all-to-all of rows that their owners have gathered.
};

/// Of a matrix in two (HaloSplit): how many entries are of own columns, and the parts' plans.
struct SplitSizes {
  std::uint64_t own_entries = 0;
  SpmmPlanSizes own_plan, halo_plan;
};
/// How large a rank's matrix is, and what is prepared for it: all that its memory depends on.
struct MatrixSizes {
  std::uint64_t rows = 0, entries = 0;
  std::uint64_t halo = 0;  ///< Rows of other ranks that entries name.
  bool is_weighted = false;
  SpmmPlanSizes plan;
  std::optional<SplitSizes> split;  ///< Where DistributedMatrix::split() is called.
};
/// Of a rank whose rows begin at `offsets` (host memory, one more than rows, from any number on),
/// on `device`, in a team of `ranks`. `own`: for split(), how many of each row's entries are of own
/// columns.
[[nodiscard]] MatrixSizes matrix_sizes(const exec::Device& device,
                                       std::span<const EdgeOffset> offsets,
                                       std::optional<std::span<const std::uint32_t>> own,
                                       std::uint64_t halo, int ranks);

/// The matrix of a rank's rows. Columns below own_columns() are the rank's own rows of x; from
/// there on those of other ranks that its entries name (the halo), in the order in which they come.
/// Its functions are collective where is_shared(), in the same order on all ranks, and
/// asynchronous: rows are read, and may be overwritten afterwards, in the streams' order
/// (team::StreamBarrier). Ranks use each other's memory: calls are within Team::with_peer_memory().
class DistributedMatrix {
 public:
  static constexpr std::size_t kSlots = 3;

  /// `rows` with their values, if they have some, and without scales and a diagonal; they are not
  /// needed afterwards. Takes 4 bytes an entry for columns, and as many for values. Collective.
  /// Synchronises `stream`. Throws MemoryError; UsageError for values of some entries or ranks
  /// only.
  DistributedMatrix(team::Team& team, const exec::Stream& stream, const Rows& rows,
                    HaloBy by = HaloBy::automatic);
  /// The memory of one alone, of ranks that read each other's memory: for dry runs (exec::DryRun).
  DistributedMatrix(team::Team& team, const exec::Stream& stream, const MatrixSizes& sizes);
  ~DistributedMatrix();
  DistributedMatrix(const DistributedMatrix&) = delete;
  DistributedMatrix& operator=(const DistributedMatrix&) = delete;

  [[nodiscard]] std::uint64_t rows() const { return rows_; }
  [[nodiscard]] std::uint64_t own_columns() const { return rows_; }
  [[nodiscard]] std::uint64_t halo() const { return halo_; }
  [[nodiscard]] std::uint64_t first() const { return first_; }
  [[nodiscard]] std::uint64_t entries() const { return columns_.size(); }
  /// Whether entries have values: the same on all ranks, whatever entries they have.
  [[nodiscard]] bool is_weighted() const { return is_weighted_; }
  /// Whether several ranks have a part each.
  [[nodiscard]] bool is_shared() const { return parts_ != nullptr; }
  /// Whether ranks read each other's memory; else a collective moves rows.
  [[nodiscard]] bool is_direct() const { return is_direct_; }
  /// With values where there are some, without scales.
  [[nodiscard]] const MatrixView& view() const { return view_; }
  [[nodiscard]] const SpmmPlan& plan() const;
  /// Of every row, where its entries begin, in host memory; and the end.
  [[nodiscard]] const std::vector<EdgeOffset>& offsets() const { return host_offsets_; }
  /// Of every column, its row of the whole matrix: on the device, and the halo's in host memory.
  [[nodiscard]] const Vertex* vertices() const { return vertices_.data(); }
  [[nodiscard]] const std::vector<Vertex>& halo_ids() const { return halo_ids_; }

  /// The halo's rows of x (own_columns() rows of `row_bytes` on every rank, an even number),
  /// brought here in the stream's order: halo() rows, until the next call with this slot. nullptr
  /// where nothing is shared.
  const void* pull(const exec::Stream& stream, const void* x, std::uint64_t row_bytes,
                   std::size_t slot = 0) const;
  /// The same beside what `stream` does from here on, which waits for it in end_pull(); x stays as
  /// it is until then. One pull at a time.
  const void* begin_pull(const exec::Stream& stream, const void* x, std::uint64_t row_bytes) const;
  void end_pull(const exec::Stream& stream) const;
  /// The adjoint of pull(): y[v] = the sum over the ranks of row v of their `halo` rows, for own
  /// rows v of k columns; 0 where v is in no halo, or nothing is shared. In the stream's order.
  /// Repeats bit for bit. The first call, and one of wider rows, synchronises. Throws MemoryError.
  void push(const exec::Stream& stream, const float* halo, float* y, std::uint64_t k) const;
  /// How multiply() makes products with rows of T from here on. At first, and again by plain
  /// Strategy::staged, the halo's rows come in parts, each multiplied as it is there; every other
  /// way keeps the matrix a second time, in its own order, and from the first products on its
  /// buffers. Collective; synchronises. Throws UsageError where ranks do not read each other's
  /// memory and for workgroups that do not divide the team; MemoryError.
  template <class T>
  void set_strategy(const DistributedOptions& options);
  /// The rows that the matrix was made of, copied from its device. Synchronises `stream`.
  [[nodiscard]] Rows rows_on_host(const exec::Stream& stream) const;

  /// The product for the whole matrix, while rows of x come. Repeats bit for bit, but by
  /// Strategy::once of float32 (DistributedOptions::deterministic).
  template <class T>
  void multiply(const exec::Stream& stream, const MatrixOperands<T>& operands,
                const AroundWork& around = {}) const;
  /// The matrix in two, for work on own columns while the halo's rows are on their way; nullptr
  /// where nothing is shared. Made by the first call, which synchronises. Throws MemoryError.
  [[nodiscard]] const HaloSplit* split(const exec::Stream& stream) const;
  /// What it holds: of the matrix itself and its plan; of rows of other ranks, and the matrix in
  /// two.
  [[nodiscard]] std::uint64_t bytes() const {
    return offsets_.bytes() + columns_.bytes() + vertices_.bytes() + values_.bytes() +
           plan().bytes();
  }
  [[nodiscard]] std::uint64_t halo_bytes() const;
  /// The widest of other ranks' rows so far, in bytes.
  [[nodiscard]] std::uint64_t halo_row_bytes() const;

 private:
  struct Parts;
  template <class T>
  void multiply_by(Product<T>& product, const exec::Stream& stream,
                   const MatrixOperands<T>& operands, const AroundWork& around) const;
  /// Takes the device's arrays, whose contents come later.
  void take(std::uint64_t entries, std::uint64_t halo);

  team::Team& team_;
  std::vector<std::uint64_t> cuts_;
  std::uint64_t rows_ = 0, first_ = 0, halo_ = 0;
  bool is_weighted_ = false, is_direct_ = false;
  std::vector<EdgeOffset> host_offsets_;
  std::vector<Vertex> halo_ids_;
  memory::Buffer<EdgeOffset> offsets_;
  memory::Buffer<Vertex> columns_, vertices_;
  memory::Buffer<float> values_;
  MatrixView view_;
  SpmmPlan own_plan_;             // Where nothing is shared.
  std::unique_ptr<Parts> parts_;  // Where ranks share.
  mutable std::shared_ptr<const HaloSplit> split_;
  std::optional<MatrixSizes> dry_sizes_;  // Of dry runs, for split().
};

}  // namespace warren::sparse
