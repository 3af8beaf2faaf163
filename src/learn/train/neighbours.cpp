// SPDX-License-Identifier: Apache-2.0
#include "warren/learn/neighbours.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/core/interrupt_point.hpp"
#include "warren/learn/elementwise.hpp"
#include "warren/sparse/blocks.hpp"

namespace warren::learn {
namespace {

constexpr std::uint64_t kGrain = std::uint64_t{1} << 12;

double weight_of(const graph::Graph& graph, EdgeOffset e) {
  return graph.weight_type == graph::WeightType::int32
             ? static_cast<double>(graph.weights_int[e])
             : static_cast<double>(graph.weights_float[e]);
}

/// A window of the graph's weights where they are floats, else a copy.
void take_weights(const graph::Graph& graph, const GraphPair& graphs, sparse::Rows& rows) {
  check_edge_weights(graph, graphs, rows.first, rows.first + rows.count);
  rows.is_weighted = true;
  const EdgeOffset first = rows.offsets[0];
  const std::uint64_t count = rows.columns.size();
  if (graph.weight_type == graph::WeightType::float32) {
    rows.values = memory::HostArray<float>(const_cast<float*>(graph.weights_float.data()) + first,
                                           count, nullptr);
    return;
  }
  rows.values = memory::HostArray<float>(count);
  SeldomInterruptPoint point;
  for (EdgeOffset e = 0; e < count; ++e) {
    point();
    rows.values[e] = static_cast<float>(graph.weights_int[first + e]);
  }
}

/// The part of the graph that a rank owns, as a window.
sparse::Rows window(const graph::Graph& graph, const GraphPair& graphs, int rank,
                    EdgeWeights weights) {
  const std::vector<std::uint64_t>& cuts = graphs.cuts;
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
  if (weights == EdgeWeights::of_graph) take_weights(graph, graphs, rows);
  return rows;
}

/// The mean weight of each vertex' edges to others; 0 where there are none.
std::vector<float> mean_weights(const graph::Graph& graph, exec::ThreadPool& pool) {
  std::vector<float> means(graph.vertices);
  pool.parallel_for(0, means.size(), kGrain, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t v = begin; v < end; ++v) {
      double sum = 0.0;
      std::uint64_t count = 0;
      for (EdgeOffset e = graph.offsets[v]; e < graph.offsets[v + 1]; ++e) {
        if (graph.targets[e] == v) continue;
        sum += weight_of(graph, e);
        ++count;
      }
      means[v] = count == 0 ? 0.0f : static_cast<float>(sum / static_cast<double>(count));
    }
  });
  return means;
}

/// With loops of these weights, where there are any: all edges then have theirs.
std::shared_ptr<const graph::Graph> looped(const graph::Graph& graph,
                                           const std::vector<float>& loop_weights,
                                           exec::ThreadPool& pool) {
  auto result = std::make_shared<graph::Graph>();
  const bool is_weighted = !loop_weights.empty();
  const std::uint64_t n = graph.vertices;
  const auto loops_of = [&](Vertex v) {
    const auto list = graph.neighbours(v);
    return std::equal_range(list.begin(), list.end(), v);
  };
  result->vertices = graph.vertices;
  result->symmetry = graph.symmetry;
  result->offsets = memory::HostArray<EdgeOffset>(n + 1);
  result->offsets[0] = 0;
  SeldomInterruptPoint point;
  for (Vertex v = 0; v < n; ++v) {
    point();
    const auto [first, last] = loops_of(v);
    const auto loops = static_cast<std::uint64_t>(last - first);
    result->offsets[v + 1ull] = result->offsets[v] + graph.degree(v) - loops + 1;
  }
  result->targets = memory::HostArray<Vertex>(result->offsets[n]);
  if (is_weighted) {
    result->weight_type = graph::WeightType::float32;
    result->weights_float = memory::HostArray<float>(result->offsets[n]);
  }
  pool.parallel_for(0, n, kGrain, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t i = begin; i < end; ++i) {
      const auto v = static_cast<Vertex>(i);
      const auto list = graph.neighbours(v);
      const auto [first, last] = loops_of(v);
      Vertex* to = std::copy(list.begin(), first, result->targets.data() + result->offsets[i]);
      *to++ = v;
      std::copy(last, list.end(), to);
      if (!is_weighted) continue;
      const EdgeOffset from = graph.offsets[i];
      const auto begin_loops = static_cast<EdgeOffset>(first - list.begin());
      const auto end_loops = static_cast<EdgeOffset>(last - list.begin());
      float* weight = result->weights_float.data() + result->offsets[i];
      for (EdgeOffset e = 0; e < begin_loops; ++e)
        *weight++ = static_cast<float>(weight_of(graph, from + e));
      *weight++ = loop_weights[i];
      for (EdgeOffset e = end_loops; e < list.size(); ++e)
        *weight++ = static_cast<float>(weight_of(graph, from + e));
    }
  });
  return result;
}

}  // namespace

