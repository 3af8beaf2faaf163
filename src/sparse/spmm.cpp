// SPDX-License-Identifier: Apache-2.0
// Plans of the sparse-dense product, and its front.
#include "warren/sparse/spmm.hpp"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/exec/dry_run.hpp"

#include "sparse/spmm_kernels.hpp"

namespace warren::sparse {
namespace {

constexpr std::uint32_t kMostEntries = 512;
constexpr std::uint64_t kMostRows = std::uint64_t{1} << 16;

/// Packs rows [first, last) into tasks. A row costs as much as an entry: its result is written.
SpmmTasks pack(std::span<const EdgeOffset> offsets, std::uint64_t first, std::uint64_t last,
               std::uint32_t entries) {
  SpmmTasks part;
  std::uint64_t row = first;
  while (row < last) {
    if (const EdgeOffset degree = offsets[row + 1] - offsets[row]; degree > entries) {
      require(degree / entries < SpmmTask::kWhole - part.pieces,
              fmt::format("rows of {} entries make 2^32 pieces or more; ask for more than {} "
                          "entries of a task",
                          degree, entries));
      SplitRow split{static_cast<Vertex>(row), static_cast<std::uint32_t>(part.pieces), 0};
      for (EdgeOffset e = offsets[row]; e < offsets[row + 1]; e += entries) {
        const EdgeOffset end = std::min<EdgeOffset>(e + entries, offsets[row + 1]);
        part.tasks.push_back({e, end, split.row, 1, static_cast<std::uint32_t>(part.pieces++), 0});
        ++split.count;
      }
      part.splits.push_back(split);
      ++row;
      continue;
    }
    const std::uint64_t begin = row;
    std::uint64_t cost = 0;
    while (row < last && row - begin < kMostRows) {
      const EdgeOffset degree = offsets[row + 1] - offsets[row];
      if (degree > entries || (row > begin && cost + degree + 1 > entries)) break;
      cost += degree + 1;
      ++row;
    }
    part.tasks.push_back({offsets[begin], offsets[row], static_cast<Vertex>(begin),
                          static_cast<std::uint32_t>(row - begin), SpmmTask::kWhole, 0});
  }
  return part;
}

std::uint32_t choose_entries(const exec::Device& device, EdgeOffset entries, std::uint64_t rows,
                             std::uint32_t parts) {
  // Some tasks for each group of lanes that is resident at a time, so that they end together.
  const std::uint64_t groups =
      static_cast<std::uint64_t>(device.processors()) * (device.is_cuda() ? 1024 : 64);
  const std::uint64_t even = (entries + rows) / groups / parts;
  // About ten rows: where rows are longer, pieces would be many; where they are shorter, a group
  // would wait for one row after the other.
  const std::uint64_t ten_rows =
      std::bit_floor(entries * 32 / (3 * std::max<std::uint64_t>(1, rows)));
  const std::uint64_t fewest = std::clamp<std::uint64_t>(ten_rows, 32, 128);
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(even, fewest, kMostEntries));
}

}  // namespace

SpmmTasks pack_tasks(const exec::Device& device, std::span<const EdgeOffset> offsets,
                     const SpmmPlanOptions& options) {
  require(!offsets.empty(), "a plan needs a matrix's offsets, one more than it has rows");
  const std::uint64_t rows = offsets.size() - 1;
  require(rows <= kMaxVertices, "a plan's matrix has at most 2^32 - 1 rows");
  const std::uint32_t entries =
      options.entries != 0
          ? options.entries
          : choose_entries(device, offsets[rows] - offsets[0], rows, std::max(1u, options.parts));
  exec::ThreadPool& pool = device.pool();
  const auto parts = static_cast<std::uint64_t>(pool.size()) * 4;
  std::vector<SpmmTasks> made(parts);
  pool.parallel_for(0, parts, 1, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t p = begin; p < end; ++p)
      made[p] = pack(offsets, rows * p / parts, rows * (p + 1) / parts, entries);
  });
  SpmmTasks all;
  for (SpmmTasks& part : made) {
    for (SpmmTask& task : part.tasks) {
      if (task.partial != SpmmTask::kWhole) task.partial += static_cast<std::uint32_t>(all.pieces);
      all.tasks.push_back(task);
    }
    for (SplitRow& split : part.splits) {
      split.first += static_cast<std::uint32_t>(all.pieces);
      all.splits.push_back(split);
    }
    all.pieces += part.pieces;
    require(
        all.pieces < SpmmTask::kWhole,
        fmt::format("{} entries make 2^32 pieces or more; ask for more than {} entries of a task",
                    offsets[rows], entries));
  }
  return all;
}

SpmmPlan::SpmmPlan(const exec::Stream& stream, std::span<const EdgeOffset> offsets,
                   const SpmmPlanOptions& options)
    : SpmmPlan(stream, pack_tasks(stream.device(), offsets, options)) {}

SpmmPlanSizes plan_sizes(const exec::Device& device, std::span<const EdgeOffset> offsets,
                         const SpmmPlanOptions& options) {
  const SpmmTasks all = pack_tasks(device, offsets, options);
  return {all.tasks.size(), all.splits.size(), all.pieces};
}

