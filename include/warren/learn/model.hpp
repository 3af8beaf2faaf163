// SPDX-License-Identifier: Apache-2.0
// Models of several layers: a convolution each, with bias, activation and dropout.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "warren/learn/block.hpp"
#include "warren/learn/convolution.hpp"

namespace warren::learn {

enum class ModelKind { gcn, sage, gat, gin, gatv2 };
/// Whether its layers weigh neighbours by attention: its graphs have self-loops.
[[nodiscard]] constexpr bool is_attention(ModelKind kind) {
  return kind == ModelKind::gat || kind == ModelKind::gatv2;
}
enum class SageAggregate { mean, sum, max };

struct ModelOptions {
  ModelKind kind = ModelKind::gcn;
  std::uint64_t layers = 2;
  std::uint64_t hidden = 16;  ///< Width of a layer's output; of GAT and GATv2, all heads together.
  std::uint64_t heads = 8;    ///< GAT's and GATv2's, in all layers but the last.
  std::uint64_t features = 0, classes = 0;
  float dropout = 0.5f;
  SageAggregate aggregate = SageAggregate::mean;
  NormKind norm = NormKind::none;  ///< Of hidden layers, before activation; GIN's within, too.
  bool residual = false;  ///< Adds a hidden layer's input where it is as wide as its output.
  bool skip = false;      ///< Adds a layer's input times a matrix of its own, of every layer.
  std::uint64_t seed = 1;
  /// Of GCN and GraphSAGE's mean and sum: edges count their weights in sums over neighbours, and in
  /// the degrees by which GCN divides (Weighting; of batches Block::make()). Of GAT and GATv2: they
  /// are a feature of edges, by which attention's logits go (Attention, AttentionV2), and loops
  /// have the mean of their vertex' edges (with_self_loops(); of batches Block::make()). Else edges
  /// count 1 each.
  bool edge_weights = false;
  /// Of the whole graph: layers share the memory for what they keep for backward() beside their
  /// outputs, and backward() makes that again, layer by layer, where another one has taken it: less
  /// memory, parts of a second forward pass, and the same numbers bit for bit. Costs nothing where
  /// there is no backward().
  bool recompute = false;
};

/// Which gradients a backward pass leaves: of a rank's own vertices, or of all ranks'.
enum class GradientSums : std::uint8_t { of_rank, of_team };

/// Whether a model's layers can count the weights of edges (ModelOptions::edge_weights).
[[nodiscard]] constexpr bool can_weigh_edges(ModelKind kind, SageAggregate aggregate) {
  return kind == ModelKind::gcn || is_attention(kind) ||
         (kind == ModelKind::sage && aggregate != SageAggregate::max);
}

/// Throws UsageError for options that make no model.
void check(const ModelOptions& options);

/// What the first layer reads: this rank's features, dense or sparse.
class Features {
 public:
  /// Of rows x width values in host memory, stored as `type`. Synchronises. Throws MemoryError.
  Features(const exec::Stream& stream, std::span<const float> values, std::uint64_t width,
           NumberType type = NumberType::float32);
  Features(const exec::Stream& stream, const SparseRows& rows);
  /// The memory of such alone: for dry runs (exec::DryRun).
  Features(const exec::Stream& stream, std::uint64_t rows, std::uint64_t width, NumberType type);
  Features(const exec::Stream& stream, const SparseOperandSizes& sizes);

  [[nodiscard]] bool is_sparse() const { return dense_.size() == 0; }
  /// On the device, with dropout's copy once there is one.
  [[nodiscard]] std::uint64_t bytes() const {
    return dense_.bytes() + dropped_.bytes() + sparse_.bytes();
  }
  /// The features with dropout, until the next call.
  [[nodiscard]] Operand operand(Context& context, const Dropout& dropout);

 private:
  std::uint64_t width_;
  std::uint64_t number_;  // Of these features alone.
  NumberBuffer dense_, dropped_;
  SparseOperand sparse_;
};

class Model {
 public:
  /// With its parameters drawn from the seed: the same on every rank. Collective. Throws
  /// UsageError, MemoryError.
  Model(Context& context, const GraphPair& graphs, const ModelOptions& options, bool is_sparse);
  /// The same of a neighbourhood that is there, of the graph that layers read (which of attention
  /// has self-loops): for dry runs (exec::DryRun).
  Model(Context& context, std::shared_ptr<const Neighbourhood> neighbourhood,
        const ModelOptions& options, bool is_sparse);
  /// Of sampled batches of dense features: its layers' matrices are set for each batch.
  Model(Context& context, const ModelOptions& options);
  ~Model();
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  [[nodiscard]] const ModelOptions& options() const { return options_; }
  [[nodiscard]] Parameters& parameters() { return parameters_; }
  [[nodiscard]] const Parameters& parameters() const { return parameters_; }