double weighted_degree(const graph::Graph& graph, Vertex v) {
  double sum = 0.0;
  for (EdgeOffset e = graph.offsets[v]; e < graph.offsets[v + 1ull]; ++e)
    sum += weight_of(graph, e);
  return sum;
}

void check_edge_weights(const graph::Graph& graph, const GraphPair& graphs, std::uint64_t begin,
                        std::uint64_t end) {
  require(graph.weight_type != graph::WeightType::none,
          "--edge-weights: the graph has no weights for its edges to count");
  constexpr double kExact = 1 << 24;  // Integers up to this size are floats.
  const bool is_integer = graph.weight_type == graph::WeightType::int32;
  const auto id = [&](std::uint64_t v) {
    return graphs.input_ids.empty() ? v : graphs.input_ids[v];
  };
  for (std::uint64_t v = begin; v < end; ++v) {
    for (EdgeOffset e = graph.offsets[v]; e < graph.offsets[v + 1]; ++e) {
      const double weight = weight_of(graph, e);
      const bool is_good = is_integer ? std::abs(weight) <= kExact : std::isfinite(weight);
      if (is_good) continue;
      // Of the reverse, the edge is the other way round.
      const bool is_reverse = &graph == graphs.in.get() && graphs.in != graphs.out;
      const std::uint64_t from = is_reverse ? graph.targets[e] : v;
      const std::uint64_t to = is_reverse ? v : graph.targets[e];
      throw UsageError(fmt::format(
          "--edge-weights: the edge from {} to {} has the weight {}; weights should be {}",
          id(from), id(to), weight,
          is_integer ? "within 2^24 of 0, which float32 holds exactly" : "finite numbers"));
    }
  }
}

bool GraphPair::is_symmetric() const {
  const bool is_known = out->symmetry == graph::Symmetry::symmetric;
  require(is_known || out != in,
          "a graph that is not known to be symmetric was given as its own reverse: GraphPair::in "
          "should be its transpose, unless graph::is_symmetric() finds it symmetric");
  return is_known;
}

GraphPair with_self_loops(const GraphPair& graphs, exec::ThreadPool& pool, EdgeWeights weights) {
  GraphPair result = graphs;
  std::vector<float> loop_weights;
  if (weights == EdgeWeights::of_graph) loop_weights = mean_weights(*graphs.out, pool);
  result.out = looped(*graphs.out, loop_weights, pool);
  result.in = graphs.is_symmetric() ? result.out : looped(*graphs.in, loop_weights, pool);
  return result;
}

Neighbours::Neighbours(team::Team& team, const exec::Stream& stream, const graph::Graph& graph,
                       const GraphPair& graphs, sparse::HaloBy by, EdgeWeights weights)
    : whole_(std::make_unique<sparse::DistributedMatrix>(
          team, stream, window(graph, graphs, team.rank(), weights), by)) {
  rows_ = own_columns_ = whole_->rows();
  entries_ = whole_->entries();
  view_ = whole_->view();
  plan_ = &whole_->plan();
  row_plan_ = sparse::RowPlan(stream, whole_->offsets());
  input_ids_ = whole_->vertices();
  if (graphs.input_ids.empty()) return;
  std::vector<Vertex> ids;
  for (std::uint64_t r = 0; r < rows_; ++r) ids.push_back(graphs.input_ids[first() + r]);
  for (const Vertex v : whole_->halo_ids()) ids.push_back(graphs.input_ids[v]);
  ids_ = sparse::to_device(stream, ids);
  input_ids_ = ids_.data();
}

Neighbours::Neighbours(team::Team& team, const exec::Stream& stream, const NeighbourSizes& sizes)
    : whole_(std::make_unique<sparse::DistributedMatrix>(team, stream, sizes.matrix)),
      rows_(sizes.matrix.rows),
      own_columns_(sizes.matrix.rows),
      entries_(sizes.matrix.entries),
      view_(whole_->view()),
      input_ids_(whole_->vertices()),
      plan_(&whole_->plan()),
      row_plan_(stream, sizes.long_rows) {
  if (!sizes.has_input_ids) return;
  ids_ = memory::Buffer<Vertex>(stream.device(), rows_ + sizes.matrix.halo);
  input_ids_ = ids_.data();
}

