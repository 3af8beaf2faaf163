// SPDX-License-Identifier: Apache-2.0
// Sparse times dense on one device.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "warren/exec/stream.hpp"
#include "warren/memory/buffer.hpp"
#include "warren/sparse/matrix.hpp"

namespace warren::sparse {

/// Rows of whichever rank: row i of part q (first[q] <= i < first[q + 1]) starts at
/// origin[q] + i * stride. One part: all rows from origin[0].
template <class T>
struct RowTable {
  const T* origin[kMaxRanks] = {};  ///< May lie before the part's memory.
  std::uint64_t first[kMaxRanks] = {};
  std::uint64_t stride = 0;
  int parts = 1;
  int own = 0;  ///< Rows of other parts are counted as moved.

  RowTable() = default;
  RowTable(const T* rows, std::uint64_t stride_) : stride(stride_) { origin[0] = rows; }
  /// Rows below `own_rows` are of `rows`, those from there on of `halo_rows`, which has row
  /// own_rows first.
  RowTable(const T* rows, std::uint64_t own_rows, const T* halo_rows, std::uint64_t stride_)
      : stride(stride_), parts(2) {
    origin[0] = rows;
    first[1] = own_rows;
    // Before the halo rows' memory, where no pointer may be computed.
    origin[1] = reinterpret_cast<const T*>(reinterpret_cast<std::uintptr_t>(halo_rows) -
                                           own_rows * stride_ * sizeof(T));
  }

  [[nodiscard]] WARREN_HD int part(std::uint64_t row) const {
    int q = 0;
    for (int p = 1; p < parts; ++p) q += row >= first[p] ? 1 : 0;
    return q;
  }
};

/// A run of entries that one group of lanes multiplies: whole rows, or a piece of one row.
struct SpmmTask {
  static constexpr std::uint32_t kWhole = 0xffffffffu;
  EdgeOffset begin = 0, end = 0;
  Vertex row = 0;                  ///< The first.
  std::uint32_t rows = 0;          ///< How many.
  std::uint32_t partial = kWhole;  ///< Of a piece: where its sum goes.
  std::uint32_t split = 0;         ///< Of a piece: its row's place among the split rows.
};

/// A row whose pieces' sums, partials [first, first + count), make its result.
struct SplitRow {
  Vertex row = 0;  ///< Of the matrix.
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

struct SpmmPlanOptions {
  /// Most entries of a task; 0 chooses by sizes and device.
  std::uint32_t entries = 0;
  /// In how many parts the tasks are multiplied: each should have enough of them.
  std::uint32_t parts = 1;
};

/// A matrix's rows packed into tasks, in host memory. Tasks may be multiplied in any order.
struct SpmmTasks {
  std::vector<SpmmTask> tasks;
  std::vector<SplitRow> splits;
  std::uint64_t pieces = 0;
};
/// Tasks of about equal entries; rows that are longer are cut into pieces. On the host's threads.
/// Throws UsageError for 2^32 pieces or more.
[[nodiscard]] SpmmTasks pack_tasks(const exec::Device& device, std::span<const EdgeOffset> offsets,
                                   const SpmmPlanOptions& options = {});

/// How much a plan has of everything, which says what it holds.
struct SpmmPlanSizes {
  std::uint64_t tasks = 0, splits = 0, pieces = 0;
};
/// Those of the plan of a matrix on a device. Throws as pack_tasks().
[[nodiscard]] SpmmPlanSizes plan_sizes(const exec::Device& device,
                                       std::span<const EdgeOffset> offsets,
                                       const SpmmPlanOptions& options = {});

/// What is prepared once for a matrix and used by every product with it, of any width and type:
/// rows packed into tasks of about equal entries, and rows that are longer cut into pieces. One
/// pass over the offsets, on the host's threads. Holds 32 bytes for each task and, from the first
/// product on, four bytes for each piece and column and, on a GPU, for each piece and tile of
/// columns. One product uses a plan at a time.
class SpmmPlan {
 public:
  SpmmPlan() = default;
  /// `offsets` in host memory, as the view has them. Synchronises `stream`. Throws MemoryError;
  /// UsageError for 2^32 tasks or more.
  SpmmPlan(const exec::Stream& stream, std::span<const EdgeOffset> offsets,
           const SpmmPlanOptions& options = {});
  /// Of given tasks and splits, whose pieces need not name their split row.
  SpmmPlan(const exec::Stream& stream, SpmmTasks all);
  /// The memory of one alone, whose tasks are never set: for dry runs (exec::DryRun).
  SpmmPlan(const exec::Stream& stream, const SpmmPlanSizes& sizes);

