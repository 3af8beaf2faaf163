// SPDX-License-Identifier: Apache-2.0
// MGG's product: one kernel that reads remote rows where they lie, whenever an entry names one.
// Rows are split into their local and their remote entries (its two CSRs), these into pieces of at
// most `piece_entries` (its neighbour partitions), and pieces of the two kinds alternate, so that
// those who wait for remote rows share a processor with those who do not: by sixteen of a kind,
// unless asked for otherwise, as neighbouring pieces find each other's rows in the cache. The sums
// of a row's pieces are added up in order afterwards, without atomics.
#include <algorithm>

#include "warren/core/error.hpp"
#include "warren/core/interrupt_point.hpp"

#include "sparse/product.hpp"
#include "sparse/row_table.hpp"

namespace warren::sparse {
namespace {

/// The rows with local entries first, then those with remote ones, as one CSR with global columns.
struct SplitRows {
  HostBlock block;
  SpmmTasks packed;
};

/// Entries and rows of a task of short rows, at most: pieces may be whole rows of any length.
constexpr std::uint32_t kMostPacked = 512;

void append_pieces(EdgeOffset begin, EdgeOffset end, Vertex row, std::uint32_t most,
                   std::uint64_t& pieces, std::vector<SpmmTask>& tasks) {
  for (EdgeOffset e = begin; e < end; e += most) {
    tasks.push_back(
        {e, std::min<EdgeOffset>(e + most, end), row, 1, static_cast<std::uint32_t>(pieces++), 0});
  }
}

/// `distance` of one kind, then as many of the other.
std::vector<SpmmTask> interleaved(const std::vector<SpmmTask>& local,
                                  const std::vector<SpmmTask>& remote, std::uint32_t distance) {
  std::vector<SpmmTask> tasks;
  tasks.reserve(local.size() + remote.size());
  std::size_t l = 0;
  std::size_t r = 0;
  while (l < local.size() || r < remote.size()) {
    for (std::uint32_t i = 0; i < distance && l < local.size(); ++i) tasks.push_back(local[l++]);
    for (std::uint32_t i = 0; i < distance && r < remote.size(); ++i) tasks.push_back(remote[r++]);
  }
  return tasks;
}

SplitRows split_rows(const Rows& rows, exec::ThreadPool& pool, const DistributedOptions& options) {
  const std::uint64_t last = rows.first + rows.count;
  const auto choose = [&](bool local, bool compact) {
    return choose_entries(rows, pool, {.compact = compact},
                          [&](EdgeOffset, Vertex column, Vertex& new_column) {
                            new_column = column;
                            return (column >= rows.first && column < last) == local;
                          });
  };
  SplitRows split;
  split.block = choose(true, false);
  const HostBlock remote = choose(false, true);
  HostBlock& block = split.block;
  const EdgeOffset own_entries = block.columns.size();
  for (std::uint64_t r = 0; r < rows.count; ++r) block.row_ids.push_back(static_cast<Vertex>(r));
  for (std::size_t i = 0; i < remote.row_ids.size(); ++i) {
    block.row_ids.push_back(remote.row_ids[i]);
    block.offsets.push_back(own_entries + remote.offsets[i + 1]);
  }
  block.columns.insert(block.columns.end(), remote.columns.begin(), remote.columns.end());
  block.values.insert(block.values.end(), remote.values.begin(), remote.values.end());

  const std::uint32_t most = options.piece_entries;
  std::uint64_t& pieces = split.packed.pieces;
  std::vector<SpmmTask> local_tasks;
  std::vector<SpmmTask> remote_tasks;
  std::size_t next_remote = 0;
  std::uint64_t packed = 0;  // Entries and rows of the local task at the end, while it may grow.
  bool may_grow = false;
  SeldomInterruptPoint point;
  for (std::uint64_t r = 0; r < rows.count; ++r) {
    point();
    const EdgeOffset begin = block.offsets[r];
    const EdgeOffset end = block.offsets[r + 1];
    const auto row = static_cast<Vertex>(r);
    const bool has_remote =
        next_remote < remote.row_ids.size() && remote.row_ids[next_remote] == row;
    if (!has_remote && end - begin <= most) {
      if (may_grow && packed + (end - begin) + 1 <= std::min(most, kMostPacked)) {
        local_tasks.back().end = end;
        ++local_tasks.back().rows;
      } else {
        local_tasks.push_back({begin, end, row, 1, SpmmTask::kWhole, 0});
        packed = 0;
        may_grow = true;
      }
      packed += end - begin + 1;
      continue;
    }
    may_grow = false;
    SplitRow whole{row, static_cast<std::uint32_t>(pieces), 0};
    append_pieces(begin, end, row, most, pieces, local_tasks);
    if (has_remote) {
      append_pieces(own_entries + remote.offsets[next_remote],
                    own_entries + remote.offsets[next_remote + 1],
                    static_cast<Vertex>(rows.count + next_remote), most, pieces, remote_tasks);
      ++next_remote;
    }
    require(pieces < SpmmTask::kWhole, "pull: 2^32 pieces of rows or more");
    whole.count = static_cast<std::uint32_t>(pieces) - whole.first;
    split.packed.splits.push_back(whole);
  }
  split.packed.tasks = interleaved(local_tasks, remote_tasks, options.interleave);
  return split;
}

template <class T>
class PullProduct final : public ProductBase<T> {
 public:
  explicit PullProduct(const Preparation& given)
      : ProductBase<T>(given),
        threads_(given.options.warps_per_block * 32),
        counter_(given.team.device(), 1) {
    exec::fill_bytes(this->stream_, counter_.data(), 0, sizeof(std::uint64_t));
    require(given.options.piece_entries >= 1 && given.options.interleave >= 1,
            "pull: pieces and their distance are at least 1");
    require(given.options.warps_per_block >= 1 && given.options.warps_per_block <= 32,
            "pull: a block has 1 to 32 warps");
    SplitRows split = split_rows(given.rows, this->team_.device().pool(), given.options);
    block_ = DeviceBlock(this->stream_, split.block);
    far_reads_ = FarReads<T>(this->stream_, this->moves_, given.rows.columns, given.k);
    plan_ = SpmmPlan(this->stream_, std::move(split.packed));
  }

