// SPDX-License-Identifier: Apache-2.0
#include "warren/learn/neighbours.hpp"

#include <algorithm>
#include <cmath>

#include "warren/core/error.hpp"
#include "warren/learn/elementwise.hpp"
#include "warren/sparse/exchange.hpp"

#include "learn/halo_split.hpp"
#include "sparse/blocks.hpp"

namespace warren::learn {
namespace {

constexpr std::uint64_t kGrain = std::uint64_t{1} << 12;

/// The part of the graph that a rank owns, as a window.
sparse::Rows window(const graph::Graph& graph, const std::vector<std::uint64_t>& cuts, int rank) {
  const auto r = static_cast<std::size_t>(rank);
  sparse::Rows rows;
  rows.cuts = cuts;
  rows.first = cuts[r];
  rows.count = cuts[r + 1] - cuts[r];
  // Never written: the arrays stay the graph's.
  auto* offsets = const_cast<EdgeOffset*>(graph.offsets.data()) + rows.first;
  rows.offsets = memory::HostArray<EdgeOffset>(offsets, rows.count + 1, nullptr);
  rows.columns = memory::HostArray<Vertex>(const_cast<Vertex*>(graph.targets.data()) + offsets[0],
                                           offsets[rows.count] - offsets[0], nullptr);
  return rows;
}

std::shared_ptr<const graph::Graph> looped(const graph::Graph& graph, exec::ThreadPool& pool) {
  auto result = std::make_shared<graph::Graph>();
  const std::uint64_t n = graph.vertices;
  const auto has_loop = [&](Vertex v) {
    const auto list = graph.neighbours(v);
    return std::binary_search(list.begin(), list.end(), v);
  };
  result->vertices = graph.vertices;
  result->symmetry = graph.symmetry;
  result->offsets = memory::HostArray<EdgeOffset>(n + 1);
  result->offsets[0] = 0;
  for (Vertex v = 0; v < n; ++v)
    result->offsets[v + 1ull] = result->offsets[v] + graph.degree(v) + (has_loop(v) ? 0 : 1);
  result->targets = memory::HostArray<Vertex>(result->offsets[n]);
  pool.parallel_for(0, n, kGrain, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t i = begin; i < end; ++i) {
      const auto v = static_cast<Vertex>(i);
      const auto list = graph.neighbours(v);
      const auto place = std::lower_bound(list.begin(), list.end(), v);
      Vertex* to = std::copy(list.begin(), place, result->targets.data() + result->offsets[i]);
      if (place == list.end() || *place != v) *to++ = v;
      std::copy(place, list.end(), to);
    }
  });
  return result;
}

}  // namespace

GraphPair with_self_loops(const GraphPair& graphs, exec::ThreadPool& pool) {
  GraphPair result = graphs;
  result.out = looped(*graphs.out, pool);
  result.in = graphs.is_symmetric() ? result.out : looped(*graphs.in, pool);
  return result;
}

Neighbours::Neighbours(team::Team& team, const exec::Stream& stream, const graph::Graph& graph,
                       const GraphPair& graphs)
    : rank_(team.rank()), ranks_(team.size()) {
  const sparse::Rows rows = window(graph, graphs.cuts, rank_);
  rows_ = own_columns_ = rows.count;
  first_ = rows.first;
  const sparse::Exchange exchange(team, rows);
  halo_ids_ = exchange.halo();
  receive_begin_ = exchange.halo_begin();

  // Each owner is told which of its rows are needed.
  std::vector<std::vector<Vertex>> needed;
  for (int q = 0; q < ranks_; ++q) {
    const auto part = exchange.halo_of(q);
    needed.emplace_back(part.begin(), part.end());
  }
  std::vector<Vertex> send_rows;
  send_begin_.assign(1, 0);
  for (const auto& part : team.all_to_all_v(needed)) {
    for (const Vertex v : part) send_rows.push_back(static_cast<Vertex>(v - first_));
    send_begin_.push_back(send_rows.size());
  }
  send_rows_ = sparse::to_device(stream, send_rows);

  std::vector<Vertex> columns(rows.entries());
  team.device().pool().parallel_for(
      0, rows.entries(), kGrain, [&](std::uint64_t begin, std::uint64_t end) {
        for (std::uint64_t e = begin; e < end; ++e) {
          const Vertex column = rows.columns[e];
          columns[e] = static_cast<Vertex>(column >= first_ && column < first_ + rows_
                                               ? column - first_
                                               : rows_ + exchange.place(column));
        }
      });
  columns_ = sparse::to_device(stream, columns);
  entries_ = columns.size();
  std::vector<EdgeOffset> offsets(rows_ + 1);
  for (std::uint64_t r = 0; r <= rows_; ++r) offsets[r] = rows.offsets[r] - rows.offsets[0];
  offsets_ = sparse::to_device(stream, offsets);
  own_plan_ = sparse::SpmmPlan(stream, offsets);
  row_plan_ = sparse::RowPlan(stream, offsets);

  std::vector<Vertex> vertices(rows_);
  for (std::uint64_t r = 0; r < rows_; ++r) vertices[r] = static_cast<Vertex>(first_ + r);
  vertices.insert(vertices.end(), halo_ids_.begin(), halo_ids_.end());
  vertices_ = sparse::to_device(stream, vertices);
  if (!graphs.input_ids.empty()) {
    for (Vertex& v : vertices) v = graphs.input_ids[v];
  }
  ids_ = sparse::to_device(stream, vertices);
  input_ids_ = ids_.data();

  view_.rows = rows_;
  view_.offsets = offsets_.data();
  view_.column_ids = columns_.data();
}

