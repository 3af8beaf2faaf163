// SPDX-License-Identifier: Apache-2.0
#include "warren/learn/memory_plan.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/exec/dry_run.hpp"
#include "warren/exec/memory.hpp"
#include "warren/team/dry.hpp"

#include "learn/batch/batch_parts.hpp"
#include "learn/train/whole_sizes.hpp"

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

/// What training on batches needs beside the whole graph's parts: the lists that are sampled and
/// the table of features by their sizes, all else by a dry run of the largest batches.
void add_batches(MemoryPlan& plan, const exec::Device& device, const GraphPair& graphs,
                 const Dataset& dataset, const TrainOptions& options) {
  const SampledOptions& sampled = *options.sampled;
  const std::uint64_t all = graphs.cuts.back();
  const std::uint64_t size = size_of(options.type);
  // Of the ranks with the most vertices and edges.
  std::uint64_t n = 0;
  std::uint64_t m = 0;
  for (std::size_t q = 0; q + 1 < graphs.cuts.size(); ++q) {
    n = std::max(n, graphs.cuts[q + 1] - graphs.cuts[q]);
    m = std::max(m, graphs.out->offsets[graphs.cuts[q + 1]] - graphs.out->offsets[graphs.cuts[q]]);
  }
  Bytes store, features;
  if (sampled.edges == graph::EdgesPlacement::device)
    store.add(sampled.replicate_edges ? graphs.out->edges() : m, edge_bytes(options), 1);
  store.add(sampled.replicate_edges ? all : n, 1, vertex_bytes(options));
  if (sampled.features != memory::Placement::host)
    features.add(sampled.features == memory::Placement::replicated ? all : n, dataset.width, size);
  features.add(sampled.cached > 0.0
                   ? static_cast<std::uint64_t>(sampled.cached * static_cast<double>(all))
                   : 0,
               dataset.width, size);
  const exec::DryRun run(device);
  const auto team = team::dry_team(exec::Device::cpu(1), static_cast<int>(graphs.cuts.size()) - 1);
  const BatchBytes batches = dry_batches(*team, graphs, dataset, options);
  features.add(batches.features, 1, 1);
  plan.parts.emplace_back("parameters", batches.parameters);
  plan.parts.emplace_back("store", store.value);
  plan.parts.emplace_back("features of batches", features.value);
  plan.parts.emplace_back("samplers", batches.samplers);
  plan.parts.emplace_back("layers of batches", batches.layers);
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

/// Which passes over the whole graph are planned.
enum class WholePasses { training, evaluation };

/// What a rank's part of the whole graph holds: a training's first epoch and its evaluation, or of
/// sampled batches and of predictions the evaluation, are run dry.
MemoryPlan plan_whole(const exec::Device& device, int ranks, const WholeSizes& sizes,
                      const TrainOptions& options, WholePasses passes) {
  const exec::DryRun run(device);
  const auto team = team::dry_team(exec::Device::cpu(1), ranks);
  WholeGraph whole(*team, sizes, options);
  const std::uint64_t before = run.use().current;
  Updates updates(whole.context.stream(), options, whole.model.parameters());
  const std::uint64_t of_updates = run.use().current - before;
  if (passes == WholePasses::training)
    whole.train(updates, options.model.seed, 1, options.optimizer.rate);
  whole.enqueue_evaluation(options.model.seed);
  const Neighbourhood& both = whole.model.neighbourhood();
  const Model::Bytes layers = whole.model.bytes();
  std::uint64_t halo = both.out->whole().halo_bytes();
  std::uint64_t graph = both.out->bytes();
  if (!sizes.is_symmetric) {
    halo += both.in->whole().halo_bytes();
    graph += both.in->bytes();
  }
  MemoryPlan plan;
  constexpr std::size_t kScratch = 5;
  plan.parts = {{"graph", graph},
                {"features", whole.features.bytes()},
                {"outputs of layers", layers.outputs},
                {"kept for backward", layers.kept},
                {"gradients", layers.gradients},
                {"scratch", 0},
                {"parameters", whole.model.parameters().bytes() + of_updates}};
  if (ranks > 1) plan.parts.emplace_back("halo", halo);
  std::uint64_t strategy = 0;
  const auto add_strategy = [&](const Neighbours& one) {
    const sparse::DistributedMatrix& matrix = one.whole();
    strategy += bytes_of_strategy(options, static_cast<std::uint64_t>(ranks), matrix.rows(),
                                  matrix.entries(), matrix.halo(), matrix.halo_row_bytes());
  };
  // Blocks of the workspace, and what is of no other part.
  plan.parts[kScratch].second = run.use().peak - std::min(run.use().peak, plan.total());
  if (ranks == 1) return plan;
  add_strategy(*both.out);
  if (!sizes.is_symmetric) add_strategy(*both.in);
  if (strategy != 0) plan.parts.emplace_back("strategy", strategy);
  return plan;
}

/// Plans of one dataset on one team by different options.
class Planner {
 public:
  Planner(const exec::Device& device, const GraphPair& graphs, const Dataset& dataset,
          const TrainOptions& options, WholePasses passes)
      : device_(device), graphs_(graphs), dataset_(dataset), passes_(passes) {
    if (has_whole(options)) sizes_ = whole_sizes(device, graphs, dataset, options.model);
  }

  /// Of the rank that holds most.
  [[nodiscard]] MemoryPlan plan(const TrainOptions& given) const {
    TrainOptions options = given;
    options.model = sized(given.model, dataset_);
    const auto ranks = static_cast<int>(graphs_.cuts.size()) - 1;
    MemoryPlan most;
    if (has_whole(options)) {
      // Evaluation alone has no backward pass: its layers share what they keep.
      if (options.sampled) options.model.recompute = true;
      for (const WholeSizes& sizes : sizes_) {
        MemoryPlan one = plan_whole(device_, ranks, sizes, options, passes_);
        if (most.parts.empty() || one.total() > most.total()) most = std::move(one);
      }
    }
    if (!options.sampled) return most;
    // What evaluates shares the parameters of what trains.
    std::erase_if(most.parts, [](const auto& part) { return part.first == "parameters"; });
    options.model.recompute = false;
    add_batches(most, device_, graphs_, dataset_, options);
    return most;
  }

 private:
  [[nodiscard]] static bool has_whole(const TrainOptions& options) {
    return !options.sampled || options.sampled->exact_evaluation;
  }

  const exec::Device& device_;
  const GraphPair& graphs_;
  const Dataset& dataset_;
  WholePasses passes_;
  std::vector<WholeSizes> sizes_;
};

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

namespace {

exec::Device planned_device(const GraphPair& graphs, const std::optional<exec::Device>& device) {
  const auto ranks = static_cast<int>(graphs.cuts.size()) - 1;
  return device ? *device : exec::Device::cpu(std::max(1, exec::hardware_threads() / ranks));
}

}  // namespace

MemoryPlan plan_memory(const GraphPair& graphs, const Dataset& dataset, const TrainOptions& options,
                       const std::optional<exec::Device>& device) {
  check(sized(options.model, dataset));
  const exec::Device planned = planned_device(graphs, device);
  const auto passes = options.sampled ? WholePasses::evaluation : WholePasses::training;
  const Planner planner(planned, graphs, dataset, options, passes);
  MemoryPlan plan = planner.plan(options);
  for (const Alternative& other : alternatives_to(options))
    plan.alternatives.emplace_back(other.text, planner.plan(other.options).total());
  if (options.sampled) return plan;
  TrainOptions other = options;
  other.model.recompute = !options.model.recompute;
  const std::uint64_t here = plan.total();
  const std::uint64_t there = planner.plan(other).total();
  plan.recompute_saves = std::max(here, there) - std::min(here, there);
  return plan;
}

MemoryPlan plan_prediction(const GraphPair& graphs, const Dataset& dataset,
                           const TrainOptions& options, const std::optional<exec::Device>& device) {
  check(sized(options.model, dataset));
  require(!options.sampled, "predictions are of the whole graph");
  const exec::Device planned = planned_device(graphs, device);
  MemoryPlan plan =
      Planner(planned, graphs, dataset, options, WholePasses::evaluation).plan(options);
  // Sizes and type are the model's.
  plan.otherwise = "on GPUs each of --devices N holds a part";
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