  void enqueue(const ProductRun<T>& run) override {
    if (run.is_counted) exec::fill_bytes(run.stream, counter_.data(), 0, sizeof(std::uint64_t));
    MatrixView matrix = scaled(block_.view(), run.own);
    matrix.self_first = this->first_;
    if (far_reads_.repeats()) {
      this->copies_wait(run.stream);
      far_reads_.repeat(this->copy_stream_, run.b);
    }
    RowTable<T> table = table_of(run.b);
    // Nobody reads of a rank without rows, but kernels move its null pointer to their columns.
    for (int q = 0; table.parts > 1 && q < table.parts; ++q) {
      if (run.b.base[q] == nullptr) table.origin[q] = table.origin[table.own];
    }
    this->around(run, run.stream, [&] {
      spmm(run.stream, matrix, plan_, table, run.own.y, run.own.y_stride, run.own.k,
           {.alpha = run.own.alpha,
            .beta = run.own.beta,
            .threads_per_block = threads_,
            .rows_moved = run.is_counted ? counter_.data() : nullptr});
    });
    if (far_reads_.repeats()) this->wait_for_copies(run.stream);
    this->end_use(run, run.stream);
  }

  [[nodiscard]] std::uint64_t rows_moved() const override {
    return counter_.to_host(this->stream_)[0];
  }
  [[nodiscard]] std::uint64_t rows_between() const override { return far_reads_.size(); }

 private:
  void take_buffers(std::uint64_t) override {}

  std::uint32_t threads_;
  DeviceBlock block_;
  SpmmPlan plan_;
  FarReads<T> far_reads_;
  memory::Buffer<std::uint64_t> counter_;
};

}  // namespace

template <class T>
std::unique_ptr<Product<T>> make_pull(const Preparation& given) {
  return std::make_unique<PullProduct<T>>(given);
}
template std::unique_ptr<Product<float>> make_pull(const Preparation&);
template std::unique_ptr<Product<Half>> make_pull(const Preparation&);
template std::unique_ptr<Product<BFloat16>> make_pull(const Preparation&);

}  // namespace warren::sparse
