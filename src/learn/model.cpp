// SPDX-License-Identifier: Apache-2.0
#include "warren/learn/model.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "warren/core/error.hpp"

namespace warren::learn {
namespace {

// Random numbers of one layer lie apart from the next one's.
constexpr std::uint64_t kPurposes = 16;
// Scratch memory that no convolution uses.
constexpr std::size_t kResidualSlot = 4;

bool drops_input(const ModelOptions& options) {
  return options.kind == ModelKind::gcn || options.kind == ModelKind::gat;
}

}  // namespace

void check(const ModelOptions& options) {
  require(options.layers >= 1 && options.layers <= 64, "a model has 1 to 64 layers");
  require(options.hidden >= 1, "a layer's output needs at least one column");
  require(options.features >= 1, "the features have no columns: there is nothing to learn from");
  require(options.classes >= 1, "there are no classes: the labels say nothing");
  require(options.dropout >= 0.0f && options.dropout < 1.0f,
          "a dropout is a probability, from 0 to less than 1");
  if (options.kind == ModelKind::gat && options.layers > 1) {
    require(
        options.heads >= 1 && options.hidden % options.heads == 0,
        fmt::format("{} heads do not divide a hidden width of {}", options.heads, options.hidden));
  }
}

Features::Features(const exec::Stream& stream, std::span<const float> values, std::uint64_t width)
    : width_(width), dense_(stream.device(), values.size()) {
  dense_.upload(stream, values);
  stream.synchronize();
}

Features::Features(const exec::Stream& stream, const SparseRows& rows)
    : width_(rows.columns), sparse_(stream, rows) {}

Operand Features::operand(Context& context, const Dropout& dropout) {
  if (sparse_.columns() != 0) {
    sparse_.drop(context.stream(), dropout);
    return {nullptr, &sparse_, width_};
  }
  if (!dropout.is_on()) return {dense_.data(), nullptr, width_};
  if (dropped_.size() == 0) dropped_ = memory::Buffer<float>(dense_.device(), dense_.size());
  drop(context.stream(), dropout, context.rows(), width_, dense_.data(), dropped_.data());
  return {dropped_.data(), nullptr, width_};
}

Model::Model(Context& context, const GraphPair& graphs, const ModelOptions& options, bool is_sparse)
    : options_(options) {
  check(options);
  const exec::Stream& stream = context.stream();
  const bool is_gat = options.kind == ModelKind::gat;
  neighbourhood_ = std::make_unique<Neighbourhood>(
      context.team(), stream,
      is_gat ? with_self_loops(graphs, context.team().device().pool()) : graphs);
  context.set_rows(neighbourhood_->out->rows(), neighbourhood_->out->input_ids());
  const bool is_max = options.kind == ModelKind::sage && options.aggregate == SageAggregate::max;
  if (!is_gat && !is_max) {
    Weighting weighting = Weighting::sum;
    if (options.kind == ModelKind::gcn) weighting = Weighting::symmetric;
    if (options.kind == ModelKind::sage && options.aggregate == SageAggregate::mean)
      weighting = Weighting::mean;
    aggregation_ = std::make_shared<const Aggregation>(context, *neighbourhood_, graphs, weighting);
  }
  for (std::uint64_t l = 0; l < options.layers; ++l) add_layer(context, l, is_sparse && l == 0);
  parameters_.allocate(stream, options.seed);
  const std::uint64_t widest =
      options.layers == 1 ? options.classes : std::max(options.hidden, options.classes);
  const std::size_t buffers = options.layers == 1 ? 1 : 2;
  for (std::size_t i = 0; i < buffers; ++i)
    gradients_[i] =
        memory::Buffer<float>(context.team().device(), exec::bytes_of(context.rows(), widest));
}

Model::~Model() = default;

void Model::add_layer(Context& context, std::uint64_t l, bool is_sparse) {
  const bool is_last = l + 1 == options_.layers;
  Layer layer;
  layer.in = l == 0 ? options_.features : options_.hidden;
  layer.out = is_last ? options_.classes : options_.hidden;
  layer.purpose = (l + 1) * kPurposes;
  layer.has_residual = options_.residual && !is_last && l > 0;
  if (!is_last) {
    layer.activation = options_.kind == ModelKind::gat ? Activation::elu : Activation::relu;
    layer.dropout = options_.dropout;
  }
  ConvolutionShape shape;
  shape.name = fmt::format("layers.{}", l);
  shape.in = layer.in;
  shape.out = layer.out;
  shape.is_sparse = is_sparse;
  shape.needs_input_gradient = l > 0;
  // As the papers have it: GCN's first layer alone is held small.
  shape.decays = options_.kind != ModelKind::gcn || l == 0;
  shape.purpose = layer.purpose + 1;
  layer.convolution = make_convolution(shape, is_last);
  layer.norm = std::make_unique<Norm>(parameters_, is_last ? NormKind::none : options_.norm,
                                      shape.name + ".norm", layer.out);
  layer.bias = parameters_.add(
      {.name = shape.name + ".bias", .rows = 1, .columns = layer.out, .decays = shape.decays});
  layer.output =
      memory::Buffer<float>(context.team().device(), exec::bytes_of(context.rows(), layer.out));
  layers_.push_back(std::move(layer));
}

std::unique_ptr<Convolution> Model::make_convolution(const ConvolutionShape& shape, bool is_last) {
  switch (options_.kind) {
    case ModelKind::gcn:
      return make_gcn(parameters_, shape, aggregation_);
    case ModelKind::sage:
      if (options_.aggregate == SageAggregate::max)
        return make_sage_max(parameters_, shape, *neighbourhood_);
      return make_sage(parameters_, shape, aggregation_);
    case ModelKind::gin:
      return make_gin(parameters_, shape, aggregation_, options_.norm);
    case ModelKind::gat: {
      const std::uint64_t heads = is_last ? 1 : options_.heads;
      return make_gat(parameters_, shape, *neighbourhood_,
                      {.heads = heads, .width = shape.out / heads}, options_.dropout);
    }
  }
  throw UsageError("there is no such model");
}

Operand Model::input_of(std::size_t l) const {
  if (l == 0) return features_;
  return {layers_[l - 1].output.data(), nullptr, layers_[l].in};
}

Epilogue Model::epilogue(Context& context, const Layer& layer, const float* input) const {
  return {.bias = parameters_.value(layer.bias),
          .residual = layer.has_residual ? input : nullptr,
          .activation = layer.activation,
          .dropout = context.dropout(layer.dropout, layer.purpose)};
}

const float* Model::forward(Context& context, Features& features) {
  const Dropout dropout = context.dropout(drops_input(options_) ? options_.dropout : 0.0f, 0);
  features_ = features.operand(context, dropout);
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    Layer& layer = layers_[l];
    const Operand x = input_of(l);
    float* y = layer.output.data();
    layer.convolution->forward(context, x, layer.norm->input(context, y));
    layer.norm->forward(context, epilogue(context, layer, x.dense), y);
  }
  return layers_.back().output.data();
}

void Model::backward(Context& context, float* scores_gradient) {
  const std::uint64_t n = context.rows();
  float* dy = scores_gradient;
  for (std::size_t l = layers_.size(); l-- > 0;) {
    Layer& layer = layers_[l];
    const Operand x = input_of(l);
    float* dx =
        l == 0 ? nullptr : (dy == gradients_[0].data() ? gradients_[1] : gradients_[0]).data();
    float* residual = layer.has_residual ? context.scratch(kResidualSlot, n * layer.out) : nullptr;
    layer.norm->backward(context, epilogue(context, layer, x.dense), layer.output.data(), dy,
                         parameters_.gradient(layer.bias), residual);
    layer.convolution->backward(context, x, dy, dx);
    if (layer.has_residual) add_self(context.stream(), n, layer.out, nullptr, residual, dx);
    dy = dx;
  }
}

}  // namespace warren::learn
