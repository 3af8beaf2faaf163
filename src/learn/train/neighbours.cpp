// SPDX-License-Identifier: Apache-2.0
#include "warren/learn/neighbours.hpp"

#include <algorithm>
#include <cmath>

#include "warren/core/error.hpp"
#include "warren/learn/elementwise.hpp"
#include "warren/sparse/blocks.hpp"
#include "warren/sparse/exchange.hpp"
#include "warren/sparse/part_streams.hpp"

#include "learn/train/halo_pull.hpp"
#include "learn/train/halo_split.hpp"

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
  const auto loops_of = [&](Vertex v) {
    const auto list = graph.neighbours(v);
    return std::equal_range(list.begin(), list.end(), v);
  };
  result->vertices = graph.vertices;
  result->symmetry = graph.symmetry;
  result->offsets = memory::HostArray<EdgeOffset>(n + 1);
  result->offsets[0] = 0;
  for (Vertex v = 0; v < n; ++v) {
    const auto [first, last] = loops_of(v);
    const auto loops = static_cast<std::uint64_t>(last - first);
    result->offsets[v + 1ull] = result->offsets[v] + graph.degree(v) - loops + 1;
  }
  result->targets = memory::HostArray<Vertex>(result->offsets[n]);
  pool.parallel_for(0, n, kGrain, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t i = begin; i < end; ++i) {
      const auto v = static_cast<Vertex>(i);
      const auto list = graph.neighbours(v);
      const auto [first, last] = loops_of(v);
      Vertex* to = std::copy(list.begin(), first, result->targets.data() + result->offsets[i]);
      *to++ = v;
      std::copy(last, list.end(), to);
    }
  });
  return result;
}

}  // namespace

bool GraphPair::is_symmetric() const {
  const bool is_known = out->symmetry == graph::Symmetry::symmetric;
  require(is_known || out != in,
          "a graph that is not known to be symmetric was given as its own reverse: GraphPair::in "
          "should be its transpose, unless graph::is_symmetric() finds it symmetric");
  return is_known;
}

GraphPair with_self_loops(const GraphPair& graphs, exec::ThreadPool& pool) {
  GraphPair result = graphs;
  result.out = looped(*graphs.out, pool);
  result.in = graphs.is_symmetric() ? result.out : looped(*graphs.in, pool);
  return result;
}

/// The matrix part by part, and the rows that come for it.
struct HaloParts {
  explicit HaloParts(const exec::Device& device) : streams(device) {}
  sparse::PipelinedPlan plan;
  sparse::PartStreams streams;
  std::unique_ptr<HaloPull> pull;
};

namespace {

/// Whether every rank's device can address every other's memory.
bool has_direct_paths(team::Team& team, void* own_memory) {
  const std::vector<void*> table = team.share(own_memory);
  const bool mine = std::find(table.begin(), table.end(), nullptr) == table.end();
  return team.all_reduce(mine ? 1 : 0, [](int a, int b) { return std::min(a, b); }) == 1;
}

/// In how many parts a halo comes, where that can be in several.
std::uint32_t parts_of(std::uint64_t halo) {
  constexpr std::uint64_t kFew = std::uint64_t{1} << 14;
  constexpr std::uint32_t kParts = 8;
  return halo > kFew ? kParts : 1;
}

}  // namespace

Neighbours::Neighbours() = default;
Neighbours::~Neighbours() = default;

