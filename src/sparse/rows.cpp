// SPDX-License-Identifier: Apache-2.0
#include "warren/sparse/rows.hpp"

#include <algorithm>
#include <atomic>

#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/core/interrupt_point.hpp"
#include "warren/sparse/blocks.hpp"

#include "sparse/degree_scale.hpp"

namespace warren::sparse {
namespace {

using Kind = Normalization::Kind;

constexpr std::uint64_t kRowsGrain = std::uint64_t{1} << 12;

/// `count` elements from `first` on: a window on the CPU, a copy from a GPU. The address before the
/// window is never read.
template <class T>
memory::HostArray<T> in_host_memory(const exec::Stream& stream, const T* data, EdgeOffset first,
                                    std::uint64_t count) {
  if (data == nullptr || count == 0) return {};
  if (!stream.device().is_cuda())
    return memory::HostArray<T>(const_cast<T*>(data) + first, count, nullptr);
  memory::HostArray<T> copy(count);
  exec::copy(stream, copy.data(), data + first, count * sizeof(T));
  stream.synchronize();
  return copy;
}

/// A shard is as good as the graph that it was cut from, which nobody need have looked at.
void check_offsets(const Rows& rows) {
  for (std::uint64_t r = 0; r < rows.count; ++r) {
    if (rows.offsets[r] <= rows.offsets[r + 1]) continue;
    throw InputError(
        fmt::format("the matrix's offsets fall from {} to {} in row {}; they should ascend",
                    rows.offsets[r], rows.offsets[r + 1], rows.first + r));
  }
}

void read_weights(const exec::Stream& stream, const graph::Shard& shard, Rows& rows) {
  const EdgeOffset first = rows.offsets[0];
  const std::uint64_t m = rows.entries();
  rows.is_weighted = shard.weight_type != graph::WeightType::none;
  if (shard.weight_type == graph::WeightType::float32)
    rows.values = in_host_memory(stream, shard.out.weights_float, first, m);
  if (shard.weight_type != graph::WeightType::int32) return;
  const auto weights = in_host_memory(stream, shard.out.weights_int, first, m);
  rows.values = memory::HostArray<float>(m);
  SeldomInterruptPoint point;
  for (EdgeOffset e = 0; e < m; ++e) {
    point();
    const std::int32_t weight = weights[e];
    require(weight <= 1 << 24 && weight >= -(1 << 24),
            "a product is computed in float32, which does not hold all of the graph's integer "
            "weights: they should be within 2^24 of 0");
    rows.values[e] = static_cast<float>(weight);
  }
}

void normalize(team::Team& team, const Normalization& normalization, Rows& rows) {
  if (normalization.self_loops) rows.self.assign(rows.count, 1.0f);
  if (normalization.kind == Kind::none) return;
  rows.row_scale.resize(rows.count);
  SeldomInterruptPoint point;
  for (std::uint64_t r = 0; r < rows.count; ++r) {
    point();
    double degree = normalization.self_loops ? 1.0 : 0.0;
    for (EdgeOffset e = rows.begin(r); e < rows.end(r); ++e)
      degree += static_cast<double>(rows.value(e));
    rows.row_scale[r] = degree_scale(normalization.kind, degree, rows.first + r);
  }
  if (normalization.kind != Kind::symmetric) return;
  if (normalization.self_loops) rows.self = rows.row_scale;
  std::vector<float> scale;
  for (const auto& part : team.all_gather_v(std::span<const float>(rows.row_scale)))
    scale.insert(scale.end(), part.begin(), part.end());
  memory::HostArray<float> values(rows.entries());
  team.device().pool().parallel_for(0, rows.entries(), kRowsGrain,
                                    [&](std::uint64_t begin, std::uint64_t end) {
                                      for (EdgeOffset e = begin; e < end; ++e)
                                        values[e] = rows.value(e) * scale[rows.columns[e]];
                                    });
  rows.values = std::move(values);
  rows.is_weighted = true;
}

}  // namespace

void check_columns(const Rows& rows, exec::ThreadPool& pool) {
  const std::uint64_t columns = rows.cuts.back();
  std::atomic<bool> is_good{true};
  pool.parallel_for(0, rows.entries(), kRowsGrain, [&](std::uint64_t begin, std::uint64_t end) {
    Vertex largest = 0;
    for (std::uint64_t e = begin; e < end; ++e) largest = std::max(largest, rows.columns[e]);
    if (largest >= columns) is_good.store(false, std::memory_order_relaxed);
  });
  if (is_good.load()) return;
  for (std::uint64_t r = 0; r < rows.count; ++r) {
    for (EdgeOffset e = rows.begin(r); e < rows.end(r); ++e) {
      if (rows.columns[e] < columns) continue;
      throw InputError(
          fmt::format("row {} of the matrix has an entry in column {}; columns should be below {}",
                      rows.first + r, rows.columns[e], columns));
    }
  }
}

int Rows::owner(std::uint64_t column) const {
  const auto after = std::upper_bound(cuts.begin() + 1, cuts.end() - 1, column);
  return static_cast<int>(after - cuts.begin()) - 1;
}

const std::vector<graph::VertexCover>& Rows::covers(exec::ThreadPool& pool) const {
  const std::size_t ranks = cuts.size() - 1;
  if (!kept_covers.empty()) return kept_covers;
  std::vector<graph::VertexCover> found(ranks);
  pool.parallel_for(0, ranks, 1, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t q = begin; q < end; ++q) {
      if (cuts[q] == first && cuts[q + 1] == first + count) continue;
      found[q] = graph::smallest_vertex_cover(cover_block(*this, static_cast<int>(q)).block);
    }
  });
  kept_covers = std::move(found);
  return kept_covers;
}

Rows make_rows(team::Team& team, const graph::Shard& shard, const Normalization& normalization,
               bool use_weights) {
  graph::require_plain_lists(shard, "a sparse product");
  const exec::Stream stream(team.device());
  Rows rows;
  rows.cuts = shard.cuts;
  rows.first = shard.out.first;
  rows.count = shard.out.count;
  rows.offsets = in_host_memory(stream, shard.out.offsets, 0, rows.count + 1);
  require(!rows.offsets.empty(), "a sparse product needs a shard with offsets");
  check_offsets(rows);
  rows.columns = in_host_memory(stream, shard.out.targets, rows.offsets[0],
                                rows.offsets[rows.count] - rows.offsets[0]);
  check_columns(rows, team.device().pool());
  if (use_weights) read_weights(stream, shard, rows);
  normalize(team, normalization, rows);
  return rows;
}

}  // namespace warren::sparse
