// SPDX-License-Identifier: Apache-2.0
#include "warren/learn/memory_plan.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <numeric>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/exec/memory.hpp"
#include "warren/learn/kept.hpp"
#include "warren/learn/padding.hpp"

#include "learn/layers/convolution_parts.hpp"
#include "learn/train/trainer_parts.hpp"

namespace warren::learn {
namespace {

/// Sums that stay at the largest number rather than wrap.
struct Bytes {
  std::uint64_t value = 0;
  void add(std::uint64_t rows, std::uint64_t columns, std::uint64_t size = sizeof(float)) {
    const std::uint64_t bytes = exec::bytes_of(exec::bytes_of(rows, columns), size);
    if (__builtin_add_overflow(value, bytes, &value)) value = ~std::uint64_t{0};
  }
};

bool gat_attends_first(const ModelOptions& model, bool is_sparse, std::uint64_t l,
                       std::uint64_t heads, std::uint64_t in, std::uint64_t out) {
  ConvolutionShape shape;
  shape.in = in;
  shape.out = out;
  shape.is_sparse = is_sparse;
  shape.needs_input_gradient = l > 0;
  return attends_first(shape, {.heads = heads, .edge_weights = model.edge_weights});
}

/// Bytes for each row of the workspace's blocks. Passes take them in order, and give them back.
struct Scratch {
  NumberType type;
  bool is_shared = false;  ///< Rows of other ranks are read.
  std::vector<std::uint64_t> blocks{};

  /// Blocks that are held together, in the order in which they are taken. None is of 0 bytes.
  void hold(std::initializer_list<std::uint64_t> bytes) {
    std::size_t at = 0;
    for (const std::uint64_t size : bytes) {
      if (size == 0) continue;
      if (at == blocks.size()) blocks.push_back(0);
      blocks.at(at) = std::max(blocks.at(at), size);
      ++at;
    }
  }
  [[nodiscard]] std::uint64_t total() const {
    return std::accumulate(blocks.begin(), blocks.end(), std::uint64_t{0});
  }

  [[nodiscard]] std::uint64_t rows(std::uint64_t k) const { return k * size_of(type); }
  [[nodiscard]] static std::uint64_t floats(std::uint64_t k) { return k * sizeof(float); }
  /// Of k columns that are padded; 0 where they need no padding.
  [[nodiscard]] std::uint64_t pad(std::uint64_t k) const {
    return padded(k, type) == k ? 0 : rows(padded(k, type));
  }

