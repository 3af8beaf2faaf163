// SPDX-License-Identifier: Apache-2.0
// CoLa's product: remote entries column by column, so that each remote row is read once, into
// registers, and added to all results that it is part of. Own entries are summed row by row without
// atomics, first in the rows that remote ones are added to: while the other rows are multiplied,
// remote rows come in. Columns with more entries than one group of lanes should walk are copied and
// multiplied row by row: cutting them would read them again for each piece.
#include <algorithm>

#include "warren/core/interrupt_point.hpp"

#include "sparse/once_kernels.hpp"
#include "sparse/product.hpp"
#include "sparse/row_table.hpp"

namespace warren::sparse {
namespace {

constexpr std::uint64_t kLongColumn = 1024;

/// A rank's remote columns by their place in the halo, and what is made of those with few entries.
struct RemoteColumns {
  std::vector<std::uint64_t> entries;
  std::vector<Vertex> place;        ///< Among the short or among the long ones.
  std::vector<EdgeOffset> offsets;  ///< Of the short ones, in their new order, as all below.
  std::vector<Vertex> row_ids;
  std::vector<float> values;  ///< Empty: all ones.

  [[nodiscard]] bool is_long(std::uint64_t i) const { return entries[i] > kLongColumn; }
};

/// Own rows in the order in which they are multiplied: parts of those that remote rows are added
/// to, then the others.
struct OwnOrder {
  std::vector<Vertex> rows;
  std::vector<std::uint64_t> part_begin;  ///< Places in `rows`: of each part, and of the others.
  std::vector<std::uint32_t> part;        ///< By row; of the others the number of parts.
};

/// Local rows that short remote columns have entries in, in `parts` ranges of about equal entries.
OwnOrder order_rows(const Rows& rows, const std::vector<std::uint8_t>& is_added_to,
                    std::uint32_t parts) {
  std::uint64_t work = 0;
  const auto cost = [&](std::uint64_t r) { return rows.end(r) - rows.begin(r) + 1; };
  for (std::uint64_t r = 0; r < rows.count; ++r) work += is_added_to[r] != 0 ? cost(r) : 0;
  OwnOrder order;
  order.part.assign(rows.count, parts);
  std::uint64_t done = 0;
  for (std::uint64_t r = 0; r < rows.count; ++r) {
    if (is_added_to[r] == 0) continue;
    const auto part = static_cast<std::uint32_t>(done * parts / work);
    while (order.part_begin.size() <= part) order.part_begin.push_back(order.rows.size());
    order.part[r] = part;
    order.rows.push_back(static_cast<Vertex>(r));
    done += cost(r);
  }
  while (order.part_begin.size() <= parts) order.part_begin.push_back(order.rows.size());
  for (std::uint64_t r = 0; r < rows.count; ++r) {
    if (is_added_to[r] == 0) order.rows.push_back(static_cast<Vertex>(r));
  }
  return order;
}

/// This rank's own entries, rows in the given order.
HostBlock own_block_in(const Rows& rows, const std::vector<Vertex>& order, exec::ThreadPool& pool) {
  constexpr std::uint64_t kGrain = 1024;
  const HostBlock from = own_block(rows, pool);
  HostBlock block;
  block.row_ids = order;
  block.columns.resize(from.columns.size());
  block.values.resize(from.values.size());
  for (const Vertex r : order)
    block.offsets.push_back(block.offsets.back() + from.offsets[r + 1ull] - from.offsets[r]);
  pool.parallel_for(0, order.size(), kGrain, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t i = begin; i < end; ++i) {
      const auto first = static_cast<std::ptrdiff_t>(from.offsets[order[i]]);
      const auto last = static_cast<std::ptrdiff_t>(from.offsets[order[i] + 1ull]);
      const auto to = static_cast<std::ptrdiff_t>(block.offsets[i]);
      std::copy(from.columns.begin() + first, from.columns.begin() + last,
                block.columns.begin() + to);
      if (rows.is_weighted)
        std::copy(from.values.begin() + first, from.values.begin() + last,
                  block.values.begin() + to);
    }
  });
  return block;
}

