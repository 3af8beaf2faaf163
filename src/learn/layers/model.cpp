// SPDX-License-Identifier: Apache-2.0
#include "warren/learn/model.hpp"

#include <algorithm>
#include <atomic>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/exec/memory.hpp"

#include "learn/layers/convolution_parts.hpp"

namespace warren::learn {
namespace {

// Random numbers of one layer lie apart from the next one's.
constexpr std::uint64_t kPurposes = 16;
constexpr std::uint64_t kInputPurpose = 0;

/// The graph whose edges the layers read.
GraphPair read_by_layers(team::Team& team, const GraphPair& graphs, const ModelOptions& options) {
  if (!is_attention(options.kind)) return graphs;
  const EdgeWeights weights = options.edge_weights ? EdgeWeights::of_graph : EdgeWeights::ones;
  if (options.edge_weights) {
    const auto rank = static_cast<std::size_t>(team.rank());
    check_edge_weights(*graphs.out, graphs, graphs.cuts[rank], graphs.cuts[rank + 1]);
  }
  return with_self_loops(graphs, team.device().pool(), weights);
}

std::uint64_t next_number() {
  static std::atomic<std::uint64_t> last = 0;
  return ++last;
}

bool drops_input(const ModelOptions& options) {
  return options.kind == ModelKind::gcn || is_attention(options.kind);
}

}  // namespace

void check(const ModelOptions& options) {
  require(options.layers >= 1 && options.layers <= 64, "a model has 1 to 64 layers");
  require(options.hidden >= 1, "a layer's output needs at least one column");
  require(options.features >= 1, "the features have no columns: there is nothing to learn from");
  require(options.classes >= 1, "there are no classes: the labels say nothing");
  require(!options.skip || !options.residual,
          "a layer's input is added as it is (residual) or by a matrix (skip), not both");
  require(!options.edge_weights || can_weigh_edges(options.kind, options.aggregate),
          "edges count their weights in the sums of gcn, and of sage by mean or sum, and in the "
          "attention of gat and gatv2, alone");
  require(options.dropout >= 0.0f && options.dropout < 1.0f,
          "a dropout is a probability, from 0 to less than 1");
  if (is_attention(options.kind) && options.layers > 1) {
    require(
        options.heads >= 1 && options.hidden % options.heads == 0,
        fmt::format("{} heads do not divide a hidden width of {}", options.heads, options.hidden));
  }
}

Features::Features(const exec::Stream& stream, std::span<const float> values, std::uint64_t width,
                   NumberType type)
    : width_(width), number_(next_number()), dense_(stream.device(), type, values.size()) {
  with_type(type, [&]<class T>(T) {
    std::vector<T> stored(values.size());
    std::transform(values.begin(), values.end(), stored.begin(), from_float<T>);
    exec::copy(stream, dense_.data().raw(), stored.data(), dense_.bytes());
    stream.synchronize();
  });
}

Features::Features(const exec::Stream& stream, const SparseRows& rows)
    : width_(rows.columns), number_(next_number()), sparse_(stream, rows) {}

Features::Features(const exec::Stream& stream, std::uint64_t rows, std::uint64_t width,
                   NumberType type)
    : width_(width),
      number_(next_number()),
      dense_(stream.device(), type, exec::bytes_of(rows, width)) {}

Features::Features(const exec::Stream& stream, const SparseOperandSizes& sizes)
    : width_(sizes.columns), number_(next_number()), sparse_(stream, sizes) {}

Operand Features::operand(Context& context, const Dropout& dropout) {
  if (sparse_.columns() != 0) {
    sparse_.drop(context.stream(), dropout);
    return {context.rows(), nullptr, &sparse_, width_, 0};
  }
  if (!dropout.is_on()) return {context.rows(), dense_.data(), nullptr, width_, number_};
  if (dropped_.size() == 0) dropped_ = NumberBuffer(dense_.device(), dense_.type(), dense_.size());
  drop(context.stream(), dropout, context.rows(), width_, dense_.data(), dropped_.data());
  return Operand::of(context.rows(), dropped_.data(), width_);
}

Model::Model(Context& context, const GraphPair& graphs, const ModelOptions& options, bool is_sparse)
    : options_(options) {
  check(options);
  const exec::Stream& stream = context.stream();
  Matrix matrix;
  matrix.neighbourhood = std::make_shared<const Neighbourhood>(
      context.team(), stream, read_by_layers(context.team(), graphs, options),
      sparse::HaloBy::automatic, options.edge_weights ? EdgeWeights::of_graph : EdgeWeights::ones);
  if (!takes_edges())
    matrix.aggregation =
        std::make_shared<Aggregation>(context, *matrix.neighbourhood, graphs, weighting());
  add_layers(context, is_sparse, matrix);
}

Model::Model(Context& context, std::shared_ptr<const Neighbourhood> neighbourhood,
             const ModelOptions& options, bool is_sparse)
    : options_(options) {
  check(options);
  Matrix matrix;
  matrix.neighbourhood = std::move(neighbourhood);
  if (!takes_edges())
    matrix.aggregation = std::make_shared<Aggregation>(context, *matrix.neighbourhood, weighting());
  add_layers(context, is_sparse, matrix);
}

void Model::add_layers(Context& context, bool is_sparse, const Matrix& matrix) {
  const Neighbours& out = *matrix.neighbourhood->out;
  context.set_rows(out.rows(), out.input_ids());
  if (options_.recompute) {
    kept_ = std::make_shared<KeptMemory>();
    normal_ = std::make_shared<KeptMemory>();
  }
  for (std::uint64_t l = 0; l < options_.layers; ++l) add_layer(l, is_sparse && l == 0, matrix);
  parameters_.allocate(context.stream(), options_.seed);
  for (Layer& layer : layers_)
    context.keep(layer.output, exec::bytes_of(context.rows(), layer.out));
  keep_gradients(context);
}

Model::Model(Context& context, const ModelOptions& options) : options_(options) {
  check(options);
  context.set_in_batches();
  for (std::uint64_t l = 0; l < options.layers; ++l) {
    Matrix matrix;
    matrix.block_out = std::make_shared<Neighbours>();
    matrix.block_in = std::make_shared<Neighbours>();
    matrix.neighbourhood = std::make_shared<const Neighbourhood>(matrix.block_out, matrix.block_in);
    if (!takes_edges()) matrix.aggregation = std::make_shared<Aggregation>(*matrix.neighbourhood);
    add_layer(l, false, matrix);
  }
  parameters_.allocate(context.stream(), options.seed);
}

Model::~Model() = default;

bool Model::takes_edges() const {
  const bool is_max = options_.kind == ModelKind::sage && options_.aggregate == SageAggregate::max;
  return is_max || is_attention(options_.kind);
}

void Model::set_strategy(const Context& context, const sparse::DistributedOptions& options) {
  const Neighbourhood& both = neighbourhood();
  both.out->set_strategy(context.type(), options);
  if (both.in != both.out) both.in->set_strategy(context.type(), options);
}

Weighting Model::weighting() const {
  if (options_.kind == ModelKind::gcn) return Weighting::symmetric;
  const bool is_mean =
      options_.kind == ModelKind::sage && options_.aggregate == SageAggregate::mean;
  return is_mean ? Weighting::mean : Weighting::sum;
}

Model::Bytes Model::bytes() const {
  Bytes sum;
  const auto add_kept = [&](const std::shared_ptr<Kept>& kept, bool is_shared) {
    if (!is_shared) sum.kept += kept->bytes();
  };
  for (const Layer& layer : layers_) {
    sum.outputs += layer.output.bytes();
    add_kept(layer.kept, kept_ != nullptr);
    add_kept(layer.normal, normal_ != nullptr);
  }
  if (kept_ != nullptr) sum.kept += layers_.front().kept->bytes() + layers_.front().normal->bytes();
  for (const NumberBuffer& gradients : gradients_) sum.gradients += gradients.bytes();
  return sum;
}

/// Room for the gradients of the scores and of the last layer's input; those of other layers' take
/// the outputs' memory.
void Model::keep_gradients(Context& context) {
  context.keep(gradients_[0], exec::bytes_of(context.rows(), options_.classes));
  if (options_.layers > 1)
    context.keep(gradients_[1], exec::bytes_of(context.rows(), options_.hidden));
}

void Model::add_layer(std::uint64_t l, bool is_sparse, const Matrix& matrix) {
  const bool is_last = l + 1 == options_.layers;
  Layer layer;
  layer.parameters_begin = parameters_.size();
  layer.matrix = matrix;
  layer.in = l == 0 ? options_.features : options_.hidden;
  layer.out = is_last ? options_.classes : options_.hidden;
  layer.purpose = (l + 1) * kPurposes;
  layer.has_residual = options_.residual && !is_last && l > 0;
  if (!is_last) {
    layer.activation = is_attention(options_.kind) ? Activation::elu : Activation::relu;
    layer.dropout = options_.dropout;
  }
  const auto kept_in = [](const std::shared_ptr<KeptMemory>& shared) {
    return shared != nullptr ? std::make_shared<Kept>(shared) : std::make_shared<Kept>();
  };
  layer.kept = kept_in(kept_);
  layer.normal = kept_in(normal_);
  ConvolutionShape shape;
  shape.name = fmt::format("layers.{}", l);
  shape.in = layer.in;
  shape.out = layer.out;
  shape.is_sparse = is_sparse;
  shape.needs_input_gradient = l > 0;
  // As the papers have it: GCN's first layer alone is held small.
  shape.decay = options_.kind != ModelKind::gcn || l == 0 ? 1.0f : 0.0f;
  shape.purpose = layer.purpose + 1;
  shape.kept = layer.kept;
  layer.convolution = make_convolution(shape, matrix, is_last);
  layer.norm = std::make_unique<Norm>(parameters_, is_last ? NormKind::none : options_.norm,
                                      shape.name + ".norm", layer.out, layer.normal);
  layer.bias = parameters_.add(
      {.name = shape.name + ".bias", .rows = 1, .columns = layer.out, .decay = shape.decay});
  if (options_.skip)
    layer.skip = add_glorot(parameters_, shape, ".skip.weight", layer.in, layer.out);
  layers_.push_back(std::move(layer));
}

std::unique_ptr<Convolution> Model::make_convolution(const ConvolutionShape& shape,
                                                     const Matrix& matrix, bool is_last) {
  switch (options_.kind) {
    case ModelKind::gcn:
      return make_gcn(parameters_, shape, matrix.aggregation);
    case ModelKind::sage:
      if (options_.aggregate == SageAggregate::max)
        return make_sage_max(parameters_, shape, *matrix.neighbourhood);
      return make_sage(parameters_, shape, matrix.aggregation);
    case ModelKind::gin:
      return make_gin(parameters_, shape, matrix.aggregation, options_.norm);
    case ModelKind::gat:
    case ModelKind::gatv2: {
      const std::uint64_t heads = is_last ? 1 : options_.heads;
      const auto make = options_.kind == ModelKind::gat ? make_gat : make_gatv2;
      return make(
          parameters_, shape, *matrix.neighbourhood,
          {.heads = heads, .width = shape.out / heads, .edge_weights = options_.edge_weights},
          options_.dropout);
    }
  }
  throw UsageError("there is no such model");
}

BlockOptions Model::block_options(std::size_t l) const {
  const Layer& layer = layers_[l];
  BlockOptions options;
  options.weighting = weighting();
  options.has_weights = !takes_edges();
  options.edge_weights = options_.edge_weights;
  options.self_loops = is_attention(options_.kind);
  options.are_sources_scaled = l == 0 && scales_features();
  // Below the first layer nothing is asked for, but that gradients go through the sources of all
  // whose product comes first.
  options.is_transposed = l > 0 ||
                          (is_attention(options_.kind) && layer.convolution->reads_transposed()) ||
                          (!takes_edges() && layer.in >= 2 * layer.out);
  return options;
}

void Model::set_block(std::size_t l, const Block& block) {
  const Matrix& matrix = layers_[l].matrix;
  require(matrix.block_out != nullptr, "a model of the whole graph has no blocks");
  matrix.block_out->set(block.out());
  matrix.block_in->set(block.in());
  if (matrix.aggregation != nullptr) matrix.aggregation->set(block.weights());
}

Operand Model::input_of(std::size_t l) const {
  if (l == 0) return features_;
  const Layer& before = layers_[l - 1];
  return Operand::of(before.matrix.neighbourhood->out->rows(), before.output.data(), layers_[l].in);
}

Epilogue Model::epilogue(Context& context, const Layer& layer, ConstNumbers added) const {
  return {.bias = parameters_.value(layer.bias),
          .residual = added,
          .activation = layer.activation,
          .dropout = context.dropout(layer.dropout, layer.purpose)};
}

/// The layer's output: a norm of what its convolution left, what is added to it, and the epilogue.
void Model::finish(Context& context, Layer& layer, const Operand& x, Pass pass) const {
  const std::uint64_t n = layer.matrix.neighbourhood->out->rows();
  const Numbers y = layer.output.data();
  if (!layer.skip) {
    const ConstNumbers added = layer.has_residual ? x.dense : nullptr;
    return layer.norm->forward(context, epilogue(context, layer, added), n, y, pass);
  }
  const TakenRows added = context.take_rows(exec::bytes_of(n, layer.out));
  transform(context, x.first(n), parameters_.value(*layer.skip), added, layer.out);
  layer.norm->forward(context, epilogue(context, layer, added), n, y, pass);
}

ConstNumbers Model::forward(Context& context, Features& features) {
  const Dropout dropout =
      context.dropout(drops_input(options_) ? options_.dropout : 0.0f, kInputPurpose);
  features_ = features.operand(context, dropout);
  return forward(context);
}

Dropout Model::input_dropout(std::uint64_t seed, std::uint64_t epoch) const {
  return {random_key(seed, epoch, kInputPurpose), drops_input(options_) ? options_.dropout : 0.0f};
}

bool Model::scales_features() const {
  const Layer& first = layers_.front();
  return options_.kind == ModelKind::gcn && !first.skip &&
         aggregates_first(false, false, first.in, first.out);
}

ConstNumbers Model::forward(Context& context, std::uint64_t rows, ConstNumbers features) {
  features_ = Operand::of(rows, features, options_.features);
  features_.is_scaled = context.is_in_batches() && scales_features();
  return forward(context);
}

ConstNumbers Model::forward(Context& context) {
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    context.team().check();  // A team that is to end does not wait for the epoch's end.
    Layer& layer = layers_[l];
    const Operand x = input_of(l);
    const std::uint64_t n = layer.matrix.neighbourhood->out->rows();
    context.keep(layer.output, exec::bytes_of(n, layer.out));
    const Numbers y = layer.output.data();
    // The gradients' memory is free until backward().
    layer.convolution->forward(context, x, layer.norm->input(context, n, y), {.spare = spare()});
    finish(context, layer, x, Pass::first);
  }
  Layer& last = layers_.back();
  context.keep(gradients_[0], exec::bytes_of(last.matrix.neighbourhood->out->rows(), last.out));
  return last.output.data();
}