void Neighbours::set(const BlockMatrix& block) {
  require(!is_shared() && halo() == 0, "a matrix with a halo is not replaced by a block");
  rows_ = block.view.rows;
  own_columns_ = block.columns;
  entries_ = block.entries;
  view_ = block.view;
  input_ids_ = block.input_ids;
  plan_ = block.plan;
  row_plan_ = sparse::RowPlan::all_rows();
}

const void* Neighbours::exchange(Context& context, const exec::Stream& stream, const void* x,
                                 std::uint64_t row_bytes, std::size_t slot) const {
  const auto grow = [&](memory::Buffer<std::byte>& buffer, std::uint64_t rows) {
    if (buffer.size() >= rows * row_bytes) return;
    buffer.reset();
    buffer = memory::Buffer<std::byte>(context.team().device(), exec::bytes_of(rows, row_bytes));
  };
  memory::Buffer<std::byte>& received = received_.at(slot);
  grow(send_, send_rows_.size());
  grow(received, halo());
  std::vector<std::uint64_t> send_bytes, receive_bytes;
  for (const std::uint64_t row : send_begin_) send_bytes.push_back(row * row_bytes);
  for (const std::uint64_t row : receive_begin_) receive_bytes.push_back(row * row_bytes);
  gather_rows(stream, send_rows_.size(), row_bytes, send_rows_.data(), x, send_.data());
  context.team().all_to_all_v(stream, send_.data(), send_bytes, received.data(), receive_bytes);
  return received.data();
}

const void* Neighbours::pull_rows(Context& context, const void* x, std::uint64_t row_bytes,
                                  std::size_t slot) const {
  if (!is_shared()) return nullptr;
  const void* pulled = nullptr;
  context.measured(Part::communicate,
                   [&] { pulled = exchange(context, context.stream(), x, row_bytes, slot); });
  return pulled;
}

ConstNumbers Neighbours::begin_pull(Context& context, ConstNumbers x, std::uint64_t k) const {
  context.fork_side();
  const void* pulled = exchange(context, context.side(), x.raw(), k * size_of(x.type()), 0);
  context.end_side();
  return {pulled, x.type()};
}

const HaloSplit* Neighbours::split(const exec::Stream& stream) const {
  if (split_ == nullptr && is_shared()) split_ = std::make_shared<const HaloSplit>(stream, *this);
  return split_.get();
}

Neighbourhood::Neighbourhood(team::Team& team, const exec::Stream& stream,
                             const GraphPair& graphs) {
  out = std::make_shared<const Neighbours>(team, stream, *graphs.out, graphs);
  in = graphs.is_symmetric() ? out
                             : std::make_shared<const Neighbours>(team, stream, *graphs.in, graphs);
}