class OnceProduct final : public ProductBase<float> {
 public:
  explicit OnceProduct(const Preparation& given)
      : ProductBase<float>(given), counter_(given.team.device(), 1) {
    exec::fill_bytes(stream_, counter_.data(), 0, sizeof(std::uint64_t));
    const Rows& rows = given.rows;
    const Exchange exchange(team_, rows);
    RemoteColumns remote;
    remote.entries.assign(exchange.halo().size(), 0);
    each_remote(rows, exchange,
                [&](EdgeOffset, std::uint64_t, std::uint64_t i) { ++remote.entries[i]; });
    const OwnOrder order =
        order_rows(rows, added_to(rows, exchange, remote), std::max(1u, given.options.chunks));
    place_own(rows, order);
    place_long(exchange, remote);
    place_short(rows, exchange, order, given.k, remote);
    // A CPU's product adds up the pieces of long rows behind its last task.
    if (!team_.device().is_cuda()) parts_ = {{0, own_.plan().tasks(), 0, short_rows_.size()}};
    const auto long_block = choose_entries(rows, team_.device().pool(), {},
                                           [&](EdgeOffset, Vertex column, Vertex& new_column) {
                                             if (is_own(column)) return false;
                                             const std::uint64_t i = exchange.place(column);
                                             new_column = remote.place[i];
                                             return remote.is_long(i);
                                           });
    long_block_ = DeviceBlock(stream_, long_block);
  }