  /// A layer from `in` to `out` columns; `spare` are free in forward, for what is transformed;
  /// `added`: of a sum with its input, whose gradient is held meanwhile.
  void add(const ModelOptions& model, bool is_sparse, std::uint64_t l, std::uint64_t in,
           std::uint64_t out, std::uint64_t spare, bool is_added) {
    const bool has_gradient = l > 0;
    const std::uint64_t wide = rows(padded(out, type));
    // What forward transforms, where spare memory does not do.
    const std::uint64_t z = padded(out, type) > spare ? wide : 0;
    const std::uint64_t added = is_added ? rows(out) : 0;
    if (model.skip) hold({rows(out)});
    // Gradients of sparse features' weights are made of float32.
    const std::uint64_t wide_floats =
        is_sparse && type != NumberType::float32 ? floats(padded(out, type)) : 0;
    if (is_attention(model.kind)) {
      const std::uint64_t heads = l + 1 == model.layers ? 1 : model.heads;
      const std::uint64_t keys = model.dropout > 0.0f ? floats(1) : 0;
      const std::uint64_t sums = is_shared ? floats(2 * heads) : 0;
      if (model.kind == ModelKind::gat && gat_attends_first(model, is_sparse, l, heads, in, out)) {
        hold({floats(heads), keys});
        return hold({added, rows(heads * in), keys});
      }
      if (model.kind == ModelKind::gat) {
        const std::uint64_t copy = has_gradient && padded(out, type) <= in ? 0 : pad(out);
        hold({z, keys, sums});
        hold({added, wide, wide, floats(heads), floats(heads), copy, keys, sums});
        return hold({added, wide, wide, floats(heads), floats(heads), copy, wide_floats});
      }
      hold({z, wide, keys});
      hold({added, wide, wide, pad(out), wide, keys});
      return hold({added, wide, wide, pad(out), wide, wide_floats});
    }
    const bool is_first = aggregates_first(is_sparse, has_gradient, in, out);
    if (model.kind == ModelKind::gin) {
      if (is_first) {
        hold({pad(in)});
        return hold({added, rows(out), rows(in), has_gradient ? pad(in) : 0});
      }
      hold({out > spare ? rows(out) : 0, pad(out)});
      return hold({added, rows(out), rows(out), std::max(pad(out), wide_floats)});
    }
    if (model.kind == ModelKind::sage && model.aggregate == SageAggregate::max) {
      const bool is_half = type != NumberType::float32;
      const std::uint64_t own = is_half || is_shared ? floats(in) : 0;
      const std::uint64_t result = is_half ? floats(in) : 0;
      hold({own, result});
      if (has_gradient) hold({added, own, rows(in), floats(in), result});
      return;
    }
    const bool is_gcn = model.kind == ModelKind::gcn;
    // GraphSAGE's three products of a gradient read padded rows.
    const std::uint64_t copy = is_gcn ? 0 : pad(out);
    if (is_first) {
      const bool fits = padded(in, type) <= out;  // In the output.
      if (!is_gcn || !fits) hold({is_gcn ? rows(padded(in, type)) : pad(in)});
      if (has_gradient) hold({added, copy, rows(in), rows(padded(in, type))});
      return;
    }
    hold({z});
    const bool has_room = has_gradient && padded(out, type) <= in;
    const bool is_spent = is_gcn && has_room && pad(out) == 0;  // The gradient makes room.
    hold({added, copy, is_spent ? 0 : wide, has_room ? 0 : wide});
    hold({added, copy, is_spent ? 0 : wide, wide_floats});
  }
};

/// The most rows of others that a rank's edges name, of one matrix of neighbours.
std::uint64_t halo_of(const graph::Graph& graph, const std::vector<std::uint64_t>& cuts) {
  const std::size_t ranks = cuts.size() - 1;
  if (ranks == 1) return 0;
  const auto threads =
      std::min<std::size_t>(ranks, std::max(1u, std::thread::hardware_concurrency()));
  exec::ThreadPool pool(static_cast<int>(threads));
  std::vector<std::uint64_t> needed(ranks, 0);
  pool.parallel_for(0, ranks, 1, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t q = begin; q < end; ++q) {
      std::vector<bool> is_needed(cuts.back(), false);
      for (EdgeOffset e = graph.offsets[cuts[q]]; e < graph.offsets[cuts[q + 1]]; ++e)
        is_needed[graph.targets[e]] = true;
      std::fill(is_needed.begin() + static_cast<std::ptrdiff_t>(cuts[q]),
                is_needed.begin() + static_cast<std::ptrdiff_t>(cuts[q + 1]), false);
      needed[q] = static_cast<std::uint64_t>(std::count(is_needed.begin(), is_needed.end(), true));
    }
  });
  return *std::max_element(needed.begin(), needed.end());
}

/// Both matrices', which are one where the graph is symmetric.
struct Halos {
  explicit Halos(const GraphPair& graphs) : out(halo_of(*graphs.out, graphs.cuts)) {
    if (!graphs.is_symmetric()) in = halo_of(*graphs.in, graphs.cuts);
  }
  std::uint64_t out = 0, in = 0;
};

/// Bytes of a row of the halo: of what is received, in the slots of one exchange, and of copies
/// beside the own rows.
struct HaloRow {
  std::array<std::uint64_t, 3> slots{};
  std::uint64_t copies = 0;

  void add(std::size_t slot, std::uint64_t columns, std::uint64_t size) {
    slots.at(slot) = std::max(slots.at(slot), exec::bytes_of(columns, size));
  }
  [[nodiscard]] std::uint64_t received() const { return slots[0] + slots[1] + slots[2] + copies; }
};