void Neighbours::set(const BlockMatrix& block) {
  require(whole_ == nullptr, "the whole graph's matrix is not replaced by a block");
  rows_ = block.view.rows;
  own_columns_ = block.columns;
  entries_ = block.entries;
  view_ = block.view;
  input_ids_ = block.input_ids;
  plan_ = block.plan;
  row_plan_ = sparse::RowPlan::all_rows();
}

void Neighbours::set_strategy(NumberType type, const sparse::DistributedOptions& options) const {
  with_type(type, [&]<class T>(T) { whole_->set_strategy<T>(options); });
}

const void* Neighbours::pull_rows(Context& context, const void* x, std::uint64_t row_bytes,
                                  std::size_t slot) const {
  if (!is_shared()) return nullptr;
  const void* pulled = nullptr;
  context.measured(Part::communicate,
                   [&] { pulled = whole_->pull(context.stream(), x, row_bytes, slot); });
  return pulled;
}

Neighbourhood::Neighbourhood(team::Team& team, const exec::Stream& stream, const GraphPair& graphs,
                             sparse::HaloBy by, EdgeWeights weights) {
  out = std::make_shared<const Neighbours>(team, stream, *graphs.out, graphs, by, weights);
  in = graphs.is_symmetric()
           ? out
           : std::make_shared<const Neighbours>(team, stream, *graphs.in, graphs, by, weights);
}

void Aggregation::take(Context& context, Weighting weighting) {
  out_view_ = out_->view();
  in_view_ = in_->view();
  if (weighting == Weighting::sum) return;
  const exec::Device& device = context.stream().device();
  scale_ = memory::Buffer<float>(device, out_->rows());
  out_view_.row_scale = scale_.data();
  before_in_ = scale_.data();
  if (weighting != Weighting::symmetric) return;
  in_view_.row_scale = scale_.data();
  before_out_ = scale_.data();
  ones_ = memory::Buffer<float>(device, out_->rows());
  in_view_.self = out_view_.self = ones_.data();
}

Aggregation::Aggregation(Context& context, const Neighbourhood& neighbourhood, Weighting weighting)
    : out_(neighbourhood.out), in_(neighbourhood.in) {
  take(context, weighting);
}

Aggregation::Aggregation(Context& context, const Neighbourhood& neighbourhood,
                         const GraphPair& graphs, Weighting weighting)
    : out_(neighbourhood.out), in_(neighbourhood.in) {
  take(context, weighting);
  if (weighting == Weighting::sum) return;
  const bool is_symmetric = weighting == Weighting::symmetric;
  const bool adds_weights = is_symmetric && out_->is_weighted();
  const auto scale_of = [&](Vertex v) {
    double degree = is_symmetric ? 1.0 : 0.0;  // Of the loop.
    if (adds_weights) {
      degree += weighted_degree(*graphs.out, v);
    } else {
      degree += static_cast<double>(graphs.out->degree(v));
    }
    if (!(degree > 0.0)) return 0.0f;
    return static_cast<float>(1.0 / (is_symmetric ? std::sqrt(degree) : degree));
  };
  const exec::Stream& stream = context.stream();
  std::vector<float> scale(out_->rows());
  for (std::uint64_t r = 0; r < scale.size(); ++r)
    scale[r] = scale_of(static_cast<Vertex>(out_->first() + r));
  scale_.upload(stream, scale);
  const std::vector<float> ones(ones_.size(), 1.0f);
  ones_.upload(stream, ones);
  stream.synchronize();
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
  std::optional<TakenRows> taken;
  if (before != nullptr || stride != x_stride) {
    // Blocks read x once more.
    const bool has_room = lie.room != nullptr && (x != lie.room || self_ == nullptr);
    if (!has_room) taken = context.take_rows(own * stride);
    const Numbers scaled = has_room ? lie.room : taken->data();
    context.measured(Part::aggregate, [&] {
      scale_rows(context.stream(), own, x_stride, stride, before, x, scaled);
    });
    x = scaled;
  }
  if (neighbours.is_shared()) {
    context.measured_waiting([&] {
      with_type(y.type(), [&]<class T>(T) {
        // Columns of padding are sums of zeros.
        neighbours.whole().multiply<T>(
            context.stream(),
            {.x = x.as<T>(),
             .x_stride = stride,
             .y = y.as<T>(),
             .y_stride = y_stride,
             .k = y_stride,
             .beta = beta,
             .row_scale = view.row_scale,
             .self = view.self},
            [&](const exec::Stream& stream, const std::function<void()>& work) {
              context.measured(Part::aggregate, stream, work);
            });
      });
    });
    return;
  }
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
