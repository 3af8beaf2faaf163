// SPDX-License-Identifier: Apache-2.0
#include "warren/sparse/halo_split.hpp"

#include "warren/core/interrupt_point.hpp"
#include "warren/sparse/blocks.hpp"

namespace warren::sparse {

HaloSplit::HaloSplit(const exec::Stream& stream, const MatrixSizes& sizes) {
  const auto take = [&](Part& part, std::uint64_t entries, const SpmmPlanSizes& plan) {
    part.offsets = memory::Buffer<EdgeOffset>(stream.device(), sizes.rows + 1);
    part.columns = memory::Buffer<Vertex>(stream.device(), entries);
    part.values = memory::Buffer<float>(stream.device(), sizes.is_weighted ? entries : 0);
    part.plan = SpmmPlan(stream, plan);
  };
  const SplitSizes& split = sizes.split.value();
  take(own_, split.own_entries, split.own_plan);
  take(halo_, sizes.entries - split.own_entries, split.halo_plan);
}

HaloSplit::HaloSplit(const exec::Stream& stream, const DistributedMatrix& matrix) {
  const std::uint64_t rows = matrix.rows();
  const std::uint64_t own = matrix.own_columns();
  std::vector<EdgeOffset> offsets(rows + 1);
  std::vector<Vertex> columns(matrix.entries());
  exec::copy(stream, offsets.data(), matrix.view().offsets, offsets.size() * sizeof(EdgeOffset));
  std::vector<float> values(matrix.is_weighted() ? columns.size() : 0);
  if (!columns.empty())
    exec::copy(stream, columns.data(), matrix.view().column_ids, columns.size() * sizeof(Vertex));
  if (!values.empty())
    exec::copy(stream, values.data(), matrix.view().values, values.size() * sizeof(float));
  stream.synchronize();
  std::vector<EdgeOffset> part_offsets[2] = {std::vector<EdgeOffset>(rows + 1),
                                             std::vector<EdgeOffset>(rows + 1)};
  std::vector<Vertex> part_columns[2];
  std::vector<float> part_values[2];
  SeldomInterruptPoint point;
  for (std::uint64_t r = 0; r < rows; ++r) {
    point();
    for (EdgeOffset e = offsets[r]; e < offsets[r + 1]; ++e) {
      const bool is_halo = columns[e] >= own;
      part_columns[is_halo].push_back(columns[e]);
      if (!values.empty()) part_values[is_halo].push_back(values[e]);
    }
    for (std::size_t i = 0; i < 2; ++i) part_offsets[i][r + 1] = part_columns[i].size();
  }
  for (std::size_t i = 0; i < 2; ++i) {
    Part& part = i == 0 ? own_ : halo_;
    part.offsets = to_device(stream, part_offsets[i]);
    part.columns = to_device(stream, part_columns[i]);
    part.values = to_device(stream, part_values[i]);
    part.plan = SpmmPlan(stream, part_offsets[i]);
  }
}

}  // namespace warren::sparse