Neighbours::Neighbours(team::Team& team, const exec::Stream& stream, const graph::Graph& graph,
                       const GraphPair& graphs, HaloBy by)
    : rank_(team.rank()), ranks_(team.size()) {
  const sparse::Rows rows = window(graph, graphs.cuts, rank_);
  rows_ = own_columns_ = rows.count;
  first_ = rows.first;
  const sparse::Exchange exchange(team, rows);
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
  entries_ = columns.size();
  std::vector<EdgeOffset> offsets(rows_ + 1);
  for (std::uint64_t r = 0; r <= rows_; ++r) offsets[r] = rows.offsets[r] - rows.offsets[0];
  offsets_ = sparse::to_device(stream, offsets);
  row_plan_ = sparse::RowPlan(stream, offsets);
  halo_ids_ = exchange.halo();
  bool is_direct = false;
  if (is_shared()) {
    is_direct = by == HaloBy::automatic && has_direct_paths(team, offsets_.data());
    parts_ = std::make_unique<HaloParts>(team.device());
    parts_->plan = sparse::PipelinedPlan(stream, offsets, columns,
                                         {.own = rows_,
                                          .ghosts = halo_ids_.size(),
                                          .parts = is_direct ? parts_of(halo_ids_.size()) : 1});
    plan_ = &parts_->plan.plan();
    for (std::size_t i = 0; i < halo_ids_.size(); ++i)
      halo_ids_[i] = exchange.halo()[parts_->plan.order()[i]];
  } else {
    own_plan_ = sparse::SpmmPlan(stream, offsets);
  }
  columns_ = sparse::to_device(stream, columns);

  std::vector<Vertex> vertices(rows_);
  for (std::uint64_t r = 0; r < rows_; ++r) vertices[r] = static_cast<Vertex>(first_ + r);
  vertices.insert(vertices.end(), halo_ids_.begin(), halo_ids_.end());
  vertices_ = sparse::to_device(stream, vertices);
  if (is_shared())
    parts_->pull = std::make_unique<HaloPull>(team, stream, graphs.cuts, exchange,
                                              vertices_.data() + rows_, parts_->plan, is_direct);
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

const void* Neighbours::pull_rows(Context& context, const void* x, std::uint64_t row_bytes,
                                  std::size_t slot) const {
  if (!is_shared()) return nullptr;
  const void* pulled = nullptr;
  context.measured(Part::communicate, [&] {
    pulled = parts_->pull->begin(context, context.stream(), x, row_bytes, slot, false);
    parts_->pull->end(context.stream());
  });
  return pulled;
}

ConstNumbers Neighbours::begin_pull(Context& context, ConstNumbers x, std::uint64_t k) const {
  context.fork_side();
  const void* pulled =
      parts_->pull->begin(context, context.side(), x.raw(), k * size_of(x.type()), 0, true);
  context.end_side();
  return {pulled, x.type()};
}

void Neighbours::end_pull(Context& context) const {
  context.join_side();
  parts_->pull->end(context.stream());
}

void Neighbours::multiply_pulling(Context& context, const sparse::MatrixView& view, ConstNumbers x,
                                  std::uint64_t stride, Numbers y, std::uint64_t y_stride,
                                  float beta) const {
  const auto parts = parts_->plan.parts();
  const auto multiply = [&](const exec::Stream& stream, std::size_t i, ConstNumbers pulled) {
    with_type(y.type(), [&]<class T>(T) {
      const sparse::RowTable<T> rows(x.as<T>(), own_columns_, pulled.as<T>(), stride);
      // Columns of padding are sums of zeros.
      sparse::spmm(stream, view, plan(), rows, y.as<T>(), y_stride, y_stride,
                   {.beta = beta, .first_task = parts[i].first_task, .tasks = parts[i].tasks});
    });
  };
  context.measured_waiting([&] {
    const ConstNumbers pulled = begin_pull(context, x, stride);
    sparse::PartStreams& streams = parts_->streams;
    streams.begin(context.stream());
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const exec::Stream& stream = streams.of(context.stream(), i);
      if (parts[i].ghosts > 0) parts_->pull->wait_for(stream, i);
      context.measured(Part::aggregate, stream, [&] { multiply(stream, i, pulled); });
    }
    streams.end(context.stream());
    end_pull(context);
  });
}

const HaloSplit* Neighbours::split(const exec::Stream& stream) const {
  if (split_ == nullptr && is_shared()) split_ = std::make_shared<const HaloSplit>(stream, *this);
  return split_.get();
}

Neighbourhood::Neighbourhood(team::Team& team, const exec::Stream& stream, const GraphPair& graphs,
                             HaloBy by) {
  out = std::make_shared<const Neighbours>(team, stream, *graphs.out, graphs, by);
  in = graphs.is_symmetric()
           ? out
           : std::make_shared<const Neighbours>(team, stream, *graphs.in, graphs, by);
}

Aggregation::Aggregation(Context& context, const Neighbourhood& neighbourhood,
                         const GraphPair& graphs, Weighting weighting)
    : out_(neighbourhood.out), in_(neighbourhood.in) {
  out_view_ = out_->view();
  in_view_ = in_->view();
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
  if (neighbours.is_shared())
    return neighbours.multiply_pulling(context, view, x, stride, y, y_stride, beta);
  if (neighbours.rows() == 0) return;
  context.measured(Part::aggregate, [&] {
    with_type(y.type(), [&]<class T>(T) {
      // Columns of padding are sums of zeros.
      sparse::spmm(context.stream(), matrix, neighbours.plan(),
                   sparse::RowTable<T>(x.as<T>(), stride), y.as<T>(), y_stride, y_stride,
                   {.beta = beta});
    });
    if (self_ != nullptr)
      add_scaled_rows(context.stream(), std::min(own, neighbours.rows()), k, self_, given, x_stride,
                      y, y_stride);
  });
}

}  // namespace warren::learn
