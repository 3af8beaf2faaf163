// SPDX-License-Identifier: Apache-2.0
#include "train_options.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/core/log.hpp"
#include "warren/learn/memory_plan.hpp"

#include "command.hpp"
#include "fanouts.hpp"
#include "option_rules.hpp"
#include "stored_options.hpp"

namespace warren::app {
namespace {

void add_model_options(CLI::App& train, TrainCommand& o) {
  const auto named = [&](const char* option, std::string& value, const char* description) {
    train.add_option(option, value, description)->type_name("NAME");
  };
  named("--model", o.model, "gcn, sage, gat, gatv2, gin");
  named("--mode", o.mode,
        "full (every epoch one pass over the whole graph) or sampled (batches of sampled "
        "neighbourhoods)");
  named("--task", o.task,
        "node (classes of vertices) or link (which vertices are linked; needs --mode sampled)");
  named("--type", o.type,
        "Storage of features, activations and their gradients: float32, float16 (the loss is "
        "scaled), "
        "bfloat16; also fp16, bf16");
  add_number(train, "--layers", o.layers, "Layers (2; sampled: as many as fanouts)", "L", 1, 64);
  add_number(train, "--hidden", o.hidden,
             "Width of hidden layers; of gat and gatv2, all heads together (64)", "K", 1, 1 << 20);
  add_number(train, "--heads", o.heads,
             "Of gat and gatv2: heads of hidden layers; the last has one (8)", "H", 1, 1024);
  named("--aggregate", o.aggregate, "Of sage: mean, sum, max");
  named("--norm", o.norm, "Of hidden layers: none, batch, layer (none; gin: layer)");
  train.add_flag("--residual", o.residual, "Add a hidden layer's input to its output");
  train
      .add_flag("--skip", o.skip,
                "Add every layer's input, times a matrix of its own, to its output")
      ->excludes("--residual");
  train
      .add_option(
          "--dropout", o.dropout,
          "Probability, of hidden layers; of gcn, gat and gatv2 of the features, too, of gat "
          "and gatv2 of edges (0.5; gat, gatv2: 0.6)")
      ->type_name("P")
      ->check(real_number(0.0, 0.999));
  train.add_flag("--recompute", o.recompute,
                 "Of full: less memory for more time, with the same numbers: what layers keep for "
                 "the backward pass is made again in it");
  train.add_flag("--no-capture", o.no_capture,
                 "GPUs, of full: every kernel of an epoch is started by itself, with the same "
                 "numbers");
  train.add_flag(
      "--tensor-sums", o.tensor_sums,
      "GPUs, types of 16 bits: GAT's sums over neighbours by tensor cores wherever they can, as "
      "without a choice so far");
  train.add_flag("--no-tensor-sums", o.no_tensor_sums, "GAT's sums never by tensor cores")
      ->excludes("--tensor-sums");
  train.add_flag("--no-tf32", o.exact_products, "GPUs: dense products in full float32");
}

void add_optimizer_options(CLI::App& train, TrainCommand& o) {
  const auto positive = real_number(0.0, 1e6);
  train.add_option("--lr", o.rate, "Learning rate (0.01)")->type_name("R")->check(positive);
  train
      .add_option("--weight-decay", o.weight_decay,
                  "Of gcn on the first layer, else on all (0.0005; --task link: 0)")
      ->type_name("W")
      ->check(positive);
  train.add_option("--optimizer", o.optimizer, "adam, adamw, sgd (momentum 0.9)")
      ->type_name("NAME");
  train.add_option("--schedule", o.schedule, "Of the learning rate: constant, cosine, step")
      ->type_name("NAME");
  add_number(train, "--warmup", o.warmup, "Epochs in which the learning rate rises (0)", "N", 0,
             1000000);
  train.add_option("--clip", o.clip, "Largest length of the gradient (0: any)")
      ->type_name("LENGTH")
      ->check(positive);
  add_number(train, "--epochs", o.epochs, "Epochs (200)", "N", 1, 10000000);
  add_number(train, "--patience", o.patience,
             "Stop after N epochs without a better validation, once it is above chance (0: never)",
             "N", 0, 10000000);
  train.add_option("--checkpoint", o.checkpoint, "Keep the model and the state in this folder")
      ->type_name("DIR");
  add_number(train, "--checkpoint-every", o.checkpoint_every, "Epochs between checkpoints (20)",
             "N", 1, 10000000);
  train.add_flag("--resume", o.resume,
                 "Go on from --checkpoint's state, where there is one, with its options");
  train.add_flag("--overwrite", o.overwrite, "Replace the model that --checkpoint's folder has")
      ->excludes("--resume");
  train
      .add_flag("--allow-changes", o.allow_changes,
                "Of --resume: go on with another --lr, --type, --dropout or the like than before")
      ->needs("--resume");
  train
      .add_option("--class-weights", o.class_weights,
                  "Not there yet, and refused: classes count alike")
      ->type_name("HOW")
      ->expected(0, 1);
  train
      .add_option("--edge-weights", o.edge_weights,
                  "Not there yet, and refused: no layer reads edges' weights")
      ->type_name("HOW")
      ->expected(0, 1);
}

void add_sampled_options(CLI::App& train, TrainCommand& o) {
  train
      .add_option(
          "--fanout", o.fanout,
          "Of sampled: neighbours of each vertex, hop by hop from the batch's own vertices; "
          "-1 for all (15,10)")
      ->type_name("F1,F2,...");
  add_number(train, "--batch", o.batch,
             "Of sampled: vertices, of links edges, of a batch, per rank (1024; of few training "
             "vertices a 128th of a rank's, 8 at least)",
             "B", 1, 1 << 30);
  add_number(train, "--negatives", o.negatives,
             "Of --task link: false targets drawn for each edge (1)", "N", 1, 1 << 20);
  train
      .add_option("--evaluation", o.evaluation,
                  "Of sampled: exact (over the whole graph) or sampled, which needs less memory "
                  "(exact)")
      ->type_name("HOW");
  train
      .add_option(
          "--placement", o.placement,
          "Of sampled, the features: device (spread over the devices), replicated, host, "
          "cached (in host memory, the most wanted rows on the devices, too), auto "
          "(replicated on several GPUs of which they fill a sixteenth at most, else device) "
          "(auto)")
      ->type_name("WHERE");
  train.add_option("--cached", o.cached, "Of --placement cached: the share of rows (0.1)")
      ->type_name("SHARE")
      ->check(real_number(0.0, 1.0));
  train
      .add_flag(
          "--capture-batches", o.capture_batches,
          "Of sampled, --task node: pad batches to one shape, so that on GPUs a batch's forward "
          "and backward pass is started by one call; for batches so small that starting their "
          "kernels takes longer than running them. Not with --norm batch")
      ->excludes("--no-capture");
  train
      .add_option("--cache-by", o.cache_by,
                  "Of --placement cached, which rows: degree (most edges lead to them) or "
                  "presampling (most wanted by batches sampled beforehand) (degree)")
      ->type_name("HOW");
  train
      .add_option("--edges", o.edges,
                  "Of sampled, where the lists that are sampled lie: device (each device has its "
                  "part), replicated, host, auto (as of --placement) (auto)")
      ->type_name("WHERE");
  train.add_flag("--replace", o.replace,
                 "Of sampled: each draw is of all neighbours: the same one may come again");
  train.add_flag("--weighted", o.weighted,
                 "Of sampled: draws in proportion to the weights of the graph (--weights)");
  add_number(train, "--checkpoint-batches", o.checkpoint_batches,
             "Of sampled: batches between checkpoints within an epoch (0: none)", "N", 0, 1 << 30);
}

/// One hop for each layer: an only fanout is every layer's.
void add_sampled(learn::TrainOptions& train, const TrainCommand& o) {
  check_choice("--evaluation", o.evaluation, {"exact", "sampled"}, {});
  check_choice("--placement", o.placement, {"auto", "device", "replicated", "host", "cached"}, {});
  check_choice("--cache-by", o.cache_by, {"degree", "presampling"}, {});
  check_choice("--edges", o.edges, {"auto", "device", "replicated", "host"}, {});
  require(!(o.has_cached || o.has_cache_by) || o.placement == "cached",
          "--cached and --cache-by are for --placement cached");
  learn::SampledOptions sampled;
  sampled.fanouts = parse_fanouts(o.fanout);
  if (o.layers && sampled.fanouts.size() == 1)
    sampled.fanouts.resize(*o.layers, sampled.fanouts[0]);
  require(!o.layers || *o.layers == sampled.fanouts.size(),
          fmt::format("--layers {} and --fanout {}: there is one hop for each layer",
                      o.layers.value_or(0), o.fanout));
  train.model.layers = sampled.fanouts.size();
  sampled.batch = o.batch.value_or(sampled.batch);
  sampled.exact_evaluation = o.evaluation == "exact";
  if (o.placement == "replicated") sampled.features = memory::Placement::replicated;
  if (o.placement == "host" || o.placement == "cached") sampled.features = memory::Placement::host;
  if (o.placement == "cached") sampled.cached = o.cached;
  sampled.pad = o.capture_batches;
  if (o.cache_by == "presampling") sampled.cache_by = learn::CacheBy::presampling;
  if (o.edges == "host") sampled.edges = graph::EdgesPlacement::host;
  sampled.replicate_edges = o.edges == "replicated";
  sampled.replace = o.replace;
  sampled.weighted = o.weighted;
  train.checkpoint_batches = o.checkpoint_batches;
  train.sampled = sampled;
}

}  // namespace

void add_train_options(CLI::App& train, TrainCommand& command) {
  add_dataset_options(train, command.dataset);
  add_model_options(train, command);
  add_optimizer_options(train, command);
  add_sampled_options(train, command);
  add_common_options(train, command.common);
}

learn::TrainOptions train_options(const TrainCommand& o) {
  check_choice("--model", o.model, {"gcn", "sage", "gat", "gatv2", "gin"}, {});
  check_choice("--mode", o.mode, {"full", "sampled"}, {});
  check_choice("--task", o.task, {"node", "link"}, {});
  const bool is_link = o.task == "link";
  require(!is_link || o.mode == "sampled",
          "--task link trains on batches of edges: give --mode sampled");
  require(is_link || !o.negatives, "--negatives is for --task link");
  check_choice("--type", o.type, {"float32", "float16", "bfloat16", "fp16", "bf16"}, {});
  check_choice("--aggregate", o.aggregate, {"mean", "sum", "max"}, {});
  check_choice("--optimizer", o.optimizer, {"adam", "adamw", "sgd"}, {});
  check_choice("--schedule", o.schedule, {"constant", "cosine", "step"}, {});
  const bool is_sampled = o.mode == "sampled";
  require(is_sampled || !(o.has_fanout || o.batch || o.has_evaluation || o.has_placement ||
                          o.has_cached || o.has_cache_by || o.has_edges || o.replace ||
                          o.weighted || o.checkpoint_batches != 0 || o.capture_batches),
          "--fanout, --batch, --evaluation, --placement, --cached, --cache-by, --edges, --replace, "
          "--weighted, --checkpoint-batches and --capture-batches are for --mode sampled");
  require(!o.capture_batches || !is_link, "--capture-batches is for --task node");
  require(!is_sampled || !o.recompute,
          "--recompute is for --mode full: batches' layers keep little, and the layers of exact "
          "evaluation keep nothing");
  require(!o.resume || !o.checkpoint.empty(), "--resume needs --checkpoint DIR");
  require(!o.overwrite || !o.checkpoint.empty(), "--overwrite needs --checkpoint DIR");
  require(!o.has_class_weights,
          "--class-weights is not there yet: every class counts alike in the loss; leave it out");
  require(!o.has_edge_weights,
          "--edge-weights is not there yet: no layer reads edges' weights, they only steer which "
          "neighbours --mode sampled --weighted draws; leave it out");
  const std::string norm = !o.norm.empty() ? o.norm : (o.model == "gin" ? "layer" : "none");
  check_choice("--norm", norm, {"none", "batch", "layer"}, {});
  require(
      !o.capture_batches || norm != "batch",
      "--capture-batches pads batches, whose rows --norm batch would count: give --norm none or "
      "layer");
  learn::TrainOptions train;
  train.model.kind = learn::parse_model(o.model);
  const bool attends = learn::is_attention(train.model.kind);
  train.model.layers = o.layers.value_or(2);
  if (is_sampled) add_sampled(train, o);
  if (is_link) train.links = {nullptr, o.negatives.value_or(1)};
  train.model.hidden = o.hidden.value_or(64);
  train.model.heads = o.heads;
  train.model.dropout = static_cast<float>(o.dropout.value_or(attends ? 0.6 : 0.5));
  train.model.aggregate = learn::parse_aggregate(o.aggregate);
  train.model.norm = learn::parse_norm(norm);
  train.model.residual = o.residual;
  train.model.skip = o.skip;
  train.model.recompute = o.recompute;
  train.capture = !o.no_capture;
  train.model.seed = o.common.seed;
  train.optimizer.kind = learn::OptimizerKind::adam;
  if (o.optimizer == "adamw") train.optimizer.kind = learn::OptimizerKind::adamw;
  if (o.optimizer == "sgd") train.optimizer.kind = learn::OptimizerKind::sgd;
  train.optimizer.schedule = learn::Schedule::constant;
  if (o.schedule == "cosine") train.optimizer.schedule = learn::Schedule::cosine;
  if (o.schedule == "step") train.optimizer.schedule = learn::Schedule::step;
  train.optimizer.rate = static_cast<float>(o.rate.value_or(0.01));
  train.optimizer.weight_decay = static_cast<float>(o.weight_decay.value_or(is_link ? 0.0 : 5e-4));
  train.optimizer.clip = static_cast<float>(o.clip);
  train.optimizer.warmup = o.warmup;
  train.epochs = o.epochs;
  train.patience = o.patience;
  train.checkpoint = o.checkpoint;
  train.checkpoint_every = o.checkpoint_every;
  train.allow_tf32 = !o.exact_products;
  if (o.tensor_sums) train.tensor_sums = learn::TensorCoreUse::on;
  if (o.no_tensor_sums) train.tensor_sums = learn::TensorCoreUse::off;
  train.type = learn::parse_type(o.type);
  train.inputs = input_settings(o.dataset);
  // Of what a rank's share allows, fit_to() takes less.
  if (is_sampled) train.inputs["batch"] = o.batch ? fmt::format("{}", *o.batch) : "auto";
  return train;
}

namespace {

/// Of `share` training vertices of a rank. An epoch of few updates teaches next to nothing: three
/// of 128 reach 90% on generated sets of 4,000 vertices, of 64 they do not.
std::uint64_t default_batch(std::uint64_t share) {
  constexpr std::uint64_t kLeast = 8, kMost = learn::SampledOptions{}.batch, kBatches = 128;
  return std::min(share, std::clamp(share / kBatches, kLeast, kMost));
}

}  // namespace

void fit_to(const Session& session, const TrainInput& input, const TrainCommand& command,
            learn::TrainOptions& train) {
  if (!train.sampled) return;
  if (train.links) train.links->split = input.links;
  const std::uint64_t training =
      train.links ? input.links->training.size() : input.dataset.counts[0];
  const int ranks = session.team().ranks;
  const auto count = static_cast<std::uint64_t>(ranks);
  require(!command.batch || *command.batch <= training,
          fmt::format("--batch {}: there are {} training {}; a batch has that many at most",
                      command.batch.value_or(0), training, train.links ? "edges" : "vertices"));
  const std::uint64_t share = std::max<std::uint64_t>(1, (training + count - 1) / count);
  if (command.batch && *command.batch > share)
    log_warning(
        fmt::format("--batch {}: each of {} ranks has {} training {} at most; batches are "
                    "of that many",
                    *command.batch, ranks, share, train.links ? "edges" : "vertices"));
  train.sampled->batch =
      command.batch || train.links ? std::min(train.sampled->batch, share) : default_batch(share);
  const std::uint64_t memory = session.on_gpu() ? exec::Device::cuda(0).memory().total : 0;
  if (command.placement == "auto")
    train.sampled->features = learn::features_placement(memory, ranks, input.dataset, train.type);
  if (command.edges == "auto")
    train.sampled->replicate_edges =
        learn::edges_are_replicated(memory, ranks, *input.graphs.out, *train.sampled);
}

}  // namespace warren::app
