// SPDX-License-Identifier: Apache-2.0
#include "warren/sparse/pipelined_plan.hpp"

#include <algorithm>
#include <numeric>

namespace warren::sparse {
namespace {

constexpr std::uint64_t kPlanGrain = std::uint64_t{1} << 10;

/// By task, whether it names halo rows.
std::vector<std::uint8_t> naming_halo_rows(exec::ThreadPool& pool,
                                           const std::vector<SpmmTask>& tasks,
                                           std::span<const Vertex> columns, std::uint64_t own) {
  std::vector<std::uint8_t> result(tasks.size(), 0);
  pool.parallel_for(0, tasks.size(), kPlanGrain, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t t = begin; t < end; ++t) {
      for (EdgeOffset e = tasks[t].begin; e < tasks[t].end; ++e) {
        if (columns[e] >= own) result[t] = 1;
      }
    }
  });
  return result;
}

/// Numbers halo rows as tasks name them.
class Numbering {
 public:
  Numbering(std::uint64_t own, std::uint64_t halo_rows)
      : own_(own), places_(halo_rows, kNoVertex) {}

  void name(const SpmmTask& task, std::span<const Vertex> columns) {
    for (EdgeOffset e = task.begin; e < task.end; ++e) {
      if (columns[e] >= own_) take(static_cast<Vertex>(columns[e] - own_));
    }
  }
  /// Halo rows that no task names.
  void name_rest() {
    for (Vertex halo_row = 0; halo_row < places_.size(); ++halo_row) take(halo_row);
  }
  [[nodiscard]] std::uint64_t named() const { return order_.size(); }
  /// By place. Those of a part may be in any order: ascending, their rows lie side by side.
  [[nodiscard]] std::vector<Vertex> order(std::span<const PipelinedPlan::Part> parts) && {
    for (const PipelinedPlan::Part& part : parts) {
      const auto begin = order_.begin() + static_cast<std::ptrdiff_t>(part.first_halo_row);
      std::sort(begin, begin + static_cast<std::ptrdiff_t>(part.halo_rows));
    }
    return std::move(order_);
  }

 private:
  void take(Vertex halo_row) {
    if (places_[halo_row] != kNoVertex) return;
    places_[halo_row] = static_cast<Vertex>(order_.size());
    order_.push_back(halo_row);
  }

  std::uint64_t own_;
  std::vector<Vertex> places_, order_;
};

void renumber(exec::ThreadPool& pool, std::span<Vertex> columns, std::uint64_t own,
              const std::vector<Vertex>& order) {
  std::vector<Vertex> places(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) places[order[i]] = static_cast<Vertex>(i);
  pool.parallel_for(0, columns.size(), kPlanGrain, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t e = begin; e < end; ++e) {
      if (columns[e] >= own) columns[e] = static_cast<Vertex>(own + places[columns[e] - own]);
    }
  });
}

}  // namespace

PipelinedPlan::PipelinedPlan(const exec::Stream& stream, std::span<const EdgeOffset> offsets,
                             std::span<Vertex> columns, const PipelineShape& shape) {
  exec::ThreadPool& pool = stream.device().pool();
  SpmmTasks all = pack_tasks(stream.device(), offsets, {.parts = shape.parts});
  const std::vector<std::uint8_t> names = naming_halo_rows(pool, all.tasks, columns, shape.own);
  std::vector<SpmmTask> local, waiting;
  for (std::size_t t = 0; t < names.size(); ++t)
    (names[t] != 0 ? waiting : local).push_back(all.tasks[t]);

  const std::uint32_t slices = shape.halo_rows == 0 ? 1 : std::max(1u, shape.parts);
  Numbering numbering(shape.own, shape.halo_rows);
  if (!local.empty()) parts_.push_back({0, local.size(), 0, 0});
  // Slices' shares of the work and of the halo rows together. The first and the last ones are
  // small: nothing is multiplied before the first halo rows are there, and no halo rows come behind
  // the last.
  std::vector<double> share_behind;
  double weights = 0.0;
  for (std::uint32_t i = 0; i < slices; ++i)
    share_behind.push_back(weights += static_cast<double>(std::min(i + 1, slices - i)));
  for (double& share : share_behind) share /= weights;
  const auto cost_of = [](const SpmmTask& task) {
    return static_cast<double>(task.end - task.begin + task.rows);
  };
  const double work =
      std::accumulate(waiting.begin(), waiting.end(), 0.0,
                      [&](double sum, const SpmmTask& task) { return sum + cost_of(task); });
  Part part{local.size(), 0, 0, 0};
  double done = 0.0;
  std::size_t slice = 0;
  const auto close = [&] {
    part.halo_rows = numbering.named() - part.first_halo_row;
    parts_.push_back(part);
    part = {part.first_task + part.tasks, 0, numbering.named(), 0};
  };
  for (const SpmmTask& task : waiting) {
    if (slices > 1) numbering.name(task, columns);
    done += cost_of(task);
    ++part.tasks;
    const double share =
        (done / work + static_cast<double>(numbering.named()) /
                           static_cast<double>(std::max<std::uint64_t>(1, shape.halo_rows))) /
        2.0;
    const auto is_passed = [&] { return slice + 1 < slices && share >= share_behind[slice]; };
    if (is_passed()) close();
    while (is_passed()) ++slice;
  }
  numbering.name_rest();
  if (part.tasks > 0 || numbering.named() > part.first_halo_row) close();
  if (slices > 1) {
    order_ = std::move(numbering).order(parts_);
    renumber(pool, columns, shape.own, order_);
  } else {
    order_.resize(shape.halo_rows);
    std::iota(order_.begin(), order_.end(), Vertex{0});
  }
  all.tasks = std::move(local);
  all.tasks.insert(all.tasks.end(), waiting.begin(), waiting.end());
  plan_ = SpmmPlan(stream, std::move(all));
}

}  // namespace warren::sparse