/// What a layer exchanges, forward by `out` and backward by `in`.
void add_layer(HaloRow& out, HaloRow& in, const ModelOptions& model, NumberType type,
               bool is_sparse, std::uint64_t l, std::uint64_t columns_in,
               std::uint64_t columns_out) {
  const std::uint64_t size = size_of(type);
  const std::uint64_t heads = l + 1 == model.layers ? 1 : model.heads;
  const std::uint64_t wide = padded(columns_out, type);
  // As the kernels have them: two numbers of a row and head, four of GAT's.
  constexpr std::uint64_t kGat = 4, kGatV2 = 2;
  if (model.kind == ModelKind::gat) {
    if (gat_attends_first(model, is_sparse, l, heads, columns_in, columns_out)) {
      out.copies = std::max(out.copies, exec::bytes_of(heads, sizeof(float)));
      return out.add(0, columns_in, size);
    }
    out.add(0, wide, size);
    out.add(1, heads, sizeof(float));
    in.add(0, wide, size);
    return in.add(1, heads * kGat, sizeof(float));
  }
  if (model.kind == ModelKind::gatv2) {
    out.add(0, wide, size);
    in.add(0, wide, size);
    in.add(1, wide, size);
    return in.add(2, heads * kGatV2, sizeof(float));
  }
  if (model.kind == ModelKind::sage && model.aggregate == SageAggregate::max) {
    // Own rows and the others' are put side by side: x and ds, and whose each largest one was.
    out.add(0, columns_in, size);
    if (l > 0) in.add(0, columns_in, std::max<std::uint64_t>(size, sizeof(Vertex)));
    out.copies = std::max(out.copies, exec::bytes_of(columns_in, sizeof(float)));
    // Beside a sum with the input forward's copy lies in another block than backward's.
    const std::uint64_t blocks = model.skip || model.residual ? 3 : 2;
    if (l > 0)
      out.copies = std::max(out.copies, exec::bytes_of(blocks * columns_in, sizeof(float)));
    return;
  }
  const bool is_first = aggregates_first(is_sparse, l > 0, columns_in, columns_out);
  const std::uint64_t k = is_first ? padded(columns_in, type) : wide;
  out.add(0, k, size);
  if (l > 0 || !is_first) in.add(0, k, size);
}

/// Of an entry of a matrix: its column, and its weight.
std::uint64_t entry_bytes(const ModelOptions& model) {
  return sizeof(Vertex) + (model.edge_weights ? sizeof(float) : 0);
}

/// What a way of products holds beside the exchange of the halo: the matrix once more, and the most
/// rows of `row_bytes` that it moves, of `ranks` with n rows and m entries each.
std::uint64_t bytes_of_strategy(const TrainOptions& train, std::uint64_t ranks, std::uint64_t n,
                                std::uint64_t m, std::uint64_t halo, std::uint64_t row_bytes) {
  const ExchangeOptions& options = train.exchange;
  // A piece's task and its split row, and its sum, of twice the bytes at most that rows have.
  constexpr std::uint64_t kPieceBytes = 48, kSumBytes = 2;
  if (!options.product && !options.is_tuned) return 0;
  const sparse::DistributedOptions product =
      options.product.value_or(sparse::DistributedOptions{.strategy = sparse::Strategy::fused});
  Bytes bytes;
  bytes.add(m, 1, entry_bytes(train.model));
  bytes.add(n, 1, 2 * sizeof(EdgeOffset) + sizeof(Vertex));
  std::uint64_t rows = halo;
  switch (product.strategy) {
    case sparse::Strategy::broadcast:
      rows = n;
      break;
    case sparse::Strategy::broadcast_pipelined:
      rows = 2 * n;
      break;
    case sparse::Strategy::pull:
      rows = 0;
      bytes.add(2 * n + m / std::max(1u, product.piece_entries),
                kSumBytes * row_bytes + kPieceBytes, 1);
      break;
    case sparse::Strategy::once:
    case sparse::Strategy::staged:
      break;
    case sparse::Strategy::fused:
      // Two buffers of what a workgroup needs of one rank, where there are several workgroups.
      if (options.is_tuned || product.workgroup != static_cast<int>(ranks)) rows += 2 * n;
      break;
    case sparse::Strategy::cover:
      rows += halo;  // Partial rows for others.
      break;
  }
  bytes.add(rows, row_bytes, 1);
  return bytes.value;
}