/// The layer's forward pass once more, for what the norm and the convolution keep. The output
/// becomes what it was, or stays.
void Model::repeat(Context& context, Layer& layer, const Operand& x, ConstNumbers dy) {
  const std::uint64_t n = layer.matrix.neighbourhood->out->rows();
  const Numbers y = layer.output.data();
  layer.convolution->forward(
      context, x, layer.norm->input(context, n, y),
      {.spare = dy == gradients_[1].data() ? SpareRows() : spare(), .pass = Pass::repeated});
  // A batch norm keeps its input, and the moments stand: the output is there already.
  if (options_.norm != NormKind::batch) finish(context, layer, x, Pass::repeated);
}

/// On the second stream, behind what the first one has to do so far.
void Model::sum_gradients(Context& context, std::size_t l) const {
  const bool is_last = l + 1 == layers_.size();
  context.fork_side();
  parameters_.reduce_gradients(context.team(), context.side(), layers_[l].parameters_begin,
                               is_last ? parameters_.size() : layers_[l + 1].parameters_begin);
  context.end_side();
}

void Model::backward(Context& context, Numbers scores_gradient, GradientSums sums) {
  require(sums == GradientSums::of_rank || context.is_in_batches(),
          "gradients are summed beside a backward pass of batches alone");
  // Other carriers have the host wait, and the layers below with it.
  team::Team& team = context.team();
  const bool is_beside =
      sums == GradientSums::of_team && team.size() > 1 &&
      (!team.device().is_cuda() || std::string_view(team.collectives_name()) == "nccl");
  Numbers dy = scores_gradient;
  for (std::size_t l = layers_.size(); l-- > 0;) {
    team.check();
    Layer& layer = layers_[l];
    const Operand x = input_of(l);
    const std::uint64_t n = layer.matrix.neighbourhood->out->rows();
    Numbers dx;
    if (l > 0) {
      // Once the gradient of what came before norm and activation has been made, the output's
      // memory is free.
      const std::uint64_t size = exec::bytes_of(x.rows, layer.in);
      const bool fits = layer.output.size() >= size;
      NumberBuffer& other = gradients_[dy == gradients_[1].data() ? 0 : 1];
      if (!fits) context.keep(other, size);
      dx = (fits ? layer.output : other).data();
    }
    if (!layer.normal->is_intact()) repeat(context, layer, x, dy);
    std::optional<TakenRows> taken;
    const bool adds = layer.has_residual || layer.skip;
    if (adds) taken = context.take_rows(exec::bytes_of(n, layer.out));
    const Numbers residual = adds ? taken->data() : nullptr;
    ScaledGradient scaled;
    if (l > 0 && !adds && options_.norm == NormKind::none && dx == layer.output.data())
      scaled = {layer.convolution->gradient_scale(context), dx,
                layer.convolution->reads_plain_gradient()};
    // Gradients go by the output, whatever was added to it.
    layer.norm->backward(context, epilogue(context, layer, nullptr), n, layer.output.data(), dy,
                         parameters_.gradient(layer.bias), residual, scaled);
    if (!layer.kept->is_intact()) layer.convolution->refill(context, x, layer.output.data());
    layer.convolution->backward(context, x, dy, dx,
                                {.is_spent = true, .is_scaled = scaled.scale != nullptr});
    if (layer.has_residual) add_self(context.stream(), n, layer.out, nullptr, residual, dx);
    if (layer.skip) {
      add_weight_gradient(context, x.first(n), residual, parameters_.gradient(*layer.skip),
                          layer.out);
      if (l > 0)
        input_gradient(context, n, residual, parameters_.value(*layer.skip), dx, layer.in,
                       layer.out, 1.0f);
    }
    if (is_beside) sum_gradients(context, l);
    dy = dx;
  }
  if (sums == GradientSums::of_rank) return;
  if (!is_beside) return parameters_.reduce_gradients(context);
  context.measured(Part::communicate, [&] { context.join_side(); });
}

}  // namespace warren::learn