Aggregation::Aggregation(Context& context, const Neighbourhood& neighbourhood,
                         const GraphPair& graphs, Weighting weighting)
    : out_(neighbourhood.out), in_(neighbourhood.in) {
  out_view_ = out_->view();
  in_view_ = in_->view();
  for (const auto& part : {out_, in_}) (void)part->split(context.stream());
  if (weighting == Weighting::sum) return;
  const bool is_symmetric = weighting == Weighting::symmetric;
  const auto scale_of = [&](Vertex v) {
    const double degree = static_cast<double>(graphs.out->degree(v)) + (is_symmetric ? 1.0 : 0.0);
    if (degree == 0.0) return 0.0f;
    return static_cast<float>(1.0 / (is_symmetric ? std::sqrt(degree) : degree));
  };
  std::vector<float> scale(out_->rows());
  for (std::uint64_t r = 0; r < scale.size(); ++r)
    scale[r] = scale_of(static_cast<Vertex>(out_->first() + r));
  scale_ = sparse::to_device(context.stream(), scale);
  out_view_.row_scale = scale_.data();
  before_in_ = scale_.data();
  if (!is_symmetric) return;
  in_view_.row_scale = scale_.data();
  before_out_ = scale_.data();
  ones_ = sparse::to_device(context.stream(), std::vector<float>(scale.size(), 1.0f));
  in_view_.self = out_view_.self = ones_.data();
}

void Aggregation::set(const BlockWeights& weights) {
  out_view_ = out_->view();
  in_view_ = in_->view();
  out_view_.row_scale = before_in_ = weights.row;
  in_view_.row_scale = before_out_ = weights.column;
  self_ = weights.self;
}

void Aggregation::product(Context& context, const Neighbours& neighbours,
                          const sparse::MatrixView& view, const float* before, ConstNumbers x,
                          Numbers y, std::uint64_t k, float beta, const AggregateRows& lie) const {
  constexpr std::size_t kSlot = 6;
  const std::uint64_t own = neighbours.own_columns();
  const std::uint64_t x_stride = lie.x_stride == 0 ? k : lie.x_stride;
  const std::uint64_t y_stride = lie.y_stride == 0 ? k : lie.y_stride;
  const ConstNumbers given = x;
  std::uint64_t stride = context.padded(k);
  sparse::MatrixView matrix = view;
  if (context.is_in_batches()) {
    // Blocks have few entries for each of their columns: in the upper ones a pass over all of these
    // costs more than their scales at every entry.
    constexpr std::uint64_t kFewEntries = 2;
    if (stride == x_stride && neighbours.entries() < kFewEntries * own) {
      matrix.column_scale = before;
      before = nullptr;
    }
    // Padding is such a pass, too, and saves no more than reads of 8 bytes for 16.
    constexpr std::uint64_t kReadable = 8;
    if (before == nullptr && x_stride * size_of(x.type()) % kReadable == 0 && y_stride <= x_stride)
      stride = x_stride;
  }
  if (before != nullptr || stride != x_stride) {
    // Blocks read x once more.
    const bool has_room = lie.room != nullptr && (x != lie.room || self_ == nullptr);
    const Numbers scaled = has_room ? lie.room : context.scratch(kSlot, own * stride);
    context.measured(Part::aggregate, [&] {
      scale_rows(context.stream(), own, x_stride, stride, before, x, scaled);
    });
    x = scaled;
  }
  // y = part of the matrix times rows from column `first` on, + kept y.
  const auto multiply = [&](const sparse::MatrixView& part, const sparse::SpmmPlan& plan,
                            ConstNumbers rows, std::uint64_t first, float kept) {
    with_type(y.type(), [&]<class T>(T) {
      // Columns of padding are sums of zeros.
      sparse::spmm(context.stream(), part, plan,
                   sparse::RowTable<T>(rows.as<T>() - first * stride, stride), y.as<T>(), y_stride,
                   y_stride, {.beta = kept});
    });
  };
  if (const HaloSplit* split = neighbours.split(context.stream()); split != nullptr) {
    ConstNumbers halo;
    context.measured(Part::communicate, [&] { halo = neighbours.begin_pull(context, x, stride); });
    const auto add = [&](const sparse::MatrixView& part, const sparse::SpmmPlan& plan,
                         ConstNumbers rows, std::uint64_t first, float kept) {
      if (neighbours.rows() == 0) return;
      context.measured(Part::aggregate, [&] { multiply(part, plan, rows, first, kept); });
    };
    add(split->own(view), split->own_plan(), x, 0, beta);
    context.measured(Part::communicate, [&] { context.join_side(); });
    if (neighbours.halo() > 0) add(split->halo(view), split->halo_plan(), halo, own, 1.0f);
    return;
  }
  if (neighbours.rows() == 0) return;
  context.measured(Part::aggregate, [&] {
    multiply(matrix, neighbours.plan(), x, 0, beta);
    if (self_ != nullptr)
      add_scaled_rows(context.stream(), std::min(own, neighbours.rows()), k, self_, given, x_stride,
                      y, y_stride);
  });
}

}  // namespace warren::learn
