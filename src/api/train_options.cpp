// SPDX-License-Identifier: Apache-2.0
// What the options of a training mean: defaults, and what goes together.
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "warren/api/checks.hpp"
#include "warren/api/training.hpp"
#include "warren/core/error.hpp"
#include "warren/core/log.hpp"
#include "warren/core/parse_number.hpp"
#include "warren/core/quantity.hpp"
#include "warren/exec/device.hpp"
#include "warren/graph/partition.hpp"
#include "warren/sparse/strategy_text.hpp"
#include "warren/sparse/tuner.hpp"

#include "api/ready_data.hpp"

namespace warren::api {
namespace {

void check_number(const char* option, std::uint64_t value, std::uint64_t least,
                  std::uint64_t most) {
  require(value >= least && value <= most,
          fmt::format("{}: got {}, expected {} to {}", option, value, least, most));
}

void check_real(const char* option, double value, double most) {
  // NaN is neither.
  require(value >= 0.0 && value <= most,
          fmt::format("{}: got {}, expected 0 to {}", option, value, most));
}

void check_numbers(const TrainOptions& o) {
  constexpr std::uint64_t kMostEpochs = 10'000'000, kMostBatch = std::uint64_t{1} << 30;
  constexpr double kMostRate = 1e6, kMostDropout = 0.999;
  check_number("--layers", o.layers.value_or(2), 1, 64);
  check_number("--hidden", o.hidden.value_or(1), 1, std::uint64_t{1} << 20);
  check_number("--heads", o.heads, 1, 1024);
  check_number("--epochs", o.epochs, 1, kMostEpochs);
  check_number("--patience", o.patience, 0, kMostEpochs);
  check_number("--warmup", o.warmup, 0, 1'000'000);
  check_number("--checkpoint-every", o.checkpoint_every, 1, kMostEpochs);
  check_number("--checkpoint-batches", o.checkpoint_batches, 0, kMostBatch);
  check_number("--batch", o.batch.value_or(1), 1, kMostBatch);
  check_number("--negatives", o.negatives.value_or(1), 1, std::uint64_t{1} << 20);
  check_real("--dropout", o.dropout.value_or(0.0), kMostDropout);
  check_real("--lr", o.lr, kMostRate);
  check_real("--weight-decay", o.weight_decay.value_or(0.0), kMostRate);
  check_real("--clip", o.clip, kMostRate);
  check_real("--cached", o.cached.value_or(0.0), 1.0);
}

void check_names(const TrainOptions& o) {
  check_choice("--model", o.model, {"gcn", "sage", "gat", "gatv2", "gin"});
  check_choice("--mode", o.mode, {"full", "sampled"});
  check_choice("--task", o.task, {"node", "link"});
  check_choice("--type", o.type, {"float32", "float16", "bfloat16", "fp16", "bf16"});
  check_choice("--aggregate", o.aggregate, {"mean", "sum", "max"});
  check_choice("--optimizer", o.optimizer, {"adam", "adamw", "sgd"});
  check_choice("--schedule", o.schedule, {"constant", "cosine", "step"});
  if (!o.norm.empty()) check_choice("--norm", o.norm, {"none", "batch", "layer"});
  check_choice("--evaluation", o.evaluation.value_or("exact"), {"exact", "sampled"});
  check_choice("--placement", o.placement.value_or("auto"),
               {"auto", "device", "replicated", "host", "cached", "exchanged"});
  check_choice("--cache-by", o.cache_by.value_or("degree"), {"degree", "presampling"});
  check_choice("--edges", o.edges.value_or("auto"), {"auto", "device", "replicated", "host"});
}

std::string norm_of(const TrainOptions& o) {
  return !o.norm.empty() ? o.norm : (o.model == "gin" ? "layer" : "none");
}

/// By name what has no form that weighs edges, with what has one.
void check_edge_weights(const TrainOptions& o) {
  if (!o.edge_weights) return;
  constexpr const char* kWorks =
      "--edge-weights is for --model gcn, gat and gatv2, and sage with --aggregate mean or sum";
  require(o.task != "link",
          fmt::format("--task link has no form with weights of edges: {}; leave it out", kWorks));
  require(learn::can_weigh_edges(learn::parse_model(o.model), learn::parse_aggregate(o.aggregate)),
          fmt::format("{} has no form with weights of edges: {}; leave it out",
                      o.model == "sage" ? "--aggregate max" : "--model " + o.model, kWorks));
}

/// Of what batches alone have, nothing may be given.
void check_whole(const TrainOptions& o) {
  const std::pair<bool, const char*> all[] = {{o.fanout.has_value(), "--fanout"},
                                              {o.batch.has_value(), "--batch"},
                                              {o.evaluation.has_value(), "--evaluation"},
                                              {o.placement.has_value(), "--placement"},
                                              {o.cached.has_value(), "--cached"},
                                              {o.cache_by.has_value(), "--cache-by"},
                                              {o.edges.has_value(), "--edges"},
                                              {o.replace, "--replace"},
                                              {o.weighted, "--weighted"},
                                              {o.checkpoint_batches != 0, "--checkpoint-batches"},
                                              {o.capture_batches, "--capture-batches"}};
  std::vector<std::string> given;
  for (const auto& [is_given, option] : all) {
    if (is_given) given.emplace_back(option);
  }
  require(given.empty(), fmt::format("{} {} for --mode sampled", fmt::join(given, " and "),
                                     given.size() == 1 ? "is" : "are"));
}

void check_together(const TrainOptions& o) {
  const bool is_link = o.task == "link", is_sampled = o.mode == "sampled";
  require(!is_link || is_sampled, "--task link trains on batches of edges: give --mode sampled");
  require(is_link || !o.negatives, "--negatives is for --task link");
  if (!is_sampled) check_whole(o);
  check_edge_weights(o);
  require(!o.capture_batches || !is_link, "--capture-batches is for --task node");
  require(!is_link || o.class_weights.value_or("none") == "none",
          "--class-weights is for --task node");
  require(!is_sampled || !o.recompute,
          "--recompute is for --mode full: batches' layers keep little, and the layers of exact "
          "evaluation keep nothing");
  require(!o.resume || !o.checkpoint.empty(), "--resume needs --checkpoint DIR");
  require(!o.overwrite || !o.checkpoint.empty(), "--overwrite needs --checkpoint DIR");
  require(!o.resume || !o.overwrite, "--resume goes on with what --overwrite replaces: give one");
  require(!o.allow_changes || o.resume, "--allow-changes is for --resume");
  require(!o.residual || !o.skip,
          "--residual adds a layer's input as it is, --skip by a matrix: give one");
  require(
      !o.capture_batches || norm_of(o) != "batch",
      "--capture-batches pads batches, whose rows --norm batch would count: give --norm none or "
      "layer");
  require(!(o.cached || o.cache_by) || o.placement == "cached",
          "--cached and --cache-by are for --placement cached");
}

/// One hop for each layer: an only fanout is every layer's.
void add_sampled(learn::TrainOptions& train, const TrainOptions& o) {
  learn::SampledOptions sampled;
  sampled.fanouts = o.fanout.value_or(std::vector<std::int64_t>{15, 10});
  check_fanouts(sampled.fanouts);
  const std::string given = fmt::format("{}", fmt::join(sampled.fanouts, ","));
  if (o.layers && sampled.fanouts.size() == 1)
    sampled.fanouts.resize(*o.layers, sampled.fanouts[0]);
  require(!o.layers || *o.layers == sampled.fanouts.size(),
          fmt::format("--layers {} and --fanout {}: there is one hop for each layer",
                      o.layers.value_or(0), given));
  train.model.layers = sampled.fanouts.size();
  sampled.batch = o.batch.value_or(sampled.batch);
  sampled.exact_evaluation = o.evaluation != "sampled";
  if (o.placement == "replicated") sampled.features = memory::Placement::replicated;
  if (o.placement == "host" || o.placement == "cached") sampled.features = memory::Placement::host;
  sampled.exchange_features = o.placement == "exchanged";
  if (o.placement == "cached") sampled.cached = o.cached.value_or(0.1);
  sampled.pad = o.capture_batches;
  if (o.cache_by == "presampling") sampled.cache_by = learn::CacheBy::presampling;
  if (o.edges == "host") sampled.edges = graph::EdgesPlacement::host;
  sampled.replicate_edges = o.edges == "replicated";
  sampled.replace = o.replace;
  sampled.weighted = o.weighted;
  train.checkpoint_batches = o.checkpoint_batches;
  train.sampled = sampled;
}

void check_strategy(const TrainOptions& o) {
  require(o.workgroup >= 0, fmt::format("--workgroup: got {}, expected 0 or more", o.workgroup));
  const std::string name = sparse::strategy_name(o.strategy.value_or(""));
  require(o.workgroup == 0 || name == "fused" || name == "auto",
          "--workgroup is for --strategy fused and auto");
  if (!o.strategy) return;
  require(!o.deterministic || name == *o.strategy || !sparse::is_tuned(*o.strategy),
          "--deterministic takes no parameters that were measured: leave :auto out of --strategy");
  require(o.mode == "full",
          fmt::format("--strategy {} is for --mode full: rows of batches are gathered before their "
                      "layers; leave it out",
                      *o.strategy));
  const bool sums =
      o.model == "gcn" || o.model == "gin" || (o.model == "sage" && o.aggregate != "max");
  require(sums,
          fmt::format("--strategy {} is for sums over neighbours (--model gcn, gin, and sage "
                      "with --aggregate mean or sum): {} reads neighbours' rows by kernels of "
                      "its own, for which they are brought in one way; leave it out",
                      *o.strategy, o.model == "sage" ? "--aggregate max" : "--model " + o.model));
}

learn::ExchangeOptions exchange_options(const TrainOptions& o) {
  learn::ExchangeOptions exchange;
  exchange.is_deterministic = o.deterministic;
  exchange.workgroup = o.workgroup;
  if (!o.strategy) return exchange;
  exchange.is_tuned = sparse::is_tuned(*o.strategy);
  if (exchange.is_tuned) {
    exchange.strategy = sparse::tuned_strategy(*o.strategy);
    exchange.table = sparse::plan_table_path();
  } else {
    exchange.product = sparse::parse_product(*o.strategy);
    exchange.product->workgroup = o.workgroup;
  }
  return exchange;
}

/// What only the team tells.
void check_strategy_on(const TrainOptions& o, int ranks, bool has_gpu, TrainingData& data) {
  if (!o.strategy) return;
  require(ranks > 1, fmt::format("--strategy {}: one rank exchanges nothing; leave it out, or give "
                                 "--devices 2 or more",
                                 *o.strategy));
  if (o.workgroup != 0) graph::check_workgroup(o.workgroup, ranks);
  const std::string warning = strategy_warning(*o.strategy, ranks, has_gpu);
  if (!warning.empty()) data.warnings.push_back(warning);
}

/// Of GCN, whose rows and columns of such vertices are 0.
void warn_of_degrees(const learn::ModelOptions& model, TrainingData& data) {
  if (!model.edge_weights || model.kind != learn::ModelKind::gcn) return;
  const graph::Graph& graph = *data.graphs.out;
  std::uint64_t count = 0;
  for (Vertex v = 0; v < graph.vertices; ++v)
    count += learn::weighted_degree(graph, v) + 1.0 <= 0.0 ? 1 : 0;
  if (count != 0)
    data.warnings.push_back(fmt::format(
        "--edge-weights: of {} of {} vertices the weights of the edges and the loop's 1 add up to "
        "0 or less: they gather nothing, and nobody gathers from them",
        count, graph.vertices));
}

learn::ModelOptions model_options(const TrainOptions& o) {
  learn::ModelOptions model;
  model.kind = learn::parse_model(o.model);
  model.layers = o.layers.value_or(2);
  model.hidden = o.hidden.value_or(64);
  model.heads = o.heads;
  model.dropout =
      static_cast<float>(o.dropout.value_or(learn::is_attention(model.kind) ? 0.6 : 0.5));
  model.aggregate = learn::parse_aggregate(o.aggregate);
  model.norm = learn::parse_norm(norm_of(o));
  model.residual = o.residual;
  model.skip = o.skip;
  model.edge_weights = o.edge_weights;
  model.recompute = o.recompute;
  model.seed = o.seed;
  return model;
}

learn::OptimizerOptions optimizer_options(const TrainOptions& o) {
  learn::OptimizerOptions optimizer;
  if (o.optimizer == "adamw") optimizer.kind = learn::OptimizerKind::adamw;
  if (o.optimizer == "sgd") optimizer.kind = learn::OptimizerKind::sgd;
  if (o.schedule == "cosine") optimizer.schedule = learn::Schedule::cosine;
  if (o.schedule == "step") optimizer.schedule = learn::Schedule::step;
  optimizer.rate = static_cast<float>(o.lr);
  optimizer.weight_decay =
      static_cast<float>(o.weight_decay.value_or(o.task == "link" ? 0.0 : 5e-4));
  optimizer.clip = static_cast<float>(o.clip);
  optimizer.warmup = o.warmup;
  return optimizer;
}

std::optional<std::vector<float>> class_weights(const TrainOptions& o) {
  const std::string text = o.class_weights.value_or("none");
  if (text == "none") return std::nullopt;
  if (text == "balanced") return std::vector<float>{};
  auto weights = parse_numbers<float>(text);
  require(weights &&
              std::ranges::all_of(*weights, [](float w) { return w >= 0.0f && std::isfinite(w); }),
          fmt::format("--class-weights: got \"{}\", expected balanced, none, or a number for each "
                      "class, 0 or more, with commas",
                      text));
  return weights;
}

/// Of `share` training vertices of a rank. An epoch of few updates teaches next to nothing: three
/// of 128 reach 90% on generated sets of 4,000 vertices, of 64 they do not.
std::uint64_t default_batch(std::uint64_t share) {
  constexpr std::uint64_t kLeast = 8, kMost = learn::SampledOptions{}.batch, kBatches = 128;
  return std::min(share, std::clamp(share / kBatches, kLeast, kMost));
}

}  // namespace

learn::TrainOptions train_options(const TrainOptions& o) {
  check_names(o);
  check_together(o);
  check_numbers(o);
  check_strategy(o);
  learn::TrainOptions train;
  train.model = model_options(o);
  if (o.mode == "sampled") add_sampled(train, o);
  if (o.task == "link") train.links = {nullptr, o.negatives.value_or(1)};
  train.optimizer = optimizer_options(o);
  train.exchange = exchange_options(o);
  train.epochs = o.epochs;
  train.patience = o.patience;
  train.class_weights = class_weights(o);
  train.capture = o.capture;
  train.checkpoint = o.checkpoint;
  train.checkpoint_every = o.checkpoint_every;
  train.allow_tf32 = o.allow_tf32;
  if (o.tensor_sums)
    train.tensor_sums = *o.tensor_sums ? learn::TensorCoreUse::on : learn::TensorCoreUse::off;
  train.type = learn::parse_type(o.type);
  train.inputs["normalize"] = o.normalize;
  train.inputs["reorder"] = o.reorder;
  // Of what a rank's share allows, fit_to() takes less.
  if (train.sampled) train.inputs["batch"] = o.batch ? fmt::format("{}", *o.batch) : "auto";
  return train;
}

Needs needs_of(const learn::TrainOptions& options) {
  Needs needs;
  needs.dense =
      options.sampled.has_value() || (options.model.kind == learn::ModelKind::sage &&
                                      options.model.aggregate == learn::SageAggregate::max);
  const bool draws_by_weights = options.sampled && options.sampled->weighted;
  needs.weights = options.model.edge_weights || draws_by_weights;
  needs.negative_weights = options.model.edge_weights && !draws_by_weights;
  needs.links = options.links.has_value();
  if (needs.links) needs.unlabelled = options.model.hidden;
  return needs;
}

const char* reason_of_weights(const Needs& needs) {
  return needs.negative_weights ? "--edge-weights sums over neighbours by them"
                                : "--weighted draws neighbours by them";
}

namespace {

/// `memory`: bytes of a rank's GPU; 0 on the CPU.
void fit_batches(TrainingData& data, const TrainOptions& asked, int ranks, std::uint64_t memory,
                 learn::TrainOptions& train) {
  if (!train.sampled) return;
  if (train.links) train.links->split = data.links;
  const char* what = train.links ? "edges" : "vertices";
  const std::uint64_t training = train.links ? data.links->training.size() : data.dataset.counts[0];
  const auto count = static_cast<std::uint64_t>(ranks);
  require(!asked.batch || *asked.batch <= training,
          fmt::format("--batch {}: there are {} training {}; a batch has that many at most",
                      asked.batch.value_or(0), training, what));
  const std::uint64_t share = std::max<std::uint64_t>(1, (training + count - 1) / count);
  if (asked.batch && *asked.batch > share)
    data.warnings.push_back(
        fmt::format("--batch {}: each of {} ranks has {} training {} at most; batches are "
                    "of that many",
                    *asked.batch, ranks, share, what));
  train.sampled->batch =
      asked.batch || train.links ? std::min(train.sampled->batch, share) : default_batch(share);
  if (asked.placement.value_or("auto") == "auto")
    train.sampled->features = learn::features_placement(memory, ranks, data.dataset, train.type);
  if (asked.edges.value_or("auto") == "auto")
    train.sampled->replicate_edges =
        learn::edges_are_replicated(memory, ranks, *data.graphs.out, train);
}

learn::MemoryPlan plan_of(TrainingData& data, const learn::TrainOptions& train, const RunInfo& ran,
                          const std::shared_ptr<exec::MemoryResource>& memory) {
  learn::MemoryPlan plan =
      learn::plan_memory(data.graphs, data.dataset, train, device_of_rank(ran, memory));
  const std::uint64_t saves = train.model.recompute ? 0 : plan.recompute_saves;
  log_info(
      fmt::format("a rank will hold {}: {}{}", human_bytes(plan.total()), plan.text(),
                  saves == 0 ? "" : fmt::format("; recompute would save {}", human_bytes(saves))));
  if (train.model.recompute && plan.recompute_saves == 0)
    data.warnings.emplace_back(
        "--recompute saves nothing of this model: no two layers keep the same beside their "
        "outputs");
  return plan;
}

}  // namespace

exec::Device device_of_rank(const RunInfo& ran,
                            const std::shared_ptr<exec::MemoryResource>& memory) {
  if (ran.device == DeviceKind::cuda) return exec::Device::cuda(0).with_memory(memory);
  const int threads = ran.threads > 0 ? ran.threads : exec::hardware_threads();
  return exec::Device::cpu(std::max(1, threads / ran.devices)).with_memory(memory);
}

learn::MemoryPlan fit_to(TrainingData& data, const TrainOptions& asked, const RunInfo& ran,
                         learn::TrainOptions& train,
                         const std::shared_ptr<exec::MemoryResource>& resource) {
  const bool on_gpu = ran.device == DeviceKind::cuda;
  train.inputs["normalize"] = data.normalize;
  check_strategy_on(asked, ran.devices, on_gpu, data);
  warn_of_degrees(train.model, data);
  const std::uint64_t memory = on_gpu ? exec::Device::cuda(0).memory().total : 0;
  fit_batches(data, asked, ran.devices, memory, train);
  learn::ModelOptions sized = train.model;
  sized.features = data.dataset.width;
  sized.classes = data.dataset.classes;
  learn::check(sized);
  return plan_of(data, train, ran, resource);
}

}  // namespace warren::api