/// What layers keep for backward beside their outputs: each in slots of its own, or all in one set,
/// whose slots are as large as the largest (ModelOptions::recompute).
struct KeptBytes {
  std::array<Bytes, kKeptSlots> own, shared;

  void add(KeptSlot slot, std::uint64_t rows, std::uint64_t columns, std::uint64_t size) {
    const auto s = static_cast<std::size_t>(slot);
    Bytes bytes;
    bytes.add(rows, columns, size);
    own.at(s).add(bytes.value, 1, 1);
    shared.at(s).value = std::max(shared.at(s).value, bytes.value);
  }
  void add_norm(NormKind norm, std::uint64_t n, std::uint64_t k, std::uint64_t size) {
    if (norm == NormKind::none) return;
    add(KeptSlot::normal, n, k, size);
    if (norm == NormKind::layer) add(KeptSlot::deviations, n, 1, sizeof(float));
  }
  /// A convolution of n rows.
  void add_convolution(const ModelOptions& model, NumberType type, bool is_sparse, std::uint64_t l,
                       std::uint64_t n, std::uint64_t in, std::uint64_t out) {
    const std::uint64_t size = size_of(type);
    const std::uint64_t heads = l + 1 == model.layers ? 1 : model.heads;
    if (model.kind == ModelKind::gat) {
      add(KeptSlot::statistics, n, 4 * heads, sizeof(float));
      add(KeptSlot::logits, n, heads, sizeof(float));
      if (gat_attends_first(model, is_sparse, l, heads, in, out))
        return add(KeptSlot::aggregated, n, heads * in, size);
      add(KeptSlot::aggregated, n, padded(out, type), size);
      add(KeptSlot::hidden, n, padded(out, type), size);
      // Of weighted edges their part of logits' gradients, too, and where results are narrower than
      // its sums these.
      const bool is_narrow = model.edge_weights && type != NumberType::float32;
      return add(KeptSlot::shares, n,
                 (model.edge_weights ? 2 : 1) * heads + (is_narrow ? padded(out, type) : 0),
                 sizeof(float));
    }
    if (model.kind == ModelKind::gatv2)
      return add(KeptSlot::statistics, n, 2 * heads, sizeof(float));
    if (model.kind == ModelKind::sage && model.aggregate == SageAggregate::max) {
      add(KeptSlot::aggregated, n, in, size);
      return add(KeptSlot::vertices, n, in, sizeof(Vertex));
    }
    if (aggregates_first(is_sparse, l > 0, in, out)) add(KeptSlot::aggregated, n, in, size);
    if (model.kind != ModelKind::gin) return;
    add(KeptSlot::hidden, n, out, size);
    add_norm(model.norm, n, out, size);
  }
  [[nodiscard]] std::uint64_t total(bool is_shared) const {
    Bytes sum;
    for (const Bytes& bytes : is_shared ? shared : own) sum.add(bytes.value, 1, 1);
    return sum.value;
  }
};

/// What an edge has in the store: its target, a weight, the sum of weights up to it.
std::uint64_t edge_bytes(const TrainOptions& options) {
  const SampledOptions& sampled = *options.sampled;
  const bool has_weights = sampled.weighted || options.model.edge_weights;
  return sizeof(Vertex) + (has_weights ? sizeof(float) : 0) +
         (sampled.weighted && sampled.replace ? sizeof(double) : 0);
}
/// What a vertex has there: its list's offset, and GCN's degree by weights.
std::uint64_t vertex_bytes(const TrainOptions& options) {
  const bool has_degree = options.model.edge_weights && options.model.kind == ModelKind::gcn;
  return sizeof(EdgeOffset) + (has_degree ? sizeof(float) : 0);
}

