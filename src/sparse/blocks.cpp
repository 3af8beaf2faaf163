// SPDX-License-Identifier: Apache-2.0
#include "warren/sparse/blocks.hpp"

#include "warren/core/interrupt_point.hpp"

namespace warren::sparse {

HostBlock own_block(const Rows& rows, exec::ThreadPool& pool, bool with_from) {
  const std::uint64_t last = rows.first + rows.count;
  return choose_entries(rows, pool, {.compact = false, .with_from = with_from},
                        [&](EdgeOffset, Vertex column, Vertex& new_column) {
                          new_column = static_cast<Vertex>(column - rows.first);
                          return column >= rows.first && column < last;
                        });
}

CoverBlock cover_block(const Rows& rows, int q) {
  const auto i = static_cast<std::size_t>(q);
  CoverBlock result;
  graph::SparseBlock& block = result.block;
  block.column_count = static_cast<Vertex>(rows.cuts[i + 1] - rows.cuts[i]);
  SeldomInterruptPoint point;
  for (std::uint64_t r = 0; r < rows.count; ++r) {
    point();
    for (EdgeOffset e = rows.begin(r); e < rows.end(r); ++e) {
      const Vertex column = rows.columns[e];
      if (column >= rows.cuts[i] && column < rows.cuts[i + 1])
        block.columns.push_back(static_cast<Vertex>(column - rows.cuts[i]));
    }
    if (block.columns.size() == block.offsets.back()) continue;
    block.offsets.push_back(block.columns.size());
    result.row_ids.push_back(static_cast<Vertex>(r));
  }
  return result;
}

DeviceBlock::DeviceBlock(const exec::Stream& stream, const HostBlock& block)
    : DeviceBlock(stream, block, SpmmPlan(stream, block.offsets)) {}

DeviceBlock::DeviceBlock(const exec::Stream& stream, const HostBlock& block, SpmmPlan plan)
    : offsets_(to_device(stream, block.offsets)),
      columns_(to_device(stream, block.columns)),
      row_ids_(to_device(stream, block.row_ids)),
      values_(to_device(stream, block.values)),
      plan_(std::move(plan)) {
  view_.rows = block.offsets.size() - 1;
  view_.offsets = offsets_.data();
  view_.column_ids = columns_.data();
  view_.values = values_.data();
  view_.row_ids = row_ids_.data();
}

PipelinedBlock::PipelinedBlock(const exec::Stream& stream, HostBlock block,
                               const PipelineShape& shape)
    : own_(shape.own),
      plan_(stream, block.offsets, block.columns, shape),
      block_(stream, block, SpmmPlan()) {}

}  // namespace warren::sparse