  void enqueue(const ProductRun<float>& run) override {
    if (run.is_counted) exec::fill_bytes(run.stream, counter_.data(), 0, sizeof(std::uint64_t));
    moves_.restart();
    copies_wait(run.stream);
    moves_.gather(copy_stream_, long_rows_, run.b, long_buffer_.data());
    far_reads_.repeat(copy_stream_, run.b);
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      const Part& part = parts_[p];
      around(run, run.stream,
             [&] { own_.multiply(run.stream, run.own, part.first_task, part.tasks); });
      if (part.columns == 0) continue;
      added_[p].record(run.stream);
      copy_stream_.wait(added_[p]);
      around(run, copy_stream_, [&] { add_columns(run, part); });
    }
    end_use(run, copy_stream_);
    wait_for_copies(run.stream);
    multiply_more(run, long_block_, long_buffer_.data());
  }

  [[nodiscard]] std::uint64_t rows_moved() const override {
    return moves_.moved() + counter_.to_host(stream_)[0];
  }
  [[nodiscard]] std::uint64_t rows_between() const override {
    return moves_.between() + far_reads_.size();
  }

 private:
  /// Own rows, and the remote columns that add to none of later parts.
  struct Part {
    std::uint64_t first_task = 0, tasks = 0;
    std::uint64_t first_column = 0, columns = 0;
  };

  [[nodiscard]] bool is_own(Vertex column) const {
    return column >= first_ && column < first_ + count_;
  }

  /// Calls f(e, local row, place in the halo) for the entries of remote columns.
  template <class F>
  void each_remote(const Rows& rows, const Exchange& exchange, F&& f) const {
    SeldomInterruptPoint point;
    for (std::uint64_t r = 0; r < rows.count; ++r) {
      point();
      for (EdgeOffset e = rows.begin(r); e < rows.end(r); ++e) {
        if (!is_own(rows.columns[e])) f(e, r, exchange.place(rows.columns[e]));
      }
    }
  }

  /// The local rows that short columns have entries in.
  [[nodiscard]] std::vector<std::uint8_t> added_to(const Rows& rows, const Exchange& exchange,
                                                   const RemoteColumns& remote) const {
    std::vector<std::uint8_t> result(rows.count, 0);
    each_remote(rows, exchange, [&](EdgeOffset, std::uint64_t r, std::uint64_t i) {
      if (!remote.is_long(i)) result[r] = 1;
    });
    return result;
  }

  void place_own(const Rows& rows, const OwnOrder& order) {
    const HostBlock block = own_block_in(rows, order.rows, team_.device().pool());
    SpmmTasks tasks = pack_tasks(team_.device(), block.offsets,
                                 {.parts = static_cast<std::uint32_t>(order.part_begin.size())});
    // A task is of its first row's part: rows of later parts that it has are done early.
    for (std::size_t p = 0; p < order.part_begin.size(); ++p) {
      const std::uint64_t end =
          p + 1 < order.part_begin.size() ? order.part_begin[p + 1] : order.rows.size();
      Part part;
      part.first_task = parts_.empty() ? 0 : parts_.back().first_task + parts_.back().tasks;
      while (part.first_task + part.tasks < tasks.tasks.size() &&
             tasks.tasks[part.first_task + part.tasks].row < end)
        ++part.tasks;
      parts_.push_back(part);
      added_.emplace_back(team_.device());
    }
    take_own(block, SpmmPlan(stream_, std::move(tasks)));
  }

  void place_long(const Exchange& exchange, RemoteColumns& remote) {
    const std::vector<Vertex>& halo = exchange.halo();
    remote.place.resize(halo.size());
    std::vector<Vertex> list;
    for (std::size_t i = 0; i < halo.size(); ++i) {
      if (!remote.is_long(i)) continue;
      remote.place[i] = static_cast<Vertex>(list.size());
      list.push_back(halo[i]);
    }
    long_rows_ = RowList(stream_, std::span<const Vertex>(list), moves_.group());
  }

  /// By the last part among their rows, within it by owners, the next rank first: ranks do not all
  /// read the same owner's memory at the same time.
  void place_short(const Rows& rows, const Exchange& exchange, const OwnOrder& order,
                   std::uint64_t k, RemoteColumns& remote) {
    const std::vector<Vertex>& halo = exchange.halo();
    std::vector<std::uint32_t> last_part(halo.size(), 0);
    each_remote(rows, exchange, [&](EdgeOffset, std::uint64_t r, std::uint64_t i) {
      if (!remote.is_long(i)) last_part[i] = std::max(last_part[i], order.part[r]);
    });
    std::vector<Vertex> turn;
    for (Vertex i = 0; i < halo.size(); ++i) {
      if (!remote.is_long(i)) turn.push_back(i);
    }
    const auto next_owner = std::lower_bound(
        turn.begin(), turn.end(), exchange.halo_begin()[static_cast<std::size_t>(team_.rank())]);
    std::rotate(turn.begin(), next_owner, turn.end());
    std::stable_sort(turn.begin(), turn.end(),
                     [&](Vertex a, Vertex b) { return last_part[a] < last_part[b]; });
    std::vector<Vertex> list;
    remote.offsets.assign(1, 0);
    for (const Vertex i : turn) {
      remote.place[i] = static_cast<Vertex>(list.size());
      list.push_back(halo[i]);
      remote.offsets.push_back(remote.offsets.back() + remote.entries[i]);
      ++parts_[last_part[i]].columns;
    }
    for (std::size_t p = 1; p < parts_.size(); ++p)
      parts_[p].first_column = parts_[p - 1].first_column + parts_[p - 1].columns;
    remote.row_ids.resize(remote.offsets.back());
    remote.values.resize(rows.is_weighted ? remote.offsets.back() : 0);
    std::vector<EdgeOffset> next(remote.offsets.begin(), remote.offsets.end() - 1);
    each_remote(rows, exchange, [&](EdgeOffset e, std::uint64_t r, std::uint64_t i) {
      if (remote.is_long(i)) return;
      const EdgeOffset to = next[remote.place[i]]++;
      remote.row_ids[to] = static_cast<Vertex>(r);
      if (rows.is_weighted) remote.values[to] = rows.values[e];
    });
    offsets_ = to_device(stream_, remote.offsets);
    row_ids_ = to_device(stream_, remote.row_ids);
    values_ = to_device(stream_, remote.values);
    short_rows_ = to_device(stream_, list);
    far_reads_ = FarReads<float>(stream_, moves_, list, k);
  }

  void take_buffers(std::uint64_t width) override { take(long_buffer_, long_rows_.size(), width); }

  /// Beside the next part's own rows.
  void add_columns(const ProductRun<float>& run, const Part& part) const {
    detail::OnceJob job;
    job.offsets = offsets_.data() + part.first_column;
    job.row_ids = row_ids_.data();
    job.values = values_.data();
    job.row_scale = run.own.row_scale;
    job.rows = short_rows_.data() + part.first_column;
    job.columns = part.columns;
    job.b = table_of(run.b);
    job.c = run.own.y;
    job.c_stride = run.own.y_stride;
    job.k = run.own.k;
    job.alpha = run.own.alpha;
    job.rows_moved = run.is_counted ? counter_.data() : nullptr;
    exec::with_backend(stream_.device(), [&](auto backend) {
      detail::run_once<decltype(backend)>(copy_stream_, job);
    });
  }

  std::vector<Part> parts_;
  std::vector<exec::Event> added_;  // By part: its own rows are multiplied.
  memory::Buffer<EdgeOffset> offsets_;
  memory::Buffer<Vertex> row_ids_, short_rows_;
  memory::Buffer<float> values_, long_buffer_;
  RowList long_rows_;
  FarReads<float> far_reads_;
  DeviceBlock long_block_;
  memory::Buffer<std::uint64_t> counter_;
};

}  // namespace

/// Atomics add float32 only.
template <>
std::unique_ptr<Product<float>> make_once(const Preparation& given) {
  if (given.options.deterministic) return make_staged<float>(given);
  return std::make_unique<OnceProduct>(given);
}
template <>
std::unique_ptr<Product<Half>> make_once(const Preparation& given) {
  return make_staged<Half>(given);
}
template <>
std::unique_ptr<Product<BFloat16>> make_once(const Preparation& given) {
  return make_staged<BFloat16>(given);
}

}  // namespace warren::sparse