/// What batches need beside the whole graph's parts: rows of layers as many as fanouts allow.
void add_batches(MemoryPlan& plan, const Dataset& dataset, const TrainOptions& options,
                 std::uint64_t n, std::uint64_t m, std::uint64_t all, std::uint64_t all_edges) {
  const SampledOptions& sampled = *options.sampled;
  const std::uint64_t hidden = options.model.hidden;
  const std::uint64_t size = size_of(options.type);
  Bytes store, features, sampler, layers;
  if (sampled.edges == graph::EdgesPlacement::device)
    store.add(sampled.replicate_edges ? all_edges : m, edge_bytes(options), 1);
  store.add(sampled.replicate_edges ? all : n, 1, vertex_bytes(options));
  if (sampled.features != memory::Placement::host)
    features.add(sampled.features == memory::Placement::replicated ? all : n, dataset.width, size);
  features.add(sampled.cached > 0.0
                   ? static_cast<std::uint64_t>(sampled.cached * static_cast<double>(all))
                   : 0,
               dataset.width, size);
  const std::uint64_t seeds = seeds_of_batch(options, all);
  const std::uint64_t flights = 2ull * batches_in_flight(options, all, m);
  std::uint64_t rows = seeds;
  const ModelKind kind = options.model.kind;
  const std::uint64_t copies = (kind == ModelKind::gatv2 ? 7
                                : kind == ModelKind::gat ? 6
                                                         : 5) +
                               (options.model.skip ? 1 : 0);
  for (std::size_t h = 0; h < sampled.fanouts.size(); ++h) {
    const auto fanout = sampled.fanouts[h] < 0 ? m : static_cast<std::uint64_t>(sampled.fanouts[h]);
    const std::uint64_t edges = std::min(exec::bytes_of(rows, fanout), m + seeds);
    const std::uint64_t after = std::min(rows + edges, all);
    // Outputs, gradients and scratch of the layer whose targets these are.
    layers.add(rows, copies * (h == 0 ? std::max(hidden, dataset.classes) : hidden), size);
    sampler.add(edges, flights * (2 * sizeof(Vertex) + sizeof(std::uint32_t)), 1);
    if (options.model.edge_weights) sampler.add(edges, flights * sizeof(float), 1);
    // Of attention with those of loops, along edges and against them.
    if (options.model.edge_weights && is_attention(kind))
      layers.add(edges + rows, 2 * (sizeof(float) + sizeof(Vertex)), 1);
    rows = after;
  }
  sampler.add(rows, flights * (2 * sizeof(Vertex) + sizeof(std::uint64_t)), 1);
  features.add(rows, 2 * dataset.width, size);
  plan.parts.emplace_back("store", store.value);
  plan.parts.emplace_back("features of batches", features.value);
  plan.parts.emplace_back("samplers", sampler.value);
  plan.parts.emplace_back("layers of batches", layers.value);
  if (!options.links) return;
  Bytes embeddings;
  embeddings.add(n, dataset.classes);
  plan.parts.emplace_back("embeddings", embeddings.value);
}

/// Other options that need less: what a user would give, and the plan with them.
struct Alternative {
  std::string text;
  TrainOptions options;
};
std::vector<Alternative> alternatives_to(const TrainOptions& given) {
  std::vector<Alternative> all;
  const auto add = [&](const char* text, auto&& change) {
    all.push_back({text, given});
    change(all.back().options);
  };
  const auto recompute = [](TrainOptions& o) { o.model.recompute = true; };
  const auto halve = [](TrainOptions& o) { o.type = NumberType::bfloat16; };
  const bool recomputes = given.model.recompute || given.sampled;
  const bool is_half = given.type != NumberType::float32;
  if (!recomputes) add("--recompute", recompute);
  if (given.sampled && given.sampled->exact_evaluation)
    add("--evaluation sampled", [](TrainOptions& o) { o.sampled->exact_evaluation = false; });
  if (given.sampled && given.sampled->edges == graph::EdgesPlacement::device)
    add("--evaluation sampled --edges host", [](TrainOptions& o) {
      o.sampled->exact_evaluation = false;
      o.sampled->edges = graph::EdgesPlacement::host;
      o.sampled->replicate_edges = false;
    });
  if (given.exchange.product || given.exchange.is_tuned)
    add("no --strategy", [](TrainOptions& o) { o.exchange = {}; });
  if (!is_half) add("--type bfloat16", halve);
  if (!recomputes && !is_half)
    add("--recompute --type bfloat16", [&](TrainOptions& o) {
      recompute(o);
      halve(o);
    });
  return all;
}