  /// Of the whole graph: the matrices that all layers read.
  [[nodiscard]] const Neighbourhood& neighbourhood() const {
    return *layers_.front().matrix.neighbourhood;
  }
  /// Whether layers read neighbours' rows by kernels of their own, edge by edge, rather than by
  /// products with the matrices.
  [[nodiscard]] bool takes_edges() const;
  /// Of the whole graph: how products with the matrices are made from here on. Collective.
  void set_strategy(const Context& context, const sparse::DistributedOptions& options);
  /// What a sampled batch's block of layer l must have.
  [[nodiscard]] BlockOptions block_options(std::size_t l) const;
  /// The matrix of layer l until the next call: its block's targets are the first of its sources.
  /// The block's memory stays the caller's.
  void set_block(std::size_t l, const Block& block);

  /// The scores of this rank's vertices (of a batch: of its seeds), rows x classes, until
  /// backward() or the next call. With dropout while the context is training. Collective;
  /// asynchronous but for what ranks exchange. Of the context's type, as dense features are.
  ConstNumbers forward(Context& context, Features& features);
  /// The same for rows x options().features of the context's type on the device, after
  /// input_dropout() while the context is training, and times the weights of the first block's
  /// columns where block_options(0).are_sources_scaled. They must stay until backward() is over.
  ConstNumbers forward(Context& context, std::uint64_t rows, ConstNumbers features);
  /// What the last layer of the whole graph read in the last forward(): rows x options().hidden,
  /// until backward() or the next call. Of two layers or more.
  [[nodiscard]] ConstNumbers last_input() const {
    return layers_[layers_.size() - 2].output.data();
  }
  /// What drops the features in training, of what Context::begin() is given: for features that are
  /// gathered before.
  [[nodiscard]] Dropout input_dropout(std::uint64_t seed, std::uint64_t epoch) const;
  /// Adds the parameters' gradients of the last forward(), from those of the scores, which it
  /// overwrites. Collective. `of_team`: then sums them over the ranks (see
  /// Parameters::reduce_gradients()), a layer's on the context's second stream while the gradients
  /// of the layers below are made. Of batches only: kernels of the whole graph may wait for those
  /// of other ranks, which must find room beside them.
  void backward(Context& context, Numbers scores_gradient,
                GradientSums sums = GradientSums::of_rank);
  /// Bytes that the layers' outputs have, what they keep for backward() beside these, and the
  /// gradients of rows.
  struct Bytes {
    std::uint64_t outputs = 0, kept = 0, gradients = 0;
  };
  [[nodiscard]] Bytes bytes() const;
  /// Room for the scores' gradient.
  [[nodiscard]] Numbers scores_gradient() { return gradients_[0].data(); }

 private:
  /// A layer's neighbours: the whole graph's, which layers share, or its block's.
  struct Matrix {
    std::shared_ptr<Neighbours> block_out, block_in;
    std::shared_ptr<const Neighbourhood> neighbourhood;
    std::shared_ptr<Aggregation> aggregation;
  };
  struct Layer {
    Matrix matrix;
    std::shared_ptr<Kept> kept, normal;  ///< The convolution's and the norm's.
    std::unique_ptr<Convolution> convolution;
    std::unique_ptr<Norm> norm;
    std::uint64_t in = 0, out = 0;
    std::uint64_t parameters_begin = 0;  ///< In floats; they end where the next layer's begin.
    std::size_t bias = 0;
    Activation activation = Activation::none;
    float dropout = 0.0f;  ///< Of the output.
    std::uint64_t purpose = 0;
    bool has_residual = false;
    std::optional<std::size_t> skip;  ///< Its matrix.
    NumberBuffer output;
  };
  /// Whether the first layer would scale a batch's features by the weights of its block's columns
  /// before all else, and reads them scaled alone.
  [[nodiscard]] bool scales_features() const;
  [[nodiscard]] Weighting weighting() const;
  /// Of the whole graph.
  void add_layers(Context& context, bool is_sparse, const Matrix& matrix);
  void add_layer(std::uint64_t l, bool is_sparse, const Matrix& matrix);
  [[nodiscard]] std::unique_ptr<Convolution> make_convolution(const ConvolutionShape& shape,
                                                              const Matrix& matrix, bool is_last);
  ConstNumbers forward(Context& context);
  void keep_gradients(Context& context);
  void sum_gradients(Context& context, std::size_t l) const;
  void repeat(Context& context, Layer& layer, const Operand& x, ConstNumbers dy);
  void finish(Context& context, Layer& layer, const Operand& x, Pass pass) const;
  /// Memory that is free until gradients are made.
  [[nodiscard]] SpareRows spare() const { return {gradients_[1].data(), gradients_[1].size()}; }
  [[nodiscard]] Epilogue epilogue(Context& context, const Layer& layer, ConstNumbers added) const;
  [[nodiscard]] Operand input_of(std::size_t l) const;

  ModelOptions options_;
  Parameters parameters_;
  std::shared_ptr<KeptMemory> kept_, normal_;  // Of all layers, where those share it.
  std::vector<Layer> layers_;
  Operand features_;
  NumberBuffer gradients_[2];
};

}  // namespace warren::learn