SpmmPlan::SpmmPlan(const exec::Stream& stream, const SpmmPlanSizes& sizes)
    : tasks_(stream.device(), sizes.tasks),
      count_(sizes.tasks),
      splits_(stream.device(), sizes.splits),
      pieces_(sizes.pieces) {}

SpmmPlan::SpmmPlan(const exec::Stream& stream, SpmmTasks all)
    : SpmmPlan(stream, SpmmPlanSizes{all.tasks.size(), all.splits.size(), all.pieces}) {
  std::vector<std::uint32_t> split_of(pieces_);
  for (std::size_t i = 0; i < all.splits.size(); ++i)
    std::fill_n(split_of.begin() + all.splits[i].first, all.splits[i].count,
                static_cast<std::uint32_t>(i));
  for (SpmmTask& task : all.tasks) {
    if (task.partial != SpmmTask::kWhole) task.split = split_of[task.partial];
  }
  tasks_.upload(stream, all.tasks);
  splits_.upload(stream, all.splits);
  stream.synchronize();
}

void SpmmPlan::assign(const exec::Stream& stream, const EdgeOffset* offsets, std::uint64_t rows,
                      std::uint32_t rows_each) {
  require(rows_each >= 1 && rows_each <= kMostRows, "a task has 1 to 65536 rows");
  count_ = (rows + rows_each - 1) / rows_each;
  splits_.reset();
  pieces_ = 0;
  if (tasks_.size() < count_) {
    tasks_.reset();
    tasks_ = memory::Buffer<SpmmTask>(stream.device(), count_ + count_ / 8);
  }
  exec::with_backend(stream.device(), [&](auto backend) {
    detail::make_tasks<decltype(backend)>(
        stream, count_, detail::EvenTasks{offsets, rows, rows_each, tasks_.data()});
  });
}

float* SpmmPlan::partials(const exec::Stream& stream, std::uint64_t stride) const {
  if (partials_.size() < pieces_ * stride) {
    partials_.reset();
    partials_ = memory::Buffer<float>(stream.device(), exec::bytes_of(pieces_, stride));
  }
  return partials_.data();
}

std::uint32_t* SpmmPlan::zeros(const exec::Stream& stream, std::uint64_t count) const {
  if (zeros_.size() < count) {
    zeros_.reset();
    zeros_ = memory::Buffer<std::uint32_t>(stream.device(), count);
    exec::fill_bytes(stream, zeros_.data(), 0, exec::bytes_of(count, sizeof(std::uint32_t)));
    stream.synchronize();  // Another part of the product may be on another stream.
  }
  return zeros_.data();
}

template <class T>
void spmm(const exec::Stream& stream, const MatrixView& a, const SpmmPlan& plan,
          const RowTable<T>& b, T* c, std::uint64_t c_stride, std::uint64_t k,
          const SpmmOptions& options) {
  require(k > 0, "spmm: k is 0; B and C need at least one column");
  require(b.stride >= k && c_stride >= k,
          fmt::format("spmm: strides of {} and {} elements for {} columns", b.stride, c_stride, k));
  require(std::max(b.stride, c_stride) < (std::uint64_t{1} << 32),
          fmt::format("spmm: strides of {} and {} elements; fewer than 2^32 can be", b.stride,
                      c_stride));
  require(options.first_task <= plan.tasks(),
          fmt::format("spmm: task {} of a plan of {}", options.first_task, plan.tasks()));
  const std::uint64_t tasks = std::min(options.tasks, plan.tasks() - options.first_task);
  if (tasks == 0) return;
  detail::SpmmJob<T> job;
  job.a = a;
  job.b = b;
  job.c = c;
  job.c_stride = c_stride;
  job.k = k;
  job.tasks = plan.task_data() + options.first_task;
  job.task_count = tasks;
  job.all_tasks = plan.tasks();
  job.splits = plan.split_data();
  job.is_last = options.first_task + tasks == plan.tasks();
  job.split_count = plan.splits();
  job.partial_stride = (k + 7) / 8 * 8;
  job.partials = plan.partials(stream, job.partial_stride);
  job.pieces = plan.pieces();
  // Several column tiles have a warp's columns each, 32 or more.
  if (exec::sizes_of(stream.device()).is_cuda())
    job.arrivals = plan.zeros(stream, plan.pieces() * ((k + 31) / 32));
  job.rows_moved = options.rows_moved;
  job.alpha = options.alpha;
  job.beta = options.beta;
  exec::LaunchOptions launch;
  launch.threads_per_block = options.threads_per_block;
  exec::with_backend(stream.device(), [&](auto backend) {
    detail::run_spmm<decltype(backend), T>(stream, job, launch);
  });
}

template void spmm(const exec::Stream&, const MatrixView&, const SpmmPlan&, const RowTable<float>&,
                   float*, std::uint64_t, std::uint64_t, const SpmmOptions&);
template void spmm(const exec::Stream&, const MatrixView&, const SpmmPlan&, const RowTable<Half>&,
                   Half*, std::uint64_t, std::uint64_t, const SpmmOptions&);
template void spmm(const exec::Stream&, const MatrixView&, const SpmmPlan&,
                   const RowTable<BFloat16>&, BFloat16*, std::uint64_t, std::uint64_t,
                   const SpmmOptions&);

}  // namespace warren::sparse