MemoryPlan plan_of(const GraphPair& graphs, const Halos& halos, const Dataset& dataset,
                   const TrainOptions& options) {
  const ModelOptions& model = options.model;
  std::uint64_t n = 0;
  std::uint64_t m = 0;
  for (std::size_t q = 0; q + 1 < graphs.cuts.size(); ++q) {
    n = std::max(n, graphs.cuts[q + 1] - graphs.cuts[q]);
    m = std::max(m, graphs.out->offsets[graphs.cuts[q + 1]] - graphs.out->offsets[graphs.cuts[q]]);
  }
  const bool attends = is_attention(model.kind);
  if (attends) m += n;
  Bytes graph, features, outputs, gradients, scratch, parameters, apart;
  Bytes halo, strategy;
  HaloRow halo_out, halo_in;
  KeptBytes kept, normal;
  const NumberType type = options.type;
  const std::uint64_t size = size_of(type);
  const std::uint64_t directions = graphs.is_symmetric() ? 1 : 2;
  graph.add(m, directions, entry_bytes(model));
  graph.add(n, directions, 2 * sizeof(EdgeOffset) + 2 * sizeof(Vertex));
  const std::uint64_t copies =
      model.dropout > 0.0f && (attends || model.kind == ModelKind::gcn) ? 2 : 1;
  if (dataset.is_sparse()) {
    const std::uint64_t share = dataset.sparse.values.size() / (graphs.cuts.size() - 1) + 1;
    features.add(share, 1, 2 * sizeof(Vertex) + sizeof(EdgeOffset) + 2 * sizeof(float));
  } else {
    features.add(n, dataset.width * copies, size);
  }
  Scratch shared{type, graphs.cuts.size() > 2};
  for (std::uint64_t l = 0; l < model.layers; ++l) {
    const bool is_last = l + 1 == model.layers;
    const std::uint64_t in = l == 0 ? dataset.width : model.hidden;
    const std::uint64_t out = is_last ? dataset.classes : model.hidden;
    outputs.add(n, out, size);
    if (!is_last) normal.add_norm(model.norm, n, out, size);
    if (model.kind == ModelKind::gatv2) {
      // A row for each task of a walk, of weighted edges two.
      apart.add(n / 64 + m / 64, (model.edge_weights ? 2 : 1) * out);
    }
    kept.add_convolution(model, type, dataset.is_sparse(), l, n, in, out);
    shared.add(model, dataset.is_sparse(), l, in, out, model.layers == 1 ? 0 : model.hidden,
               model.skip || (model.residual && l > 0 && !is_last));
    add_layer(halo_out, halo_in, model, type, dataset.is_sparse(), l, in, out);
    const std::uint64_t matrices =
        (model.kind == ModelKind::gcn || model.kind == ModelKind::gat ? 1 : 2) +
        (model.skip ? 1 : 0);
    parameters.add(in, out * matrices, 6 * sizeof(float));
    if (attends && model.edge_weights) parameters.add(1, 2 * out, 6 * sizeof(float));
  }
  // Those of hidden layers' inputs but the last take the memory of the layers' outputs.
  gradients.add(n, dataset.classes + (model.layers == 1 ? 0 : model.hidden), size);
  scratch.add(n, shared.total(), 1);
  MemoryPlan plan;
  if (graphs.cuts.size() > 2) {
    if (graphs.is_symmetric()) {
      for (std::size_t i = 0; i < halo_in.slots.size(); ++i)
        halo_out.add(i, halo_in.slots.at(i), 1);
    } else {
      halo.add(halos.in, halo_in.received() + 2 * sizeof(Vertex), 1);
    }
    halo.add(halos.out, halo_out.received() + 2 * sizeof(Vertex), 1);
    const auto add_strategy = [&](std::uint64_t rows, const HaloRow& row) {
      strategy.add(bytes_of_strategy(options, graphs.cuts.size() - 1, n, m, rows, row.slots[0]), 1,
                   1);
    };
    add_strategy(halos.out, halo_out);
    if (!graphs.is_symmetric()) add_strategy(halos.in, halo_in);
    if (model.kind == ModelKind::gat) {
      // The matrix in two, for walks over own columns while the halo's rows come.
      halo.add(m, directions, entry_bytes(model));
      halo.add(n, directions, 2 * sizeof(EdgeOffset));
      halo.add(n, 2 * model.heads);
    }
  }
  plan.parts.emplace_back("parameters", parameters.value);
  if (options.sampled)
    add_batches(plan, dataset, options, n, m, graphs.cuts.back(), graphs.out->edges());
  if (options.sampled && !options.sampled->exact_evaluation) return plan;
  const auto kept_total = [&](bool is_shared) {
    Bytes sum;
    sum.add(kept.total(is_shared), 1, 1);
    sum.add(normal.total(is_shared), 1, 1);
    sum.add(apart.value, 1, 1);
    return sum.value;
  };
  // Evaluation alone has no backward pass: its layers share.
  const std::uint64_t kept_bytes = kept_total(model.recompute || options.sampled);
  if (!options.sampled) plan.recompute_saves = kept_total(false) - kept_total(true);
  plan.parts.insert(plan.parts.begin(), {{"graph", graph.value},
                                         {"features", features.value},
                                         {"outputs of layers", outputs.value},
                                         {"kept for backward", kept_bytes},
                                         {"gradients", gradients.value},
                                         {"scratch", scratch.value}});
  if (graphs.cuts.size() > 2) plan.parts.emplace_back("halo", halo.value);
  if (strategy.value != 0) plan.parts.emplace_back("strategy", strategy.value);
  return plan;
}