  /// Makes this the plan of another matrix, whose offsets are on the device alone: a task for every
  /// `rows_each` rows, whole ones, however long. Keeps its memory where that is enough.
  /// Asynchronous. Throws MemoryError.
  void assign(const exec::Stream& stream, const EdgeOffset* offsets, std::uint64_t rows,
              std::uint32_t rows_each);

  /// What it holds so far.
  [[nodiscard]] std::uint64_t bytes() const {
    return tasks_.bytes() + splits_.bytes() + partials_.bytes() + zeros_.bytes();
  }
  [[nodiscard]] std::uint64_t tasks() const { return count_; }
  [[nodiscard]] std::uint64_t splits() const { return splits_.size(); }
  [[nodiscard]] std::uint64_t pieces() const { return pieces_; }
  [[nodiscard]] const SpmmTask* task_data() const { return tasks_.data(); }
  [[nodiscard]] const SplitRow* split_data() const { return splits_.data(); }
  /// Room for the pieces' sums of `stride` columns.
  [[nodiscard]] float* partials(const exec::Stream& stream, std::uint64_t stride) const;
  /// `count` zeros, which kernels leave as they find them.
  [[nodiscard]] std::uint32_t* zeros(const exec::Stream& stream, std::uint64_t count) const;

 private:
  memory::Buffer<SpmmTask> tasks_;
  std::uint64_t count_ = 0;
  memory::Buffer<SplitRow> splits_;
  std::uint64_t pieces_ = 0;
  mutable memory::Buffer<float> partials_;
  mutable memory::Buffer<std::uint32_t> zeros_;
};

struct SpmmOptions {
  float alpha = 1.0f;
  float beta = 0.0f;                      ///< 0: C is not read.
  std::uint32_t threads_per_block = 512;  ///< GPUs only: 32 x MGG's warps per block.
  std::uint64_t* rows_moved = nullptr;    ///< On the device: rows of other parts read are added.
  /// The plan's tasks that are multiplied: `tasks` from first_task on, no more than there are. All
  /// of them make the product, each once, the last one in the last call.
  std::uint64_t first_task = 0;
  std::uint64_t tasks = ~std::uint64_t{0};
};

/// C = alpha A B + beta C, C (rows of A x k) and B row-major with strides of at least k elements,
/// all on the stream's device; T is float, Half or BFloat16, sums are float32. Asynchronous. Only
/// the rows that `a` names are written: rows[r] for all r, so with row_ids == nullptr all of them.
/// Results repeat bit for bit: no float atomics; a row's entries are added in their order, those of
/// rows longer than a task piece by piece. Non-finite values are carried through as IEEE 754 says,
/// but that an entry that is not stored adds nothing (0 x infinity does not occur). C must not
/// overlap B. Throws UsageError for k = 0 or a stride below k, DeviceError when a launch fails.
///
/// On a GPU rows of B may be read up to the next 16 bytes behind k, within their stride.
///
/// On a GPU a group of 4 to 32 lanes works on a task, 16 bytes of a row each, with four rows in
/// flight regardless of where rows end; wider results in column tiles, one after the other, so that
/// the tile's slice of B has the cache to itself (GE-SpMM's coalesced row caching; row splitting as
/// in RoDe). On the CPU a thread does, in SIMD registers.
template <class T>
void spmm(const exec::Stream& stream, const MatrixView& a, const SpmmPlan& plan,
          const RowTable<T>& b, T* c, std::uint64_t c_stride, std::uint64_t k,
          const SpmmOptions& options = {});

}  // namespace warren::sparse