/// Whether what has `bytes` in all should be on each of several devices.
bool is_little(std::uint64_t bytes, std::uint64_t memory, int ranks) {
  constexpr std::uint64_t kShare = 16;
  return ranks > 1 && bytes <= memory / kShare;
}

}  // namespace

std::uint64_t MemoryPlan::total() const {
  Bytes sum;
  for (const auto& part : parts) sum.add(part.second, 1, 1);
  return sum.value;
}

std::string MemoryPlan::text() const {
  auto sorted = parts;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text;
  for (const auto& [name, bytes] : sorted)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, human_bytes(bytes));
  return text;
}

MemoryPlan plan_memory(const GraphPair& graphs, const Dataset& dataset,
                       const TrainOptions& options) {
  check(sized(options.model, dataset));
  const Halos halos(graphs);
  MemoryPlan plan = plan_of(graphs, halos, dataset, options);
  for (const Alternative& other : alternatives_to(options))
    plan.alternatives.emplace_back(other.text,
                                   plan_of(graphs, halos, dataset, other.options).total());
  return plan;
}

memory::Placement features_placement(std::uint64_t memory, int ranks, const Dataset& dataset,
                                     NumberType type) {
  const std::uint64_t all =
      exec::bytes_of(exec::bytes_of(dataset.vertices, dataset.width), size_of(type));
  return is_little(all, memory, ranks) ? memory::Placement::replicated : memory::Placement::device;
}

bool edges_are_replicated(std::uint64_t memory, int ranks, const graph::Graph& graph,
                          const TrainOptions& options) {
  Bytes all;
  all.add(graph.edges(), edge_bytes(options), 1);
  all.add(graph.vertices, 1, vertex_bytes(options));
  return options.sampled->edges == graph::EdgesPlacement::device &&
         is_little(all.value, memory, ranks);
}

void check_memory(const MemoryPlan& plan, const exec::Device& device, int ranks) {
  const auto asked = [&](std::uint64_t total) {
    return exec::bytes_of(total, device.is_cuda() ? 1 : static_cast<std::uint64_t>(ranks));
  };
  const std::uint64_t free = exec::free_memory(device);
  if (asked(plan.total()) <= free) return;
  std::string advice = plan.otherwise;
  for (const auto& [option, total] : plan.alternatives) {
    if (asked(total) > free) continue;
    advice = fmt::format("with {} a rank holds {}, which fits", option, human_bytes(total));
    break;
  }
  throw MemoryError(device.name(), asked(plan.total()), free,
                    fmt::format("the plan of a rank: {}; {}", plan.text(), advice));
}

}  // namespace warren::learn
